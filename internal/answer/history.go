package answer

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/api"
	"shardboard/internal/history"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

func ItemOf(v View, i history.Item) api.HistoryItem {
	if v.Hidden.Texts {
		i.Reason = HideText(i.Reason)
	}
	out := api.HistoryItem{Time: i.At.UTC().Truncate(time.Millisecond), Kind: string(i.Kind), Source: "observed", NS: string(i.NS), Subject: i.Subject,
		From: i.From, To: i.To, Cause: whoDid(i.Cause), Failed: i.Failed}
	if i.Failed && i.Event != nil {
		out.FailureReason = failureReason(history.Reason{Text: i.Reason, From: i.ReasonFrom, Code: history.CodeOf(i.Reason)})
	}
	out.Min, out.Max = rangeEnd(v, i.Key, i.Min, i.RawMin), rangeEnd(v, i.Key, i.Max, i.RawMax)
	if i.Event != nil {
		e := eventOf(v, *i.Event)
		out.Source, out.Event = "changelog", &e
	}
	return out
}

// rangeEnd is a bound by its pattern, or as it was written.
func rangeEnd(v View, p shardkey.Pattern, k shardkey.Key, raw bson.Raw) api.Key {
	if !p.IsZero() && !k.IsZero() {
		return KeyOf(p.Hide(v.Table.Hiding()), k)
	}
	return v.document(raw)
}

func whoDid(c history.Cause) *api.Cause {
	if c.By == "" {
		return nil
	}
	return &api.Cause{By: string(c.By), Run: c.Run, Inferred: c.Inferred, Basis: c.Basis}
}

func GapsOf(list []history.Gap) []api.HistoryGap {
	out := []api.HistoryGap{}
	for _, g := range list {
		out = append(out, api.HistoryGap{From: g.From.UTC(), To: g.To.UTC()})
	}
	return out
}

// changesListed is how many changes of one collection an answer has.
const changesListed = 1000

func ComparisonOf(after View, c history.Comparison) api.Comparison {
	out := api.Comparison{Collections: []api.CollectionChange{}, Shards: []api.ShardChange{}, ZonesAdded: []api.ZoneChange{}, ZonesGone: []api.ZoneChange{}, Hidden: c.Hidden}
	for _, x := range c.Collections {
		row := api.CollectionChange{NS: string(x.NS), What: "changed", Moved: x.Moved, Split: x.Split, Merged: x.Merged, Changes: []api.RangeChange{}}
		switch {
		case x.Created:
			row.What = "created"
		case x.Dropped:
			row.What = "dropped"
		case x.Reloaded:
			row.What = "reloaded"
		}
		coll := after.Table.Collection(x.NS)
		for _, ch := range x.Changes[:min(len(x.Changes), changesListed)] {
			row.Changes = append(row.Changes, api.RangeChange{Kind: string(ch.Kind), Min: KeyOf(coll.Key, ch.Min), Max: KeyOf(coll.Key, ch.Max), From: ch.From, To: ch.To})
		}
		row.More = len(x.Changes) - len(row.Changes)
		out.Collections = append(out.Collections, row)
	}
	for _, x := range c.Shards {
		out.Shards = append(out.Shards, api.ShardChange{Shard: x.Shard, ChunksBefore: x.ChunksBefore, ChunksAfter: x.ChunksAfter,
			BytesBefore: FigureOf(x.BytesBefore), BytesAfter: FigureOf(x.BytesAfter)})
	}
	zones := func(list []topology.ZoneRange, into *[]api.ZoneChange) {
		for _, z := range list {
			*into = append(*into, api.ZoneChange{NS: string(z.NS), Zone: z.Zone, Min: after.document(z.RawMin), Max: after.document(z.RawMax)})
		}
	}
	zones(c.Zones.Added, &out.ZonesAdded)
	zones(c.Zones.Removed, &out.ZonesGone)
	return out
}

// compareSpan is what is compared when nobody said.
const CompareSpan = 24 * time.Hour
