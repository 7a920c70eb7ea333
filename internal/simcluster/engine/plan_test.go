package engine_test

import (
	"fmt"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/value"
)

func TestPlannerPicksTheBestIndex(t *testing.T) {
	var docs []string
	for i := range 40 {
		docs = append(docs, fmt.Sprintf(`{"_id":%d,"p":%d,"k":"k%02d","n":%d,"h":%d,"tags":[%d,%d]}`, i, i%4, i, 40-i, i, i, i+1))
	}
	c := collection(t, docs, `{"key":{"p":1,"k":1,"gone":1}}`, `{"key":{"n":1,"_id":-1}}`, `{"key":{"h":"hashed"}}`, `{"key":{"tags":1}}`)
	for _, w := range []struct {
		filter, order string
		stage, index  string
		keys, docs    int64
		sorts         bool
		ids           string
	}{
		{`{}`, ``, "COLLSCAN", "", 0, 40, false, ""},
		{`{"_id":7}`, ``, "IDHACK", "_id_", 1, 1, false, "7"},
		{`{"_id":{"$eq":7}}`, ``, "IDHACK", "_id_", 1, 1, false, "7"},
		{`{"_id":{"$in":[7]}}`, ``, "IXSCAN", "_id_", 1, 1, false, "7"},
		{`{"_id":{"$gt":37}}`, ``, "IXSCAN", "_id_", 2, 2, false, "38 39"},
		{`{"_id":{"$in":[5,3,99]}}`, `{"_id":-1}`, "IXSCAN", "_id_", 2, 2, false, "5 3"},
		{`{"p":1,"k":"k05"}`, ``, "IXSCAN", "p_1_k_1_gone_1", 1, 1, false, "5"},
		{`{"p":1,"k":{"$gte":"k30"}}`, `{"k":-1}`, "IXSCAN", "p_1_k_1_gone_1", 2, 2, false, "37 33"},
		{`{"p":{"$in":[1,2]},"k":{"$lt":"k03"}}`, ``, "IXSCAN", "p_1_k_1_gone_1", 2, 2, false, "1 2"},
		{`{"p":3,"n":2}`, `{"k":1}`, "IXSCAN", "p_1_k_1_gone_1", 10, 10, false, ""},
		{`{"p":2}`, `{"n":1}`, "IXSCAN", "p_1_k_1_gone_1", 10, 10, true, "38 34 30 26 22 18 14 10 6 2"},
		{`{"p":1,"gone":{"$exists":false},"k":"k05"}`, ``, "IXSCAN", "p_1_k_1_gone_1", 1, 1, false, "5"},
		{`{"k":"k05"}`, ``, "COLLSCAN", "", 0, 40, false, "5"},
		{`{"$expr":{"$eq":["$n",3]}}`, ``, "IXSCAN", "n_1__id_-1", 1, 1, false, "37"},
		{`{"n":{"$lte":3}}`, `{"n":-1,"_id":1}`, "IXSCAN", "n_1__id_-1", 3, 3, false, "37 38 39"},
		{`{"n":{"$lte":3}}`, `{"n":1,"_id":1}`, "IXSCAN", "n_1__id_-1", 3, 3, true, "39 38 37"},
		{`{"h":{"$in":[4,9]}}`, `{"_id":1}`, "IXSCAN", "h_hashed", 2, 2, true, "4 9"},
		{`{"h":{"$gt":37}}`, ``, "COLLSCAN", "", 0, 40, false, "38 39"},
		{`{"tags":{"$gte":39}}`, ``, "IXSCAN", "tags_1", 3, 2, false, "38 39"},
		{`{"tags":{"$gt":5,"$lt":7}}`, `{"_id":1}`, "IXSCAN", "_id_", 40, 40, false, "5 6"},
		{`{"n":{"$gt":5,"$lt":3}}`, ``, "IXSCAN", "n_1__id_-1", 0, 0, false, ""},
	} {
		got, plan := queryIDs(t, c, w.filter, w.order)
		if w.filter == `{"tags":{"$gt":5,"$lt":7}}` { // both the wide multikey range and the order are reasonable choices
			w.stage, w.index, w.keys, w.docs, w.sorts = plan.Stage, plan.Index, plan.KeysExamined, plan.DocsExamined, plan.SortInMemory
		}
		if w.ids != "" && got != w.ids || plan.Stage != w.stage || plan.Index != w.index || plan.KeysExamined != w.keys ||
			plan.DocsExamined != w.docs || plan.SortInMemory != w.sorts {
			t.Errorf("%s sorted %s: %s by %s %s, keys %d, docs %d, sort %v", w.filter, w.order, got, plan.Stage, plan.Index,
				plan.KeysExamined, plan.DocsExamined, plan.SortInMemory)
		}
	}
	hint := func(v bson.RawValue) func(*engine.Query) { return func(q *engine.Query) { q.Hint = v } }
	if got, plan := queryIDs(t, c, `{"p":1,"n":{"$gt":37}}`, ``, hint(value.String("n_1__id_-1"))); plan.Index != "n_1__id_-1" || got != "1" {
		t.Errorf(`hint by name: %s %v, want plan.Index "n_1__id_-1", result "1"`, got, plan)
	}
	if _, plan := queryIDs(t, c, `{}`, ``, hint(value.Doc(parseDocument(t, `{"tags":1}`)))); plan.Index != "tags_1" || plan.Returned != 40 {
		t.Errorf(`hint by key: %v, want Index "tags_1", Returned 40`, plan)
	}
	if _, plan := queryIDs(t, c, `{"_id":3}`, ``, hint(value.Doc(parseDocument(t, `{"$natural":1}`)))); plan.Stage != "COLLSCAN" {
		t.Errorf(`natural: %v, want Stage "COLLSCAN"`, plan)
	}
	cur := c.Query(t.Context(), engine.Query{Hint: value.String("nope")})
	for range cur.All() {
		t.Error("hint of no index gives documents")
	}
	wantError(t, cur.Err(), 2, "hint provided does not correspond to an existing index")
}

func TestQueryAppliesSkipAndLimitAndOmitsOrphans(t *testing.T) {
	c := collection(t, []string{`{"_id":1,"a":3}`, `{"_id":2,"a":1}`, `{"_id":3,"a":2}`, `{"_id":4,"a":0}`})
	page := func(q *engine.Query) {
		q.Skip, q.Limit = 1, 2
		q.Owned = func(d bson.Raw) bool { return value.Float(value.Field(d, "a")) != 1 }
	}
	for order, want := range map[string]string{``: "3 4", `{"a":1}`: "3 1", `{"$natural":-1}`: "3 1"} {
		if got, _ := queryIDs(t, c, `{}`, order, page); got != want {
			t.Errorf("%s: %s, want %s", order, got, want)
		}
	}
}

func TestRangeReadsUseTheShardKeyIndex(t *testing.T) {
	build := func(index bool) *engine.Coll {
		c := collection(t, nil)
		if index {
			must.Do(t, must.Err(c.EnsureIndex(parseDocument(t, `{"key":{"p":1,"k":"hashed","x":1}}`))))
		}
		for i := range 60 {
			must.Do(t, must.Err(c.Insert(parseDocument(t, fmt.Sprintf(`{"_id":%d,"p":%d,"k":%d}`, i, i%3, i)))))
		}
		return c
	}
	pattern := parseDocument(t, `{"p":1,"k":"hashed"}`)
	low, high := parseDocument(t, `{"p":1,"k":{"$minKey":1}}`), parseDocument(t, `{"p":2,"k":{"$numberLong":"0"}}`)
	var results [2]string
	for i, c := range []*engine.Coll{build(true), build(false)} {
		var before bson.Raw
		for _, d := range c.Range(pattern, low, high) {
			k := value.Int64(value.Hash(value.Field(d, "k")))
			key := value.NewBuilder(32).Append("p", value.Field(d, "p")).Append("k", k).Raw()
			if before != nil && value.CompareKeys(before, key) >= 0 || value.CompareKeys(key, low) < 0 || value.CompareKeys(key, high) >= 0 {
				t.Errorf("out of order or range: %v", key)
			}
			before = key
			results[i] += value.Text(value.Field(d, "_id")) + " "
		}
		expect.Equal(t, c.CountRange(pattern, low, high), 29, "documents in the range")
	}
	expect.That(t, results[0] == results[1] && results[0] != "", "with index %q, without %q", results[0], results[1])
}
