package data

import (
	"time"

	"net/url"
	"sort"

	"shardboard/internal/answer"
	"shardboard/internal/answer/param"
	"shardboard/internal/answer/writes"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// ChunkQuery is a part of a collection's chunks, as people read them: by numbered
// pages.
type ChunkQuery struct {
	chunkFilter
	Key  string  // that holds this key: id, number or Extended JSON
	Sort string  // by key, or largest first by bytes, documents, heat
	Pos  float64 // place in the picture, 0..1; negative for none
	Page int
}

// Parameters are those of the address of the page.
func (q *ChunkQuery) Parameters() param.List {
	q.Pos = -1
	return param.List{
		param.Text(&q.Text, "q", "only chunks with this in a bound"),
		param.Text(&q.Key, "key", "only the chunk that holds this key"),
		param.Text(&q.Shard, "shard", "on this shard"),
		param.Text(&q.Zone, "zone", "covered by this zone"),
		ticked(&q.Jumbo, "jumbo"), ticked(&q.Oversized, "oversized"),
		param.OneOf(&q.Sort, "sort", "the largest or hottest first, absent in key order", ByBytes, ByDocuments, ByHeat),
		param.Real(&q.Pos, "pos", 0, 1, "the page with the chunk at this place of the picture"),
		param.Page(&q.Page, "of 50 chunks, counted from 1"),
	}
}

// ticked is a checkbox: nil when it does not filter.
func ticked(to **bool, name string) param.Param {
	return param.Of(name, "1: only such", func(typed string) error {
		if on := typed == "1"; on {
			*to = &on
		}
		return nil
	})
}

// Filters tells whether chunks are left out.
func (q ChunkQuery) Filters() bool { return q.Key != "" || !q.takesAll() }

// URL leads to a page of the list.
func (q ChunkQuery) URL(ns topology.Namespace, page int) string {
	u := url.Values{}
	answer.SetParameter(u, "q", q.Text)
	answer.SetParameter(u, "key", q.Key)
	answer.SetParameter(u, "shard", q.Shard)
	answer.SetParameter(u, "zone", q.Zone)
	if q.Jumbo != nil {
		u.Set("jumbo", "1")
	}
	if q.Oversized != nil {
		u.Set("oversized", "1")
	}
	answer.SetParameter(u, "sort", q.Sort)
	return answer.Address(answer.CollectionURL(ns), u, page)
}

// SortedBy leads to the list in an order, and back to the key's from the one that
// it is in.
func (q ChunkQuery) SortedBy(by string, ns topology.Namespace) string {
	if q.Sort == by {
		by = ByKey
	}
	q.Sort = by
	return q.URL(ns, 1)
}

// ChunkPage is a numbered page of a collection's chunks: the rows of Chunks with how
// many there are, and, for a place in the picture, the page with the chunk there.
func ChunkPage(v answer.View, c *topology.Collection, q ChunkQuery) (api.ChunkList, error) {
	if q.Key != "" {
		if err := answer.MayNameKeys(v); err != nil {
			return api.ChunkList{}, err
		}
	}
	rows := NewChunkRows(v, c)
	out := api.ChunkList{Heated: rows.f.Heated}
	out.AsOf, out.Stale = answer.AsOf(v, topology.PartRouting)
	hits := positionsFound{to: c.Chunks.Len()}
	known := true
	if q.Key != "" {
		r, ok := answer.KeyPosition(c.Key, q.Key)
		if hits.from, hits.to = 0, 0; ok {
			hits.from, hits.to = c.Chunks.Overlap(r)
		} else {
			known = false
			out.Problem = "This is not a key of " + c.Key.String() + ": write an ObjectID, a number (for a hashed field: the " +
				"hash) or a document in Extended JSON."
		}
	}
	if known {
		var complete bool
		if hits, complete = q.find(rows, hits); !complete {
			out.Problem = "Only the first " + format.Count(textScan) + " chunks were searched for the text; narrow the search by shard or key."
		}
	}
	page, mark := q.Page, -1
	if q.Pos >= 0 && !q.Filters() && q.Sort == ByKey {
		at, _ := writes.Positions(c)
		mark = max(sort.Search(c.Chunks.Len(), func(i int) bool { return at(i) > q.Pos })-1, 0)
		if page <= 1 {
			page = mark/answer.PageRows + 1
		}
	}
	out.Of, out.Measured = hits.len(), rows.f.measured(hits)
	out.Note = chunkListNote(rows.f, hits, q, v.WritesWindow())
	var end int
	out.Page, out.First, end = answer.PageOf(out.Of, page)
	shown := rows.f.page(hits, q.Sort, out.First, end)
	if v.Sizes != nil {
		v.Sizes.Viewed(c, shown)
	}
	for _, i := range shown {
		row := rows.Row(i)
		row.Marked = i == mark
		out.Items = append(out.Items, row)
	}
	return out, nil
}

// chunkListNote says what an order or a filter is made of.
func chunkListNote(f *chunkFigures, hits positionsFound, q ChunkQuery, over time.Duration) message.Message {
	of := message.Count("of", hits.len())
	window := message.Duration("window", over)
	switch {
	case f.past:
		return message.New("chunks.now", "Chunk sizes are current: history does not record them.")
	case q.Sort == ByHeat && !f.Heated:
		return message.New("chunks.unheated", "No writes of this collection were counted in the last {window}.", window)
	case q.Sort == ByHeat:
		n := 0
		for i := range f.Writes {
			if hits.has(i) {
				n++
			}
		}
		return message.New("chunks.heated", "Chunks that took writes in the last {window}: {n} of {of}. Only counted writes are included.",
			message.Count("n", n), of, window)
	}
	n := f.measured(hits)
	pattern := "Chunks measured: {n} of {of}."
	if (q.Sort != ByKey || q.Oversized != nil) && n < hits.len() {
		pattern = "Chunks measured: {n} of {of}. The others have an estimate from their shard’s counts (“from " +
			"counts”), which is the same for all chunks of a shard."
	}
	return message.New("chunks.measured", pattern, message.Count("n", n), of)
}
