package query_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster/engine/expr"
	"shardboard/internal/simcluster/engine/query"
	"shardboard/internal/simcluster/engine/status"
)

// parseDocument reads a document in Extended JSON.
func parseDocument(t testing.TB, text string) bson.Raw {
	t.Helper()
	var d bson.D
	if err := bson.UnmarshalExtJSON([]byte(text), false, &d); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return must.Get(bson.Marshal(d))
}

func parseFilter(t testing.TB, text string) *query.Filter {
	t.Helper()
	f, err := query.Parse(parseDocument(t, text), &expr.Env{Now: time.UnixMilli(1_000_000)})
	must.That(t, err == nil, "%s: %v", text, err)
	return f
}

// wantCode checks a coded error and that its message contains the text.
func wantCode(t *testing.T, what string, err error, code int32, text string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: no error, want %d", what, code)
		return
	}
	e := status.Of(err)
	var coded *status.Error
	if errors.As(err, &coded); e.Code != code || !strings.Contains(e.Message, text) {
		t.Errorf("%s: error %d %q, want %d %q", what, e.Code, e.Message, code, text)
	}
}

func TestFiltersMatchDocuments(t *testing.T) {
	for _, c := range []struct {
		filter   string
		yes, not []string
	}{
		{`{}`, []string{`{}`, `{"a":1}`}, nil},
		{`{"a":1}`, []string{`{"a":1}`, `{"a":{"$numberLong":"1"}}`, `{"a":1.0}`, `{"a":{"$numberDecimal":"1"}}`, `{"a":[0,1]}`},
			[]string{`{}`, `{"a":"1"}`, `{"a":[[1]]}`, `{"a":true}`}},
		{`{"a":{"b":1}}`, []string{`{"a":{"b":1}}`, `{"a":[{"b":1}]}`}, []string{`{"a":{"b":1,"c":2}}`, `{"a":{"b":2}}`}},
		{`{"a":[1,2]}`, []string{`{"a":[1,2]}`, `{"a":[[1,2],3]}`}, []string{`{"a":[2,1]}`, `{"a":[1,2,3]}`}},
		{`{"a.b":1}`, []string{`{"a":{"b":1}}`, `{"a":[{"b":2},{"b":1}]}`, `{"a":[{"b":[1]}]}`}, []string{`{"a":1}`, `{"a":[[{"b":1}]]}`}},
		{`{"a.1":5}`, []string{`{"a":[4,5]}`, `{"a":{"1":5}}`, `{"a":[{"1":5}]}`}, []string{`{"a":[5,4]}`}},
		{`{"a.0.b":1}`, []string{`{"a":[{"b":1}]}`}, []string{`{"a":[{"b":2},{"b":1}]}`}},
		{`{"a":null}`, []string{`{}`, `{"a":null}`, `{"a":[null]}`, `{"a":{"$undefined":true}}`}, []string{`{"a":0}`, `{"a":[]}`, `{"a":false}`}},
		{`{"a.b":null}`, []string{`{}`, `{"a":5}`, `{"a":{}}`, `{"a":[{}]}`}, []string{`{"a":[]}`, `{"a":[1]}`, `{"a":{"b":1}}`}},
		{`{"a":{"$ne":null}}`, []string{`{"a":1}`, `{"a":[]}`}, []string{`{}`, `{"a":null}`}},
		{`{"a":{"$ne":1}}`, []string{`{}`, `{"a":2}`, `{"a":[2,3]}`}, []string{`{"a":1}`, `{"a":[1,2]}`}},
		{`{"a":{"$gt":5}}`, []string{`{"a":6}`, `{"a":[1,9]}`, `{"a":{"$numberDouble":"Infinity"}}`},
			[]string{`{"a":5}`, `{"a":"6"}`, `{}`, `{"a":{"$numberDouble":"NaN"}}`, `{"a":{"$date":"2020-01-01T00:00:00Z"}}`}},
		{`{"a":{"$gte":5,"$lt":7}}`, []string{`{"a":5}`, `{"a":6.9}`, `{"a":[1,9]}`}, []string{`{"a":7}`, `{"a":4}`}},
		{`{"a":{"$lte":null}}`, []string{`{}`, `{"a":null}`}, []string{`{"a":1}`}},
		{`{"a":{"$lt":{"$numberDouble":"NaN"}}}`, nil, []string{`{"a":1}`, `{"a":{"$numberDouble":"NaN"}}`}},
		{`{"a":{"$gte":{"$numberDouble":"NaN"}}}`, []string{`{"a":{"$numberDouble":"NaN"}}`}, []string{`{"a":1}`}},
		{`{"a":{"$gte":{"$minKey":1}}}`, []string{`{"a":{"$minKey":1}}`, `{"a":1}`, `{}`, `{"a":"x"}`}, nil},
		{`{"a":{"$gt":{"$minKey":1}}}`, []string{`{"a":1}`, `{"a":{"$maxKey":1}}`}, []string{`{"a":{"$minKey":1}}`}},
		{`{"a":{"$lt":{"$maxKey":1}}}`, []string{`{"a":1}`, `{"a":{"x":1}}`}, []string{`{"a":{"$maxKey":1}}`}},
		{`{"a":{"$lt":{"$timestamp":{"t":9,"i":1}}}}`, []string{`{"a":{"$timestamp":{"t":9,"i":0}}}`},
			[]string{`{"a":{"$date":{"$numberLong":"0"}}}`}},
		{`{"a":{"$in":[1,"x",null]}}`, []string{`{"a":1.0}`, `{"a":"x"}`, `{}`, `{"a":[7,"x"]}`}, []string{`{"a":2}`, `{"a":[]}`}},
		{`{"a":{"$in":[{"$regularExpression":{"pattern":"^b","options":"i"}},7]}}`, []string{`{"a":"Bar"}`, `{"a":7}`}, []string{`{"a":"ab"}`}},
		{`{"a":{"$in":[]}}`, nil, []string{`{}`, `{"a":1}`}},
		{`{"a":{"$nin":[1,2]}}`, []string{`{}`, `{"a":3}`}, []string{`{"a":1}`, `{"a":[5,2]}`}},
		{`{"a":{"$exists":true}}`, []string{`{"a":null}`, `{"a":[]}`}, []string{`{}`, `{"b":1}`}},
		{`{"a.b":{"$exists":false}}`, []string{`{}`, `{"a":1}`, `{"a":[]}`, `{"a":[{"c":1}]}`}, []string{`{"a":{"b":null}}`, `{"a":[{"b":1}]}`}},
		{`{"a":{"$type":"string"}}`, []string{`{"a":"x"}`, `{"a":[1,"x"]}`}, []string{`{"a":1}`, `{}`}},
		{`{"a":{"$type":["number","bool"]}}`, []string{`{"a":1}`, `{"a":{"$numberDecimal":"1"}}`, `{"a":true}`}, []string{`{"a":"1"}`}},
		{`{"a":{"$type":"array"}}`, []string{`{"a":[]}`, `{"a":[1]}`}, []string{`{"a":1}`}},
		{`{"a":{"$type":-1}}`, []string{`{"a":{"$minKey":1}}`}, []string{`{"a":-1}`}},
		{`{"a":{"$not":{"$gt":5}}}`, []string{`{}`, `{"a":5}`, `{"a":"x"}`}, []string{`{"a":6}`}},
		{`{"a":{"$not":{"$ne":5}}}`, []string{`{"a":5}`}, []string{`{"a":6}`, `{}`}},
		{`{"a":{"$not":{"$regularExpression":{"pattern":"^x","options":""}}}}`, []string{`{"a":"yx"}`, `{}`}, []string{`{"a":"xy"}`}},
		{`{"$or":[{"a":1},{"b":2}]}`, []string{`{"a":1}`, `{"b":2}`}, []string{`{"a":2}`}},
		{`{"$nor":[{"a":1},{"b":2}]}`, []string{`{"a":2}`}, []string{`{"a":1}`, `{"b":2}`}},
		{`{"$and":[{"a":1},{"b":2}],"c":3}`, []string{`{"a":1,"b":2,"c":3}`}, []string{`{"a":1,"b":2}`}},
		{`{"a":{"$regularExpression":{"pattern":"^doc-\\d+$","options":""}}}`,
			[]string{`{"a":"doc-12"}`, `{"a":["x","doc-1"]}`}, []string{`{"a":"xdoc-1"}`, `{"a":5}`}},
		{`{"a":{"$size":2}}`, []string{`{"a":[1,2]}`}, []string{`{"a":[1]}`, `{"a":2}`, `{}`}},
		{`{"a":{"$elemMatch":{"$gte":5,"$lt":7}}}`, []string{`{"a":[1,6]}`}, []string{`{"a":[1,9]}`, `{"a":6}`}},
		{`{"a":{"$elemMatch":{"x":1,"y":{"$gt":1}}}}`, []string{`{"a":[{"x":1,"y":2}]}`},
			[]string{`{"a":[{"x":1,"y":1},{"x":2,"y":2}]}`, `{"a":{"x":1,"y":2}}`}},
		{`{"a":{"$elemMatch":{"$not":{"$gt":5}}}}`, []string{`{"a":[6,1]}`}, []string{`{"a":[6,7]}`, `{"a":[]}`}},
		{`{"$expr":{"$gt":["$a","$b"]}}`, []string{`{"a":2,"b":1}`}, []string{`{"a":1,"b":2}`}},
		{`{"$expr":{"$gte":["$until","$$NOW"]}}`, []string{`{"until":{"$date":{"$numberLong":"1000001"}}}`},
			[]string{`{"until":{"$date":{"$numberLong":"5"}}}`}},
		{`{"$comment":"why","a":1}`, []string{`{"a":1}`}, []string{`{"a":2}`}},
	} {
		f := parseFilter(t, c.filter)
		check := func(docs []string, want bool) {
			for _, d := range docs {
				if got, err := f.Match(parseDocument(t, d)); got != want || err != nil {
					t.Errorf("%s on %s: %v %v, want %v", c.filter, d, got, err, want)
				}
			}
		}
		check(c.yes, true)
		check(c.not, false)
	}
}

func TestInvalidFiltersAreRefused(t *testing.T) {
	for filter, want := range map[string]struct {
		code int32
		text string
	}{
		`{"a":{"$foo":1}}`:                    {2, "unknown operator: $foo"},
		`{"a":{"$gt":1,"b":2}}`:               {2, "unknown operator: b"},
		`{"$foo":1}`:                          {2, "unknown top level operator: $foo"},
		`{"$or":1}`:                           {2, "$or must be an array"},
		`{"$and":[]}`:                         {2, "$and/$or/$nor must be a nonempty array"},
		`{"$nor":[1]}`:                        {2, "$or/$and/$nor entries need to be full objects"},
		`{"a":{"$in":1}}`:                     {2, "$in needs an array"},
		`{"a":{"$in":[{"$gt":1}]}}`:           {2, "cannot nest $ under $in"},
		`{"a":{"$not":1}}`:                    {2, "$not needs a regex or a document"},
		`{"a":{"$not":{}}}`:                   {2, "$not cannot be empty"},
		`{"a":{"$elemMatch":1}}`:              {2, "$elemMatch needs an Object"},
		`{"a":{"$size":-1}}`:                  {2, "$size"},
		`{"a":{"$type":"nothing"}}`:           {2, "Unknown type name alias: nothing"},
		`{"a":{"$options":"i"}}`:              {2, "$options needs a $regex"},
		`{"a":{"$regex":"("}}`:                {51091, "Regular expression is invalid"},
		`{"a":{"$elemMatch":{"$expr":true}}}`: {2, "$expr can only be applied to the top-level document"},
		`{"$expr":{"$nope":1}}`:               {168, "Unrecognized expression '$nope'"},
	} {
		_, err := query.Parse(parseDocument(t, filter), nil)
		wantCode(t, filter, err, want.code, want.text)
	}
}
