package web

import (
	"slices"
	"strings"

	"shardboard/internal/format"
	"shardboard/internal/history"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// rangesShown is how many changes of one collection a page lists.
const rangesShown = 200

// compareView fills in what became different between two states.
func compareView(before, after View, m *templates.Compare) {
	c := history.Compare(before.Table, after.Table, after.Internal)
	m.Folded = foldedNote("collections", m.Address, c.Hidden, after.Internal)
	m.FromText, m.ToText = fullInstant(before.Past.At), fullInstant(after.Past.At)
	m.FromURL, m.ToURL = withAt("/", before.Past.At), withAt("/", after.Past.At)
	for _, v := range []View{before, after} {
		if !v.Past.Watched {
			notes := pastNotes(v.Past, "")
			notes[0].Title = words.T("compare.gap", "at", fullInstant(v.Past.At))
			m.Notes = append(m.Notes, notes...)
		}
	}
	r := refsOf(after.Table)
	shardRows(c, r, m)
	collectionRows(c, before.Table, after.Table, r, m)
	for _, z := range c.Zones.Added {
		m.Zones = append(m.Zones, zoneRow(after.Table, z, words.T("compare.zone.added")))
	}
	for _, z := range c.Zones.Removed {
		m.Zones = append(m.Zones, zoneRow(before.Table, z, words.T("compare.zone.removed")))
	}
	var moved, split, merged int
	for _, x := range c.Collections {
		moved, split, merged = moved+x.Moved, split+x.Split, merged+x.Merged
	}
	if len(c.Collections) == 0 && len(m.Zones) == 0 {
		m.Answer = words.T("compare.same")
		return
	}
	n := func(v int) string { return format.Count(int64(v)) }
	m.Answer = words.T("compare.answer", "moved", n(moved), "split", n(split), "merged", n(merged), "collections", words.Plural("compare.collections", int64(len(c.Collections)), "n", n(len(c.Collections))))
}

func shardRows(c history.Comparison, r refs, m *templates.Compare) {
	for _, s := range c.Shards {
		row := templates.CompareShard{Shard: r.of(s.Shard), Bytes: bytesFigure(s.BytesBefore), BytesAfter: bytesFigure(s.BytesAfter),
			Chunks: exact(s.ChunksBefore), ChunksAfter: exact(s.ChunksAfter), ChunksDelta: delta(int64(s.ChunksAfter-s.ChunksBefore), format.Count),
			BytesDelta: format.Unknown}
		if s.BytesBefore.Known && s.BytesAfter.Known {
			row.BytesDelta = delta(s.BytesAfter.Value-s.BytesBefore.Value, format.Bytes)
		}
		m.Shards = append(m.Shards, row)
	}
}

func delta(n int64, write func(int64) string) string {
	switch {
	case n > 0:
		return "+" + write(n)
	case n < 0:
		return write(n)
	}
	return "0"
}

func collectionRows(c history.Comparison, before, after *topology.Table, r refs, m *templates.Compare) {
	for _, x := range c.Collections {
		row := templates.CompareCollection{NS: string(x.NS), Moved: exact(x.Moved), Split: exact(x.Split), Merged: exact(x.Merged)}
		coll := after.Collection(x.NS)
		if coll != nil {
			row.URL = collectionURL(x.NS)
		}
		switch {
		case x.Created:
			row.What = words.T("compare.created")
		case x.Dropped:
			row.What = words.T("compare.dropped")
		case x.Reloaded:
			row.What = words.T("compare.reloaded")
		}
		if row.What != "" {
			none := templates.Figure{Text: format.Unknown, Title: row.What}
			row.Moved, row.Split, row.Merged = none, none, none
		}
		for _, ch := range x.Changes[:min(len(x.Changes), rangesShown)] {
			rng := templates.CompareRange{What: words.Code("history.kind", string(ch.Kind), nil)}
			if coll != nil {
				rng.Min, rng.Max = bound(coll.Key, ch.Min), bound(coll.Key, ch.Max)
			}
			if ch.Kind == topology.Moved {
				a, b := r.of(ch.From), r.of(ch.To)
				rng.From, rng.To = &a, &b
			}
			row.Ranges = append(row.Ranges, rng)
		}
		if more := len(x.Changes) - rangesShown; more > 0 {
			row.More = words.T("compare.more", "n", format.Count(int64(more)))
		}
		m.Collection = append(m.Collection, row)
	}
	slices.SortStableFunc(m.Collection, func(a, b templates.CompareCollection) int { return strings.Compare(a.NS, b.NS) })
}

func zoneRow(t *topology.Table, z topology.ZoneRange, what string) templates.CompareZone {
	return templates.CompareZone{Zone: z.Zone, NS: string(z.NS), What: what, Min: boundOf(t, string(z.NS), z.RawMin), Max: boundOf(t, string(z.NS), z.RawMax)}
}
