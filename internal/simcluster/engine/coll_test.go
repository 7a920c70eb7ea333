package engine_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/query"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

func marshal(v any) bson.Raw { return must.Get(bson.Marshal(v)) }

// parseDocument reads a document in Extended JSON.
func parseDocument(t testing.TB, text string) bson.Raw {
	t.Helper()
	var d bson.D
	if err := bson.UnmarshalExtJSON([]byte(text), false, &d); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return marshal(d)
}

// collection makes db.c with documents and indexes.
func collection(t testing.TB, docs []string, indexes ...string) *engine.Coll {
	t.Helper()
	c := engine.NewNode("n").Create("db", "c", [16]byte{1}, nil)
	for _, d := range docs {
		must.Do(t, must.Err(c.Insert(parseDocument(t, d))))
	}
	for _, x := range indexes {
		must.Do(t, must.Err(c.EnsureIndex(parseDocument(t, x))))
	}
	return c
}

// queryIDs runs a query and returns the _ids in order, and the plan.
func queryIDs(t testing.TB, c *engine.Coll, filter, order string, change ...func(*engine.Query)) (string, engine.Plan) {
	t.Helper()
	f, err := query.Parse(parseDocument(t, filter), nil)
	must.Do(t, err)
	q := engine.Query{Filter: f}
	if order != "" {
		q.Sort = parseDocument(t, order)
	}
	for _, f := range change {
		f(&q)
	}
	cur := c.Query(t.Context(), q)
	var got []string
	for _, doc := range cur.All() {
		got = append(got, value.Text(value.Field(doc, "_id")))
	}
	if cur.Err() != nil {
		t.Fatalf("%s: %v", filter, cur.Err())
	}
	return strings.Join(got, " "), cur.Plan()
}

func wantError(t *testing.T, err error, code int32, text string) *status.Error {
	t.Helper()
	e := status.Of(err)
	must.That(t, e != nil && e.Code == code && strings.Contains(e.Message, text), "error %#v, want %d %q", e, code, text)
	return e
}

func TestDuplicateKeyErrorsEqualTheServers(t *testing.T) {
	c := collection(t, []string{`{"_id":{"$oid":"6610005d1122334455667788"},"name":"x","tags":[1,2]}`},
		`{"key":{"name":1},"unique":true}`, `{"key":{"tags":1,"n":1},"unique":true,"name":"t"}`)
	_, err := c.Insert(parseDocument(t, `{"_id":{"$oid":"6610005d1122334455667788"},"name":"y"}`))
	wantError(t, err, 11000, "E11000 duplicate key error collection: db.c index: _id_ dup key: { _id: ObjectId('6610005d1122334455667788') }")
	_, err = c.Insert(parseDocument(t, `{"_id":1,"name":"x"}`))
	e := wantError(t, err, 11000, `E11000 duplicate key error collection: db.c index: name_1 dup key: { name: "x" }`)
	if e.Name != "DuplicateKey" || cmp.Diff(marshal(e.Extra), parseDocument(t, `{"keyPattern":{"name":1},"keyValue":{"name":"x"}}`)) != "" {
		t.Errorf("extra %v", e.Extra)
	}
	_, err = c.Insert(parseDocument(t, `{"_id":2,"name":"z","tags":[7,2]}`))
	wantError(t, err, 11000, "index: t dup key: { tags: 2, n: null }")
	expect.Equal(t, c.Len(), 1, "documents")
	id, err := c.Insert(parseDocument(t, `{"_id":3,"name":"z","tags":3}`))
	must.Do(t, err)
	wantError(t, c.Update(id, parseDocument(t, `{"_id":3,"name":"x","tags":3}`)), 11000, "name_1")
	must.Do(t, c.Update(id, parseDocument(t, `{"_id":3,"name":"z","tags":[3,3,4]}`)))
	if got, _ := queryIDs(t, c, `{"tags":4}`, ""); got != "3" {
		t.Errorf(`tags 4: %s, want "3"`, got)
	}
}

func TestUniqueIndexesMayBePartialOrSparse(t *testing.T) {
	c := collection(t, nil, `{"key":{"leader":1},"unique":true,"partialFilterExpression":{"leader":true}}`,
		`{"key":{"s":1},"unique":true,"sparse":true}`)
	for _, d := range []string{`{"_id":1,"leader":false}`, `{"_id":2,"leader":false}`, `{"_id":3,"leader":true,"s":1}`} {
		must.Do(t, must.Err(c.Insert(parseDocument(t, d))))
	}
	_, err := c.Insert(parseDocument(t, `{"_id":4,"leader":true}`))
	wantError(t, err, 11000, "dup key: { leader: true }")
	_, err = c.Insert(parseDocument(t, `{"_id":4,"s":1}`))
	wantError(t, err, 11000, "dup key: { s: 1 }")
	if _, plan := queryIDs(t, c, `{"leader":true}`, ""); plan.Index != "leader_1" {
		t.Errorf("partial index not used: %v", plan)
	}
	if got, plan := queryIDs(t, c, `{"leader":false}`, ""); plan.Stage != "COLLSCAN" || got != "1 2" {
		t.Errorf(`partial index used for what it lacks: %v %s, want plan.Stage "COLLSCAN", result "1 2"`, plan, got)
	}
	if got, plan := queryIDs(t, c, `{"s":null}`, ""); plan.Stage != "COLLSCAN" || got != "1 2" {
		t.Errorf(`sparse index used for null: %v %s, want plan.Stage "COLLSCAN", result "1 2"`, plan, got)
	}
}

func TestIndexSpecsAreCheckedAndReported(t *testing.T) {
	c := collection(t, []string{`{"_id":1,"a":1}`, `{"_id":2,"a":1}`}, `{"key":{"a":1}}`,
		`{"key":{"at":1},"name":"ttl","expireAfterSeconds":10}`)
	created, err := c.EnsureIndex(parseDocument(t, `{"key":{"a":1.0},"name":"a_1"}`))
	expect.That(t, !created && err == nil, "same again: %v %v, want created false", created, err)
	for text, want := range map[string]struct {
		code int32
		text string
	}{
		`{"key":{"a":1},"name":"other"}`:             {85, "Index already exists with a different name: a_1"},
		`{"key":{"a":1},"name":"a_1","sparse":true}`: {85, "different options"},
		`{"key":{"b":1},"name":"a_1"}`:               {86, "same name as the requested index"},
		`{"key":{"a":0}}`:                            {67, "cannot be 0"},
		`{"key":{"a":"x"}}`:                          {67, "this simulated cluster does not build indexes of type 'x'"},
		`{"key":{"h":"hashed"},"unique":true}`:       {16764, "hashed"},
		`{"key":{"h":"hashed","i":"hashed"}}`:        {31303, "A maximum of one"},
		`{"key":{"a":-1},"unique":true}`:             {11000, "index: a_-1 dup key: { a: 1 }"},
	} {
		_, err := c.EnsureIndex(parseDocument(t, text))
		wantError(t, err, want.code, want.text)
	}
	want := []bson.Raw{
		parseDocument(t, `{"v":2,"key":{"_id":1},"name":"_id_"}`), parseDocument(t, `{"v":2,"key":{"a":1},"name":"a_1"}`),
		parseDocument(t, `{"v":2,"key":{"at":1},"name":"ttl","expireAfterSeconds":10}`),
	}
	if diff := cmp.Diff(want, c.Indexes()); diff != "" {
		t.Errorf("got %v, want empty", diff)
	}
	wantError(t, c.DropIndex("_id_"), 72, "cannot drop _id index")
	wantError(t, c.DropIndex("zz"), 27, "index not found with name [zz]")
	if err := c.DropIndex("ttl"); err != nil || len(c.Indexes()) != 2 {
		t.Error(err)
	}
	wantError(t, collectionInsert(t, `{"key":{"a":1,"b":1}}`, `{"_id":1,"a":[1],"b":[2]}`), 171, "cannot index parallel arrays [b] [a]")
	wantError(t, collectionInsert(t, `{"key":{"a":"hashed"}}`, `{"_id":1,"a":[1]}`), 16766,
		"hashed indexes do not currently support array values")
}

func collectionInsert(t *testing.T, index, text string) error {
	_, err := collection(t, nil, index).Insert(parseDocument(t, text))
	return err
}

func TestNodeKeepsDatabasesUntilTheyAreDropped(t *testing.T) {
	n := engine.NewNode("n")
	n.Create("b", "y", [16]byte{1}, nil)
	n.Create("b", "x", [16]byte{2}, nil)
	n.Create("a", "z", [16]byte{3}, nil)
	if diff := cmp.Diff([]string{"a", "b"}, n.Databases()); diff != "" {
		t.Errorf("got %v, want empty", diff)
	}
	if cs := n.Colls("b"); len(cs) != 2 || cs[0].Name != "x" {
		t.Errorf(`got %v, want len 2, [0].Name "x"`, cs)
	}
	n.Rename("b", "x", "b", "y")
	expect.That(t, n.Coll("b", "y").UUID == [16]byte{2} && n.Coll("b", "x") == nil, "rename")
	n.Drop("a", "z")
	n.Drop("a", "z") // it is not there any more
	n.DropDatabase("b")
	expect.That(t, len(n.Databases()) == 0, "drop")
}
