package heat

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

// Splitting tells what a cut through a hot chunk would do. Codes:
//
//	single    it holds one value of the shard key and cannot be cut
//	document  almost all writes are one Yorkie document's, which has one place
//	project   almost all writes are one project's, and the key has no further field
//	divides   writes are of several values: a cut divides them
//	projects  the same, of several projects; their Yorkie documents are not counted
//	within    almost all are one project's, and the key has a further field by which
//	          they are not counted: a cut within the project is possible
//	few       too little was written to tell
//	unknown   what is written to it cannot be told
type Splitting struct {
	Can  bool
	Code string
	// Share is of the chunk's writes, 0 to 1: what the document or project takes.
	Share    float64
	Document bson.ObjectID
}

// alone is from which part on one value is what makes a chunk hot.
const alone = 0.8

// enough is how many rows have to be seen for a judgement.
const enough = 10

// Splittings judges chunks, in their order, each by its bounds, the key and who wrote
// to it in the window, which is gone through once for all.
func (w Window) Splittings(t *topology.Table, prof *profile.Profile, chunks []Line) []Splitting {
	c, of := t.Collection(w.NS), targetOf(t, prof, w.NS)
	out := make([]Splitting, len(chunks))
	writers := w.documentsOf(c, of, chunks)
	for i, l := range chunks {
		out[i] = splitting(c, of, l, writers[l.Chunk])
	}
	return out
}

func splitting(c *topology.Collection, of target, l Line, writers map[bson.ObjectID]int64) Splitting {
	if c == nil || of.ns == "" || l.Chunk < 0 || l.Chunk >= c.Chunks.Len() {
		return Splitting{Code: "unknown"}
	}
	chunk := c.Chunks.At(l.Chunk)
	if lo, ok := chunk.Min.HashFloor(); ok && c.Key.Len() == 1 && c.Key.Fields()[0].Hashed {
		if hi, ok := chunk.Max.HashFloor(); ok && hi == lo+1 {
			return Splitting{Code: "single"}
		}
	}
	first := c.Key.Fields()[0]
	if first.Name == of.project && !first.Hashed && c.Key.Len() == 1 {
		if r, err := c.Key.PrefixRange(placement.ObjectIDValue(l.Top)); err == nil && !l.Top.IsZero() {
			next, err := c.Key.KeyOf(placement.ObjectIDValue(following(l.Top)))
			if r.Min.Compare(chunk.Min) <= 0 && (chunk.Max.Compare(r.Max) <= 0 || err == nil && chunk.Max.Compare(next) <= 0) {
				return Splitting{Code: "single"}
			}
			if l.TopShare >= alone && l.Rate.Rows >= enough {
				return Splitting{Can: true, Code: "project", Share: l.TopShare}
			}
		}
	}
	if l.Rate.Rows < enough {
		return Splitting{Can: true, Code: "few"}
	}
	top, share := busiest(writers)
	switch {
	case top.IsZero() && c.Key.LeadsWith(of.project) && l.TopShare >= alone:
		return Splitting{Can: true, Code: "within", Share: l.TopShare}
	case top.IsZero() && c.Key.LeadsWith(of.project) && l.Projects > 1:
		return Splitting{Can: true, Code: "projects", Share: l.TopShare}
	case top.IsZero():
		return Splitting{Can: true, Code: "unknown"}
	case share >= alone:
		return Splitting{Can: true, Code: "document", Share: share, Document: top}
	}
	return Splitting{Can: true, Code: "divides", Share: share, Document: top}
}

// following is the next ObjectID; no other value lies between.
func following(id bson.ObjectID) bson.ObjectID {
	for i := len(id) - 1; i >= 0; i-- {
		if id[i]++; id[i] != 0 {
			break
		}
	}
	return id
}

// documentsOf are the rows of Yorkie documents by the chunk that they are in.
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
			if i, ok := position(c, of, n.Project, n.Document); ok && out[i] != nil {
				out[i][n.Document] += n.Rows * s.Every
			}
		}
	}
	return out
}
