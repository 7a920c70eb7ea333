package data

import (
	"fmt"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/answer/logbook"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/history"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// CompareSpan is the time that is compared unless a begin is given.
const CompareSpan = 24 * time.Hour

// changesListed is how many changes of one collection an answer has.
const changesListed = 1000

// Comparison is the difference between two states, the older first. gaps are the
// spans between them without recording.
func Comparison(before, after answer.View, internal bool, gaps []history.Gap) api.Comparison {
	c := history.Compare(before.Table, after.Table, internal)
	out := api.Comparison{From: before.Past.At, To: after.Past.At, Collections: []api.CollectionChange{}, Shards: []api.ShardChange{},
		ZonesAdded: zoneChanges(after, c.Zones.Added), ZonesGone: zoneChanges(before, c.Zones.Removed),
		Gaps: logbook.HistoryGaps(gaps), Hidden: c.Hidden}
	for _, x := range c.Collections {
		out.Collections = append(out.Collections, collectionChange(after, x))
	}
	for _, x := range c.Shards {
		row := api.ShardChange{Shard: x.Shard, ChunksBefore: x.ChunksBefore,
			ChunksAfter: x.ChunksAfter,
			BytesBefore: answer.FigureOf(x.BytesBefore), BytesAfter: answer.FigureOf(x.BytesAfter),
			ChunksMore: int64(x.ChunksAfter - x.ChunksBefore)}
		if x.BytesBefore.Known && x.BytesAfter.Known {
			more := x.BytesAfter.Value - x.BytesBefore.Value
			row.BytesMore = &more
		}
		out.Shards = append(out.Shards, row)
	}
	out.Summary = comparisonSummary(out)
	return out
}

func comparisonSummary(c api.Comparison) string {
	if len(c.Collections) == 0 && len(c.ZonesAdded) == 0 && len(c.ZonesGone) == 0 {
		return "No chunk or zone range differs."
	}
	var moved, split, merged int
	for _, x := range c.Collections {
		moved, split, merged = moved+x.Moved, split+x.Split, merged+x.Merged
	}
	n := func(v int) string { return format.Count(int64(v)) }
	return fmt.Sprintf("%s moved, %s split, %s merged in %s.", n(moved), n(split), n(merged),
		message.Plural(len(c.Collections), "1 collection", n(len(c.Collections))+" collections"))
}

func collectionChange(after answer.View, x history.CollectionChange) api.CollectionChange {
	out := api.CollectionChange{
		NS: string(x.NS), What: "changed", Moved: x.Moved, Split: x.Split, Merged: x.Merged, Changes: []api.RangeChange{},
	}
	switch {
	case x.Created:
		out.What, out.Label = "created", "created"
	case x.Dropped:
		out.What, out.Label = "dropped", "dropped"
	case x.Reloaded:
		out.What, out.Label = "reloaded", "replaced: dropped and created again, resharded, or its shard key refined"
	}
	coll := after.Table.Collection(x.NS)
	if coll == nil {
		return out // dropped: nothing is known of its ranges
	}
	out.URL = answer.CollectionURL(x.NS)
	names := after.KeyProjects(coll)
	for _, ch := range x.Changes[:min(len(x.Changes), changesListed)] {
		from, until := names.Of(ch.Min, ch.Max)
		out.Changes = append(out.Changes, api.RangeChange{Kind: string(ch.Kind), From: ch.From, To: ch.To,
			Min: answer.KeyOf(coll.Key, ch.Min), Max: answer.KeyOf(coll.Key, ch.Max), KeyProject: from,
			Range: api.RangeShown{Min: answer.BoundText(coll.Key, ch.Min), Max: answer.BoundText(coll.Key, ch.Max), From: from, Until: until}})
	}
	out.More = len(x.Changes) - len(out.Changes)
	return out
}

func zoneChanges(v answer.View, list []topology.ZoneRange) []api.ZoneChange {
	return answer.Map(list, func(z topology.ZoneRange) api.ZoneChange {
		from, until := v.ProjectsOfRange(z.NS, z.RawMin, z.RawMax)
		return api.ZoneChange{NS: string(z.NS), Zone: z.Zone, Min: v.DocumentOf(z.RawMin), Max: v.DocumentOf(z.RawMax),
			KeyProject: from, Shown: v.ZoneName(z.Zone),
			Range: api.RangeShown{Min: answer.BoundDocumentText(v.Table, z.NS, z.RawMin), Max: answer.BoundDocumentText(v.Table, z.NS, z.RawMax),
				From: from, Until: until}}
	})
}
