package pipeline

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

func describeStages(stages []bson.Raw) string { return describeDocuments(Of(stages...), nil) }

func TestSplitSendsStagesToShardsWherePossible(t *testing.T) {
	for _, c := range []struct{ stages, shard, merge, sorted string }{
		{`[{'$match': {'a': 1}}, {'$project': {'b': 1}}]`, `[{'$match': {'a': 1}}, {'$project': {'b': 1}}]`, `[]`, ``},
		{`[{'$match': {'a': 1}}, {'$sort': {'b': 1}}, {'$skip': 2}, {'$limit': 3}, {'$project': {'b': 1}}]`,
			`[{'$match': {'a': 1}}, {'$sort': {'b': 1}}, {'$limit': {'$numberLong': '5'}}]`,
			`[{'$skip': 2}, {'$limit': 3}, {'$project': {'b': 1}}]`, `[{'b': 1}]`},
		{`[{'$limit': 3}]`, `[{'$limit': {'$numberLong': '3'}}]`, `[{'$limit': 3}]`, ``},
		{`[{'$skip': 3}, {'$match': {'a': 1}}]`, `[]`, `[{'$skip': 3}, {'$match': {'a': 1}}]`, ``},
		{`[{'$group': {'_id': '$s', 'n': {'$sum': '$v'}}}, {'$sort': {'n': 1}}]`,
			`[{'$group': {'_id': '$s', 'n': {'$sum': '$v'}, '$willBeMerged': true}}]`,
			`[{'$group': {'_id': '$_id', 'n': {'$sum': '$n'}, '$doingMerge': true}}, {'$sort': {'n': 1}}]`, ``},
		{`[{'$lookup': {'from': 'x'}}, {'$match': {'a': 1}}]`, `[]`, `[{'$lookup': {'from': 'x'}}, {'$match': {'a': 1}}]`, ``},
	} {
		p := Split(docsFrom(t, c.stages))
		if got, want := describeStages(p.Shard), describeStages(docsFrom(t, c.shard)); got != want {
			t.Errorf("%s on shards\n got  %s\n want %s", c.stages, got, want)
		}
		if got, want := describeStages(p.Merge), describeStages(docsFrom(t, c.merge)); got != want {
			t.Errorf("%s on the router\n got  %s\n want %s", c.stages, got, want)
		}
		sorted := ""
		if p.SortedBy != nil {
			sorted = describeStages([]bson.Raw{p.SortedBy})
		}
		want := ""
		if c.sorted != "" {
			want = describeStages(docsFrom(t, c.sorted))
		}
		if sorted != want {
			t.Errorf("%s: sorted by %s, want %s", c.stages, sorted, want)
		}
	}
}

func TestSplitKnowsWhereSourcesRun(t *testing.T) {
	if p := Split(docsFrom(t, `[{'$currentOp': {}}, {'$limit': 1}]`)); !p.RouterOnly || len(p.Shard) != 0 || len(p.Merge) != 2 {
		t.Errorf("got %+v, want RouterOnly true, len(Shard) 0, len(Merge) 2", p)
	}
	if p := Split(docsFrom(t, `[{'$collStats': {}}, {'$project': {'shard': 1}}]`)); !p.PerShard || len(p.Shard) != 2 {
		t.Errorf("got %+v, want PerShard true, len(Shard) 2", p)
	}
}

func TestCombineMergesSortedStreams(t *testing.T) {
	a := Of(docsFrom(t, `[{'k': 1, 's': 'a'}, {'k': 3, 's': 'a'}]`)...)
	b := Of(docsFrom(t, `[{'k': 1, 's': 'b'}, {'k': 2, 's': 'b'}]`)...)
	got := describeDocuments(Interleave(docsFrom(t, `[{'k': 1}]`)[0], []Docs{a, b}))
	want := describeStages(docsFrom(t, `[{'k': 1, 's': 'a'}, {'k': 1, 's': 'b'}, {'k': 2, 's': 'b'}, {'k': 3, 's': 'a'}]`))
	if got != want {
		t.Errorf("got %s, want %v", got, want)
	}
}

func TestLeadingStagesAreGivenToTheCollection(t *testing.T) {
	l := Leading(docsFrom(t, `[{'$match': {'a': 1}}, {'$match': {'b': 2}}, {'$sort': {'c': -1}}, {'$skip': 4}, {'$limit': 5}, {'$limit': 2}]`))
	if describeStages([]bson.Raw{l.Filter, l.Sort}) != describeStages(docsFrom(t, `[{'$and': [{'a': 1}, {'b': 2}]}, {'c': -1}]`)) ||
		l.Skip != 4 || l.Limit != 5 || len(l.Rest) != 1 {
		t.Errorf("got %+v, want skip 4, limit 5 and one remaining stage", l)
	}
	l = Leading(docsFrom(t, `[{'$group': {'_id': 1}}]`))
	if l.Filter != nil || l.Sort != nil || len(l.Rest) != 1 {
		t.Errorf("got %+v, want Filter nil, Sort nil, len(Rest) 1", l)
	}
}
