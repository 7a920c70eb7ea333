package heat

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/profile"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// Splitting is what a split of a hot chunk would achieve. Codes:
//
//	single    it has one shard key value and cannot be split
//	document  almost all writes are of one Yorkie document, which cannot be divided
//	project   almost all writes are of one project, and the key has no further field
//	divides   several values are written: a split divides the writes
//	projects  the same for several projects whose Yorkie documents are not counted
//	within    almost all writes are of one project, and the key has a further field
//	          that is not counted: a split within the project is possible
//	few       too few writes to decide
//	unknown   the writers are unknown
type Splitting struct {
	Can  bool
	Code string
	// Share is the share of the chunk's writes of the document or project, 0 to 1.
	Share        float64
	DocumentText string // the id of the document with most of them, as people write it
}

// dominantShare is the share from which on one value makes a chunk hot.
const dominantShare = 0.8

// enoughRows is how many rows a judgement needs.
const enoughRows = 10

// Splittings judges chunks, in their order, by their bounds, the key and who wrote to them in the
// window. It reads the window once for all.
func (w Window) Splittings(t *topology.Table, prof *profile.Profile, chunks []Line) []Splitting {
	c, of := t.Collection(w.NS), targetOf(t, prof, w.NS)
	out := make([]Splitting, len(chunks))
	writers := w.documentsOf(c, of, chunks)
	for i, l := range chunks {
		out[i] = w.splitting(c, of, l, writers[l.Chunk])
	}
	return out
}

func (w Window) splitting(c *topology.Collection, of target, l Line, writers map[bson.ObjectID]int64) Splitting {
	if c == nil || of.ns == "" || l.Chunk < 0 || l.Chunk >= c.Chunks.Len() {
		return Splitting{Code: "unknown"}
	}
	chunk := c.Chunks.At(l.Chunk)
	if c.Key.OneValue(shardkey.Range{Min: chunk.Min, Max: chunk.Max}) {
		return Splitting{Code: "single"}
	}
	first := c.Key.Fields()[0]
	if first.Name == of.project && !first.Hashed && c.Key.Len() == 1 && !l.Top.IsZero() &&
		l.TopShare >= dominantShare && l.Rate.Rows >= enoughRows {
		return Splitting{Can: true, Code: "project", Share: l.TopShare}
	}
	if l.Rate.Rows < enoughRows {
		return Splitting{Can: true, Code: "few"}
	}
	top, share := topProject(writers)
	switch {
	case top.IsZero() && c.Key.LeadsWith(of.project) && l.TopShare >= dominantShare:
		return Splitting{Can: true, Code: "within", Share: l.TopShare}
	case top.IsZero() && c.Key.LeadsWith(of.project) && l.Projects > 1:
		return Splitting{Can: true, Code: "projects", Share: l.TopShare}
	case top.IsZero():
		return Splitting{Can: true, Code: "unknown"}
	case share >= dominantShare:
		return Splitting{Can: true, Code: "document", Share: share, DocumentText: w.DocumentText(top)}
	}
	return Splitting{Can: true, Code: "divides", Share: share, DocumentText: w.DocumentText(top)}
}

// documentsOf returns the rows of Yorkie documents by chunk.
func (w Window) documentsOf(c *topology.Collection, of target, chunks []Line) map[int]map[bson.ObjectID]int64 {
	if c == nil || of.ns == "" {
		return nil
	}
	out := make(map[int]map[bson.ObjectID]int64, len(chunks))
	for _, l := range chunks {
		out[l.Chunk] = map[bson.ObjectID]int64{}
	}
	for _, s := range w.slots {
		for _, n := range s.Counts {
			if n.Document.IsZero() {
				continue
			}
			if i, ok := s.chunkPosition(c, of, n); ok && out[i] != nil {
				out[i][n.Document] += n.Rows * s.Every
			}
		}
	}
	return out
}
