package pipeline

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

func texts(stages []bson.Raw) string { return show(Of(stages...), nil) }

func TestSplitSendsToShardsWhatTheyCanDo(t *testing.T) {
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
		p := Split(list(t, c.stages))
		if got, want := texts(p.Shard), texts(list(t, c.shard)); got != want {
			t.Errorf("%s on shards\n got  %s\n want %s", c.stages, got, want)
		}
		if got, want := texts(p.Merge), texts(list(t, c.merge)); got != want {
			t.Errorf("%s on the router\n got  %s\n want %s", c.stages, got, want)
		}
		sorted := ""
		if p.SortedBy != nil {
			sorted = texts([]bson.Raw{p.SortedBy})
		}
		want := ""
		if c.sorted != "" {
			want = texts(list(t, c.sorted))
		}
		if sorted != want {
			t.Errorf("%s: sorted by %s, want %s", c.stages, sorted, want)
		}
	}
}

func TestSplitKnowsWhereSourcesRun(t *testing.T) {
	if p := Split(list(t, `[{'$currentOp': {}}, {'$limit': 1}]`)); !p.RouterOnly || len(p.Shard) != 0 || len(p.Merge) != 2 {
		t.Errorf("%+v", p)
	}
	if p := Split(list(t, `[{'$collStats': {}}, {'$project': {'shard': 1}}]`)); !p.PerShard || len(p.Shard) != 2 {
		t.Errorf("%+v", p)
	}
}

func TestCombineMergesSortedStreams(t *testing.T) {
	a := Of(list(t, `[{'k': 1, 's': 'a'}, {'k': 3, 's': 'a'}]`)...)
	b := Of(list(t, `[{'k': 1, 's': 'b'}, {'k': 2, 's': 'b'}]`)...)
	got := show(Interleave(list(t, `[{'k': 1}]`)[0], []Docs{a, b}))
	want := texts(list(t, `[{'k': 1, 's': 'a'}, {'k': 1, 's': 'b'}, {'k': 2, 's': 'b'}, {'k': 3, 's': 'a'}]`))
	if got != want {
		t.Errorf("got %s", got)
	}
}

func TestLeadingTakesWhatTheCollectionCanDo(t *testing.T) {
	l := Leading(list(t, `[{'$match': {'a': 1}}, {'$match': {'b': 2}}, {'$sort': {'c': -1}}, {'$skip': 4}, {'$limit': 5}, {'$limit': 2}]`))
	if texts([]bson.Raw{l.Filter, l.Sort}) != texts(list(t, `[{'$and': [{'a': 1}, {'b': 2}]}, {'c': -1}]`)) ||
		l.Skip != 4 || l.Limit != 5 || len(l.Rest) != 1 {
		t.Errorf("%+v", l)
	}
	l = Leading(list(t, `[{'$group': {'_id': 1}}]`))
	if l.Filter != nil || l.Sort != nil || len(l.Rest) != 1 {
		t.Errorf("%+v", l)
	}
}
