package trying

import (
	"slices"
	"strconv"

	"shardboard/internal/api"
	"shardboard/internal/lab/keys"
	"shardboard/internal/message"
)

// Weak points of a shard key, the gravest first.
const (
	WeakUnique    = "uniqueIndex"   // rules out a unique index that the collection has
	WeakFrequent  = "frequentValue" // one value has more rows than a chunk holds
	WeakFew       = "fewValues"     // fewer values than shards
	WeakAscending = "ascending"     // nearly all new rows go to one shard
	WeakHot       = "hotInserts"    // many of them do
	WeakScatter   = "scatter"       // queries ask all shards
	WeakSpread    = "spread"        // rows that are asked for together are on several shards
	WeakIDs       = "duplicateIds"  // the same _id can be on several shards
)

// What counts as many inserts on one shard: nearly all, or this many times the even part.
const (
	nearlyAll = 0.9
	timesEven = 2
)

// weaknesses are the weak points of a key, the gravest first.
func weaknesses(r keys.Report, c *keys.Cluster, rows labRows) []api.LabKeyWeakness {
	out := []api.LabKeyWeakness{}
	add := func(code, pattern string, facts ...message.Fact) {
		out = append(out, api.LabKeyWeakness{Code: code, Text: message.New(code, pattern, facts...).String()})
	}
	for _, u := range r.Cost.Blockers {
		add(WeakUnique, "The unique index {index} cannot exist beside this key.", message.Text("index", fieldList(u.Fields)))
	}
	if least := int64(r.Common.Low * float64(rows.sample.Bytes())); r.Stuck > 0 || least > c.ChunkSize {
		add(WeakFrequent, "The most common value has {share} of all rows, {bytes}, more than a chunk of {chunk}: no split divides it.",
			message.Share("share", r.Common.Value), message.Bytes("bytes", max(r.Heaviest, least)), message.Bytes("chunk", c.ChunkSize))
	}
	if r.Values.High < float64(c.Shards) {
		add(WeakFew, "The key has {values} for {shards}.", message.Words("values", countOf(int64(r.Values.High), "value", "values")),
			message.Words("shards", countOf(int64(c.Shards), "shard", "shards")))
	}
	if rows.ordered && c.Shards > 1 && len(r.InsertParts) > 0 {
		switch {
		case r.Inserts >= nearlyAll:
			add(WeakAscending, "{share} of new rows go to one shard, because their keys lie together.", message.Share("share", r.Inserts))
		case r.Inserts > timesEven/float64(c.Shards):
			add(WeakHot, "{share} of new rows go to one of {shards}.", message.Share("share", r.Inserts),
				message.Words("shards", countOf(int64(c.Shards), "shard", "shards")))
		}
	}
	reaching := func(reach keys.Reach) (n int64, most float64, first string) {
		for _, one := range r.Queries {
			if one.Reach(r.Key) == reach {
				if n++; one.Shards > most {
					most, first = one.Shards, one.Name
				}
			}
		}
		return n, most, first
	}
	if n, _, first := reaching(keys.All); n > 0 && c.Shards > 1 {
		add(WeakScatter, "{n} of {of} kinds of queries ask all shards, such as: {query}.", message.Count("n", n),
			message.Count("of", int64(len(r.Queries))), message.Text("query", first))
	}
	if n, most, first := reaching(keys.Some); n > 0 && most >= 1.05 {
		add(WeakSpread, "Rows that are asked for together are spread: a query such as \"{query}\" asks {shards} of {of} on average.",
			message.Text("query", first), message.Text("shards", strconv.FormatFloat(most, 'f', 1, 64)),
			message.Words("of", countOf(int64(c.Shards), "shard", "shards")))
	}
	if names := r.Key.Fields(); !(len(names) == 1 && names[0].Name == "_id") {
		add(WeakIDs, "The same _id can exist on several shards, because each shard checks only its own rows; "+
			"a chunk cannot move to a shard that has one of its ids.")
	}
	// Queries of all projects are asked with every key, so they are no reason against one.
	if len(out) > 1 && out[0].Code == WeakScatter && mostlyTargeted(r) {
		out = append(slices.Clone(out[1:]), out[0])
	}
	return out
}

// mostlyTargeted tells whether most kinds of queries do not ask all shards.
func mostlyTargeted(r keys.Report) bool {
	all := 0
	for _, one := range r.Queries {
		if one.Reach(r.Key) == keys.All {
			all++
		}
	}
	return 2*all < len(r.Queries)
}
