package web

import (
	"slices"
	"strings"

	"shardboard/internal/format"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// collectionsView is the matrix of collections and shards.
func collectionsView(v View) templates.Collections {
	t := v.Table
	m := templates.Collections{Shards: shardRefs(t), State: partState(v, topology.PartRouting)}
	if m.State.Code == "stale" {
		m.State = templates.State{} // the header says so on every page
	}
	hidden, chunks := 0, 0
	for _, c := range t.Collections {
		switch {
		case !visible(c) && v.Internal:
			m.Internal = append(m.Internal, collectionRow(t, c, m.Shards))
		case !visible(c):
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
	slices.SortStableFunc(m.Unsharded, func(a, b templates.UnshardedRow) int { return strings.Compare(a.NS, b.NS) })
	if len(m.Rows) == 0 && m.State.Code == "" {
		m.State = templates.State{Code: "empty", Title: words.T("collections.none"), Detail: words.T("collections.none.detail")}
	}
	if len(m.Rows) > 0 {
		m.Summary = words.T("collections.summary", "n", format.Count(int64(len(m.Rows))), "chunks", format.Count(int64(chunks)),
			"shards", format.Count(int64(len(m.Shards))))
	}
	m.Folded = foldedNote("collections", switched("/collections", v.Internal), hidden, v.Internal)
	if v.Internal {
		m.LiveURL = switched("/collections", true)
	}
	if t.Unsharded == nil {
		m.Why = partState(v, topology.PartCollections)
	} else if len(m.Unsharded) == 0 {
		m.Why = templates.State{Code: "empty", Title: words.T("collections.unsharded.none")}
	}
	return m
}

func unshardedRow(t *topology.Table, ns topology.Namespace, shard string) templates.UnshardedRow {
	size := t.SizeOn(ns, shard)
	return templates.UnshardedRow{NS: string(ns), Shard: refsOf(t).of(shard), Bytes: bytesFigure(size.Bytes), Documents: countFigure(size.Documents)}
}

func collectionRow(t *topology.Table, c *topology.Collection, shards []templates.ShardRef) templates.CollectionRow {
	bytes, docs, _ := sizeOf(t, c.NS)
	row := templates.CollectionRow{
		NS: string(c.NS), DB: c.NS.Database(), Name: c.NS.Collection(), URL: collectionURL(c.NS), Key: c.Key.String(),
		Flags: collectionFlags(c), Chunks: exact(c.Chunks.Len()), Bytes: bytesFigure(bytes), Documents: countFigure(docs),
	}
	counts := c.Chunks.CountByShard()
	sizes := make([]topology.Figure, len(shards))
	for i, s := range shards {
		sizes[i] = t.SizeOn(c.NS, s.Name).Bytes
	}
	byBytes := cells(sizes, bytesFigure)
	for i, s := range shards {
		n := counts[s.Name]
		d := countFigure(t.SizeOn(c.NS, s.Name).Documents)
		cell := templates.MatrixCell{Shard: s, Bytes: byBytes[i].Figure, Documents: d, Bar: byBytes[i].Share, Share: byBytes[i].ShareText}
		cell.Empty = n == 0 && (!sizes[i].Known || sizes[i].Value == 0)
		if byBytes[i].Share < 0 { // sizes not known: the bar shows chunks
			cell.Bar = share(int64(n), int64(c.Chunks.Len()))
		}
		cell.Chunks = words.Plural("chunks", int64(n), "n", format.Count(int64(n)))
		if d.Known {
			cell.Chunks = words.T("matrix.sub", "docs", d.Text, "chunks", format.Count(int64(n)))
		}
		cell.Title = words.T("matrix.title", "ns", string(c.NS), "shard", s.Name, "share", format.Share(share(int64(n), int64(c.Chunks.Len()))))
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
