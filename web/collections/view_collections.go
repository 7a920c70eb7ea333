package collections

import (
	"fmt"
	"slices"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/topology"
	"shardboard/web/parts"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// collectionsView is the matrix of collections and shards.
func CollectionsView(v answer.View) Collections {
	t := v.Table
	m := Collections{Shards: parts.ShardRefs(t), State: parts.PartState(v, topology.PartRouting)}
	if m.State.Code == "stale" {
		m.State = templates.State{} // the header says so on every page
	}
	hidden, chunks := 0, 0
	for _, c := range t.Collections {
		switch {
		case !answer.Visible(c) && v.Internal:
			m.Internal = append(m.Internal, collectionRow(t, c, m.Shards))
		case !answer.Visible(c):
			hidden++
		case c.Unsplittable:
			m.Unsharded = append(m.Unsharded, unshardedRow(t, c.NS, c.Chunks.Owner(0)))
		default:
			chunks += c.Chunks.Len()
			m.Rows = append(m.Rows, collectionRow(t, c, m.Shards))
		}
	}
	for _, ns := range t.Unsharded {
		if topology.IsInternal(ns) && !v.Internal {
			hidden++
			continue
		}
		m.Unsharded = append(m.Unsharded, unshardedRow(t, ns, t.Primary(ns.Database())))
	}
	slices.SortStableFunc(m.Unsharded, func(a, b UnshardedRow) int { return strings.Compare(a.NS, b.NS) })
	if len(m.Rows) == 0 && m.State.Code == "" {
		m.State = templates.State{Code: "empty", Title: "No collection is sharded", Detail: "Once sh.shardCollection has run, the collection is here within a few seconds."}
	}
	if len(m.Rows) > 0 {
		m.Summary = fmt.Sprintf("%s sharded collections in %s chunks on %s shards. Cells: data, share of the collection, documents and chunks.", format.Count(int64(len(m.Rows))), format.Count(int64(chunks)), format.Count(int64(len(m.Shards))))
	}
	m.Folded = parts.FoldedNote("collections", answer.Switched("/collections", v.Internal), hidden, v.Internal)
	if v.Internal {
		m.LiveURL = answer.Switched("/collections", true)
	}
	if t.Unsharded == nil {
		m.Why = parts.PartState(v, topology.PartCollections)
	} else if len(m.Unsharded) == 0 {
		m.Why = templates.State{Code: "empty", Title: "Every collection is sharded"}
	}
	return m
}

func unshardedRow(t *topology.Table, ns topology.Namespace, shard string) UnshardedRow {
	size := t.SizeOn(ns, shard)
	return UnshardedRow{NS: string(ns), Shard: parts.RefsOf(t).Of(shard), Bytes: parts.BytesFigure(size.Bytes), Documents: parts.CountFigure(size.Documents)}
}

func collectionRow(t *topology.Table, c *topology.Collection, shards []templates.ShardRef) CollectionRow {
	bytes, docs, _ := answer.SizeOf(t, c.NS)
	row := CollectionRow{
		NS: string(c.NS), DB: c.NS.Database(), Name: c.NS.Collection(), URL: answer.CollectionURL(c.NS), Key: c.Key.String(),
		Flags: collectionFlags(c), Chunks: parts.Exact(c.Chunks.Len()), Bytes: parts.BytesFigure(bytes), Documents: parts.CountFigure(docs),
	}
	counts := c.Chunks.CountByShard()
	sizes := make([]api.Figure, len(shards))
	for i, s := range shards {
		sizes[i] = answer.FigureOf(t.SizeOn(c.NS, s.Name).Bytes)
	}
	byBytes := parts.Cells(sizes, parts.Bytes)
	for i, s := range shards {
		n := counts[s.Name]
		d := parts.CountFigure(t.SizeOn(c.NS, s.Name).Documents)
		cell := MatrixCell{Shard: s, Bytes: byBytes[i].Figure, Documents: d, Bar: byBytes[i].Share, Share: byBytes[i].ShareText}
		cell.Empty = n == 0 && (sizes[i].Value == nil || *sizes[i].Value == 0)
		if byBytes[i].Share < 0 { // sizes not known: the bar shows chunks
			cell.Bar = answer.Share(int64(n), int64(c.Chunks.Len()))
		}
		cell.Chunks = message.Plural(int64(n), format.Count(int64(n))+" chunk", format.Count(int64(n))+" chunks")
		if d.Known {
			cell.Chunks = fmt.Sprintf("%s docs, %s ch", d.Text, format.Count(int64(n)))
		}
		cell.Title = fmt.Sprintf("%s on %s: %s of its chunks", string(c.NS), s.Name, format.Share(answer.Share(int64(n), int64(c.Chunks.Len()))))
		row.Cells = append(row.Cells, cell)
	}
	return row
}

// collectionFlags are the remarks on a sharded collection.
func collectionFlags(c *topology.Collection) []templates.Flag {
	var out []templates.Flag
	add := func(on, warn bool, code string, args ...string) {
		if on {
			out = append(out, templates.Flag{Text: words.T("flag."+code, args...), Title: words.T("flag." + code + ".title"), Warn: warn})
		}
	}
	add(c.Unique, false, "unique")
	add(c.Chunks.Jumbo() > 0, true, "jumbo", "n", format.Count(int64(c.Chunks.Jumbo())))
	add(c.MigrationsBlocked, true, "blocked")
	add(c.NoBalance, false, "nobalance")
	add(c.Resharding, true, "resharding")
	return out
}
