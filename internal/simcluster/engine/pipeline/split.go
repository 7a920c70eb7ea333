package pipeline

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/query"
	"shardboard/internal/simcluster/engine/value"
)

// Parts is a pipeline split for a router.
type Parts struct {
	// RouterOnly says that no shard takes part: the pipeline begins with
	// $currentOp, $documents or $shardedDataDistribution. Everything is then in Merge.
	RouterOnly bool
	// PerShard says that the first stage is $collStats or $indexStats: every
	// shard that owns chunks runs it.
	PerShard bool

	Shard []bson.Raw // runs on every targeted shard over its own documents
	Merge []bson.Raw // runs on the router over the shards' output
	// SortedBy is not nil when every shard's output is sorted by this pattern and Merge expects all of it in that order.
	// Combine does it.
	SortedBy bson.Raw
}

// Split splits a pipeline at the first stage that combines documents of different
// shards.
//
// Stages that look at one document each run on the shards. At the first stage that does
// not, the cut: $limit runs on both sides, $skip on the router with the shards cut off
// at skip + limit, $sort on the shards with the streams merged, $group twice (the
// shards send partial states). All other stages that combine documents ($lookup,
// $sample, …) run on the router only.
//
// Split does not validate: Compile the original first. Compile accepts both
// parts.
func Split(stages []bson.Raw) Parts {
	switch First(stages) {
	case "$currentOp", "$documents", "$shardedDataDistribution", "$listClusterCatalog":
		return Parts{RouterOnly: true, Merge: stages}
	}
	p := Parts{}
	switch First(stages) {
	case "$collStats", "$indexStats":
		p.PerShard = true
	}
	rest := plain(stages)
	for len(rest) > 0 && streams(rest[0]) {
		p.Shard, rest = append(p.Shard, rest[0]), rest[1:]
	}
	if len(rest) == 0 {
		return p
	}
	name, arg := value.First(rest[0])
	switch name {
	case "$sort":
		p.Shard, p.SortedBy = append(p.Shard, rest[0]), arg.Value
		rest = rest[1:]
		p.Shard = append(p.Shard, cutoff(rest)...)
	case "$limit", "$skip":
		p.Shard = append(p.Shard, cutoff(rest)...)
	case "$group":
		if partial, merging, ok := splitGroup(arg.Value); ok {
			p.Shard = append(p.Shard, partial)
			rest = append([]bson.Raw{merging}, rest[1:]...)
		}
	}
	p.Merge = rest
	return p
}

// First is the name of the first stage, "" for an empty pipeline.
func First(stages []bson.Raw) string {
	if len(stages) == 0 {
		return ""
	}
	name, _ := value.First(stages[0])
	return name
}

// plain replaces $count by equivalent stages.
func plain(stages []bson.Raw) []bson.Raw {
	var out []bson.Raw
	for _, s := range stages {
		if name, arg := value.First(s); name == "$count" {
			if more, err := rewriteCount(arg); err == nil {
				out = append(out, more...)
				continue
			}
		}
		out = append(out, s)
	}
	return out
}

// streams reports whether a stage handles each document independently.
func streams(s bson.Raw) bool {
	switch name, _ := value.First(s); name {
	case "$match", "$project", "$addFields", "$set", "$unset", "$unwind", "$collStats", "$indexStats":
		return true
	}
	return false
}

// cutoff is the $limit that shards may apply when the router goes on with
// these stages: a shard never needs to send more than skip + limit documents.
func cutoff(rest []bson.Raw) []bson.Raw {
	skipped := int64(0)
	for _, s := range rest {
		name, arg := value.First(s)
		if name != "$skip" && name != "$limit" {
			return nil
		}
		n, err := count(name, arg)
		if err != nil || skipped+n < 0 {
			return nil
		}
		if skipped += n; name == "$limit" {
			return []bson.Raw{stageOf("$limit", value.Int64(skipped))}
		}
	}
	return nil
}

// splitGroup makes the part of a $group for the shards and the part for the router.
func splitGroup(spec bson.Raw) (partial, merging bson.Raw, ok bool) {
	shard, router := value.NewBuilder(len(spec)), value.NewBuilder(len(spec))
	for name, v := range value.Elements(spec) {
		shard.Append(name, v)
		if name == "_id" {
			router.Append(name, mergedID(v))
			continue
		}
		if v.Type != bson.TypeEmbeddedDocument || dollar(name) || strings.Contains(name, ".") {
			return nil, nil, false
		}
		op, _ := value.First(v.Value)
		if op == "$count" {
			op = "$sum" // of the shards' counts
		}
		router.Append(name, doc(op, value.String("$"+name)))
	}
	shard.Append(markPartial, value.Bool(true))
	router.Append(markMerging, value.Bool(true))
	return stageOf("$group", value.Doc(shard.Raw())), stageOf("$group", value.Doc(router.Raw())), true
}

// mergedID reads the shards' _id. One that is a document of expressions is
// taken apart again, which keeps missing fields apart from null ones.
func mergedID(v bson.RawValue) bson.RawValue {
	if v.Type == bson.TypeEmbeddedDocument && value.Len(v.Value) > 0 {
		if first, _ := value.First(v.Value); !dollar(first) {
			b := value.NewBuilder(64)
			for name := range value.Elements(v.Value) {
				b.Append(name, value.String("$_id."+name))
			}
			return value.Doc(b.Raw())
		}
	}
	return value.String("$_id")
}

// Lead is the beginning of a pipeline as a query, so that the caller can target shards
// and use indexes.
type Lead struct {
	Filter bson.Raw // all leading $match together; nil = everything
	Sort   bson.Raw // the $sort after them; nil = none
	Skip   int64    // the $skip after that
	Limit  int64    // and the $limit; 0 = none
	Rest   []bson.Raw
}

// Leading splits the leading $match stages, a $sort, a $skip and a $limit off a
// pipeline. Running Rest over the result of a find with Filter, Sort, Skip and Limit is
// equivalent to the whole pipeline.
func Leading(stages []bson.Raw) Lead {
	l := Lead{}
	l.Filter, l.Rest = LeadingMatch(stages)
	if First(l.Rest) == "$sort" {
		if _, arg := value.First(l.Rest[0]); arg.Type == bson.TypeEmbeddedDocument {
			l.Sort, l.Rest = arg.Value, l.Rest[1:]
		}
	}
	take := func(name string) (n int64) {
		if First(l.Rest) == name {
			_, arg := value.First(l.Rest[0])
			if given, err := count(name, arg); err == nil {
				n, l.Rest = given, l.Rest[1:]
			}
		}
		return n
	}
	l.Skip = take("$skip")
	l.Limit = take("$limit")
	return l
}

// LeadingMatch is the filter of the leading $match stages and what follows.
func LeadingMatch(stages []bson.Raw) (filter bson.Raw, rest []bson.Raw) {
	var filters []bson.RawValue
	for len(stages) > 0 {
		name, arg := value.First(stages[0])
		if name != "$match" || arg.Type != bson.TypeEmbeddedDocument {
			break
		}
		filters, stages = append(filters, arg), stages[1:]
	}
	switch len(filters) {
	case 0:
		return nil, stages
	case 1:
		return filters[0].Value, stages
	}
	return doc("$and", value.Array(filters...)).Value, stages
}

// Combine runs Merge on the router over the combined outputs of the shards. A
// RouterOnly pipeline has no streams.
func (p Parts) Combine(shards []Docs, env *Env) (Docs, error) {
	merge, err := Compile(p.Merge, env)
	if err != nil {
		return nil, err
	}
	in := concat(shards...)
	if p.SortedBy != nil && len(shards) > 1 {
		order, err := query.ParseSort(p.SortedBy)
		if err != nil {
			return nil, err
		}
		in = sorted(order)(in)
	}
	return merge.Run(in), nil
}
