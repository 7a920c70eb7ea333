package query_test

import (
	"bytes"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster/engine/query"
)

func TestProjectionIncludesExcludesAndComputesFields(t *testing.T) {
	const doc = `{"_id":1,"a":{"b":1,"c":2},"d":[{"x":1,"y":1},{"x":2,"y":2},7],"e":5}`
	for _, c := range []struct{ projection, want string }{
		{`{"a":1}`, `{"_id":1,"a":{"b":1,"c":2}}`},
		{`{"a.b":1,"_id":0}`, `{"a":{"b":1}}`},
		{`{"a":{"b":true}}`, `{"_id":1,"a":{"b":1}}`},
		{`{"a":0,"d":0}`, `{"_id":1,"e":5}`},
		{`{"_id":0}`, `{"a":{"b":1,"c":2},"d":[{"x":1,"y":1},{"x":2,"y":2},7],"e":5}`},
		{`{"_id":1}`, `{"_id":1}`},
		{`{"d.x":1}`, `{"_id":1,"d":[{"x":1},{"x":2}]}`},
		{`{"d.x":0,"a":0}`, `{"_id":1,"d":[{"y":1},{"y":2},7],"e":5}`},
		{`{"n":{"$add":["$e",1]},"e":1}`, `{"_id":1,"e":5,"n":6}`},
		{`{"n":"$a.c"}`, `{"_id":1,"n":2}`},
		{`{}`, doc},
	} {
		p, err := query.ParseProjection(parseDocument(t, c.projection), nil)
		if err != nil {
			t.Errorf("%s: %v", c.projection, err)
			continue
		}
		got, err := p.Apply(parseDocument(t, doc))
		if err != nil || string(got) != string(parseDocument(t, c.want)) {
			t.Errorf("%s = %v (%v), want %s", c.projection, got, err, c.want)
		}
	}
	for projection, code := range map[string]int32{
		`{"a":1,"b":0}`: 31254, `{"a":0,"b":1}`: 31253, `{"a":1,"a.b":1}`: 31249, `{"a.b":1,"a":1}`: 31250,
	} {
		_, err := query.ParseProjection(parseDocument(t, projection), nil)
		wantCode(t, projection, err, code, "")
	}
}

func TestSortOrdersDocuments(t *testing.T) {
	for _, c := range []struct {
		pattern string
		want    []string
	}{
		{`{"a":1,"b":-1}`, []string{`{"b":1}`, `{"a":null}`, `{"a":1,"b":2}`, `{"a":1,"b":1}`, `{"a":"x"}`}},
		{`{"a":1}`, []string{`{"a":[]}`, `{"a":[1,9]}`, `{"a":2}`, `{"a":[3,4]}`}},
		{`{"a":-1}`, []string{`{"a":[1,9]}`, `{"a":[3,4]}`, `{"a":2}`, `{"a":[]}`}},
		{`{"a.b":1}`, []string{`{"a":[{"b":5},{"b":1}]}`, `{"a":{"b":2}}`, `{"a":[{"b":3}]}`}},
	} {
		s, err := query.ParseSort(parseDocument(t, c.pattern))
		must.Do(t, err)
		docs := []bson.Raw{}
		for _, d := range c.want {
			docs = append(docs, parseDocument(t, d))
		}
		got := slices.Clone(docs)
		slices.Reverse(got)
		s.Sort(got)
		for i := range got {
			expect.That(t, bytes.Equal(got[i], docs[i]), "%s: place %d is %v, want %v", c.pattern, i, got[i], docs[i])
		}
	}
}
