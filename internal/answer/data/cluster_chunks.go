package data

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/answer/param"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/natural"
	"shardboard/internal/placement"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// ClusterChunksQuery is a part of the chunks of all collections.
type ClusterChunksQuery struct {
	chunkListQuery
	db, project string
	internal    bool
}

// Parameters are those of the address of the list.
func (q *ClusterChunksQuery) Parameters() param.List {
	return append(q.parameters(),
		param.Text(&q.db, "db", "one database only"),
		param.Text(&q.project, "project", "only chunks that hold rows of this project: its id; of collections whose key begins with the project"),
		answer.ShowInternal(&q.internal))
}

// ClusterChunks lists the chunks of all collections, or of one database or project, by collection and in
// key order. A page looks at no more chunks than it needs, so a list of a million can be read page by page.
func ClusterChunks(v answer.View, q ClusterChunksQuery) (api.ClusterChunks, error) {
	out := api.ClusterChunks{Items: []api.CollectionChunk{}}
	if err := q.findNames(v.Table); err != nil {
		return out, err
	}
	begin, within, err := q.place()
	if err != nil {
		return out, err
	}
	spans, byDocument, err := q.spans(v)
	if err != nil {
		return out, err
	}
	out.ByDocument = byDocument
	for _, span := range spans {
		switch {
		case !q.internal && !answer.Visible(span.c):
			hits, _ := q.find(NewChunkRows(v, span.c), span.positionsFound)
			out.Hidden += hits.len()
			continue
		case out.Next != "" || natural.Compare(string(span.c.NS), begin) < 0:
			continue
		case string(span.c.NS) == begin && within != "":
			from, err := cursorPosition(v, span.c, within)
			if err != nil {
				return out, err
			}
			span.from = max(span.from, from)
		}
		out.Next = q.pageOf(NewChunkRows(v, span.c), span.positionsFound, &out.Items)
	}
	out.AsOf, out.Stale = answer.AsOf(v, topology.PartRouting)
	return out, nil
}

// pageOf adds chunks of one collection until the page is full. next is the cursor of the chunk that begins
// the next page; "" if there is room left.
func (q chunkListQuery) pageOf(rows chunkRows, span positionsFound, items *[]api.CollectionChunk) (next api.Cursor) {
	for i, owner := range span.each(rows.c) {
		if !q.takes(rows, i, owner) {
			continue
		}
		if len(*items) == q.limit {
			return answer.CursorOf(string(rows.c.NS) + "\x00" + string(nextChunk(rows.v, rows.c, i)))
		}
		*items = append(*items, api.CollectionChunk{NS: string(rows.c.NS), Chunk: rows.Row(i)})
	}
	return ""
}

// place is the collection at which a page begins, and the cursor within its chunks.
func (q ClusterChunksQuery) place() (ns, within string, err error) {
	if q.cursor == "" {
		return "", "", nil
	}
	key, err := param.CursorKey(q.cursor)
	if err != nil {
		return "", "", err
	}
	ns, within, ok := strings.Cut(key, "\x00")
	if !ok || ns == "" {
		return "", "", fault.New(fault.Invalid, "This cursor is not from this list.")
	}
	return ns, within, nil
}

// chunksAmong are chunks of one collection.
type chunksAmong struct {
	c *topology.Collection
	positionsFound
}

// spans are the chunks of the collections that db= and project= choose, by the collections' names.
func (q ClusterChunksQuery) spans(v answer.View) (spans []chunksAmong, byDocument []string, err error) {
	if q.project != "" {
		return projectSpans(v, q.db, q.project)
	}
	for _, c := range v.Table.Collections {
		if c.Chunks.Len() > 0 && !c.Unsplittable && (q.db == "" || c.NS.Database() == q.db) {
			spans = append(spans, chunksAmong{c, positionsFound{to: c.Chunks.Len()}})
		}
	}
	slices.SortFunc(spans, func(a, b chunksAmong) int { return natural.Compare(string(a.c.NS), string(b.c.NS)) })
	return spans, nil, nil
}

// projectSpans are the chunks that hold a project's rows, of the collections whose shard key begins with
// the project.
func projectSpans(v answer.View, db, text string) (spans []chunksAmong, byDocument []string, err error) {
	id, err := bson.ObjectIDFromHex(text)
	if err != nil {
		return nil, nil, fault.New(fault.Invalid, "project must be a project's id, 24 hexadecimal digits, not %q.",
			sanitize.Truncate(text, 60))
	}
	if v.Profile == nil {
		return nil, nil, fault.New(fault.NotFound, "No profile says what a project is.")
	}
	p, err := answer.FindProject(v, db, id)
	if err != nil {
		return nil, nil, err
	}
	for _, part := range placement.SpreadOf(v.Table, v.Profile, p).Collections {
		c := v.Table.Collection(part.NS)
		switch {
		case c == nil:
		case part.AnyProject():
			byDocument = append(byDocument, string(part.NS))
		case part.Basis == placement.BasisKeyPrefix:
			if r, err := c.Key.PrefixRange(p.IDValue()); err == nil { // an id is always a legal key value
				from, to := c.Chunks.Overlap(r)
				spans = append(spans, chunksAmong{c, positionsFound{from: from, to: to}})
			}
		}
	}
	slices.SortFunc(spans, func(a, b chunksAmong) int { return natural.Compare(string(a.c.NS), string(b.c.NS)) })
	return spans, byDocument, nil
}
