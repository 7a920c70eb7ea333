package activity

import (
	"fmt"
	"slices"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/format"
	"shardboard/internal/history"
	"shardboard/internal/message"
	"shardboard/internal/topology"
	"shardboard/web/parts"
	"shardboard/web/site"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// compareView fills in what became different between two states.
func compareView(before, after answer.View, m *templates.Compare) {
	c := history.Compare(before.Table, after.Table, after.Internal)
	m.Folded = parts.FoldedNote("collections", m.Address, c.Hidden, after.Internal)
	m.FromText, m.ToText = answer.FullInstant(before.Past.At), answer.FullInstant(after.Past.At)
	m.FromURL, m.ToURL = answer.WithAt("/", before.Past.At), answer.WithAt("/", after.Past.At)
	for _, v := range []answer.View{before, after} {
		if !v.Past.Watched {
			notes := site.PastNotes(v.Past, "")
			notes[0].Title = "Nobody watched at " + answer.FullInstant(v.Past.At) + "."
			m.Notes = append(m.Notes, notes...)
		}
	}
	r := parts.RefsOf(after.Table)
	shardRows(c, r, m)
	collectionRows(c, before.Table, after.Table, r, m)
	for _, z := range c.Zones.Added {
		m.Zones = append(m.Zones, zoneRow(after.Table, z, "added"))
	}
	for _, z := range c.Zones.Removed {
		m.Zones = append(m.Zones, zoneRow(before.Table, z, "removed"))
	}
	var moved, split, merged int
	for _, x := range c.Collections {
		moved, split, merged = moved+x.Moved, split+x.Split, merged+x.Merged
	}
	if len(c.Collections) == 0 && len(m.Zones) == 0 {
		m.Answer = "No chunk and no zone is different."
		return
	}
	n := func(v int) string { return format.Count(int64(v)) }
	m.Answer = fmt.Sprintf("%s moved, %s split, %s merged in %s.", n(moved), n(split), n(merged), message.Plural(int64(len(c.Collections)), "1 collection", n(len(c.Collections))+" collections"))
}

func shardRows(c history.Comparison, r parts.Refs, m *templates.Compare) {
	for _, s := range c.Shards {
		row := templates.CompareShard{Shard: r.Of(s.Shard), Bytes: parts.BytesFigure(s.BytesBefore), BytesAfter: parts.BytesFigure(s.BytesAfter),
			Chunks: parts.Exact(s.ChunksBefore), ChunksAfter: parts.Exact(s.ChunksAfter), ChunksDelta: answer.Delta(int64(s.ChunksAfter-s.ChunksBefore), format.Count),
			BytesDelta: format.Unknown}
		if s.BytesBefore.Known && s.BytesAfter.Known {
			row.BytesDelta = answer.Delta(s.BytesAfter.Value-s.BytesBefore.Value, format.Bytes)
		}
		m.Shards = append(m.Shards, row)
	}
}

func collectionRows(c history.Comparison, before, after *topology.Table, r parts.Refs, m *templates.Compare) {
	for _, x := range c.Collections {
		row := templates.CompareCollection{NS: string(x.NS), Moved: parts.Exact(x.Moved), Split: parts.Exact(x.Split), Merged: parts.Exact(x.Merged)}
		coll := after.Collection(x.NS)
		if coll != nil {
			row.URL = answer.CollectionURL(x.NS)
		}
		switch {
		case x.Created:
			row.What = "created"
		case x.Dropped:
			row.What = "dropped"
		case x.Reloaded:
			row.What = "made anew: dropped and created, resharded, or its key refined"
		}
		if row.What != "" {
			none := templates.Figure{Text: format.Unknown, Title: row.What}
			row.Moved, row.Split, row.Merged = none, none, none
		}
		for _, ch := range x.Changes[:min(len(x.Changes), answer.RangesShown)] {
			rng := templates.CompareRange{What: words.Code("history.kind", string(ch.Kind), nil)}
			if coll != nil {
				rng.Min, rng.Max = parts.Bound(coll.Key, ch.Min), parts.Bound(coll.Key, ch.Max)
			}
			if ch.Kind == topology.Moved {
				a, b := r.Of(ch.From), r.Of(ch.To)
				rng.From, rng.To = &a, &b
			}
			row.Ranges = append(row.Ranges, rng)
		}
		if more := len(x.Changes) - answer.RangesShown; more > 0 {
			row.More = format.Count(int64(more)) + " more are not listed."
		}
		m.Collection = append(m.Collection, row)
	}
	slices.SortStableFunc(m.Collection, func(a, b templates.CompareCollection) int { return strings.Compare(a.NS, b.NS) })
}

func zoneRow(t *topology.Table, z topology.ZoneRange, what string) templates.CompareZone {
	return templates.CompareZone{Zone: z.Zone, NS: string(z.NS), What: what, Min: parts.BoundOf(t, string(z.NS), z.RawMin), Max: parts.BoundOf(t, string(z.NS), z.RawMax)}
}
