package query_test

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster/engine/expr"
	"shardboard/internal/simcluster/engine/query"
	"shardboard/internal/simcluster/engine/value"
)

func parseUpdate(t testing.TB, text string) (*query.Update, error) {
	t.Helper()
	u := value.Field(parseDocument(t, `{"u":`+text+`}`), "u")
	o := query.UpdateOptions{
		Env:       &expr.Env{Now: time.UnixMilli(1_000_000)},
		Timestamp: bson.Timestamp{T: 7, I: 1},
		NewID:     func() bson.ObjectID { return bson.ObjectID{11: 1} },
	}
	return query.ParseUpdate(u, o)
}

func TestUpdatesChangeDocuments(t *testing.T) {
	for _, c := range []struct{ update, doc, want string }{
		{`{"$set":{"b":2,"a":1}}`, `{"_id":1}`, `{"_id":1,"a":1,"b":2}`}, // new fields in the order of their names
		{`{"$set":{"x.10":1,"x.9":2}}`, `{"_id":1}`, `{"_id":1,"x":{"9":2,"10":1}}`},
		{`{"$set":{"a.b.c":1}}`, `{"a":{"z":1}}`, `{"a":{"z":1,"b":{"c":1}}}`},
		{`{"$set":{"a.3":1}}`, `{"a":[0]}`, `{"a":[0,null,null,1]}`},
		{`{"$set":{"a.0.b":1}}`, `{"a":[{"b":5,"c":1}]}`, `{"a":[{"b":1,"c":1}]}`},
		{`{"$set":{"a":{"$numberLong":"1"}}}`, `{"a":1}`, `{"a":{"$numberLong":"1"}}`},
		{`{"$unset":{"a":"","x.y":""}}`, `{"a":1,"b":2}`, `{"b":2}`},
		{`{"$unset":{"a.0":1}}`, `{"a":[1,2]}`, `{"a":[null,2]}`},
		{`{"$inc":{"a":1}}`, `{}`, `{"a":1}`},
		{`{"$inc":{"a":1}}`, `{"a":2147483647}`, `{"a":{"$numberLong":"2147483648"}}`},
		{`{"$inc":{"a":1}}`, `{"a":{"$numberLong":"1"}}`, `{"a":{"$numberLong":"2"}}`},
		{`{"$inc":{"a":0.5}}`, `{"a":1}`, `{"a":1.5}`},
		{`{"$inc":{"a":{"$numberDecimal":"0.1"}}}`, `{"a":1}`, `{"a":1.1}`},
		{`{"$mul":{"a":3,"b":{"$numberLong":"2"}}}`, `{"a":2}`, `{"a":6,"b":{"$numberLong":"0"}}`},
		{`{"$min":{"a":1,"b":5},"$max":{"c":9,"d":1}}`, `{"a":2,"b":4,"c":1,"d":2}`, `{"a":1,"b":4,"c":9,"d":2}`},
		{`{"$min":{"a":1}}`, `{}`, `{"a":1}`},
		{`{"$max":{"a":"x"}}`, `{"a":5}`, `{"a":"x"}`}, // values of different types compare in canonical order
		{`{"$setOnInsert":{"a":1}}`, `{"b":1}`, `{"b":1}`},
		{`{"$push":{"a":1}}`, `{}`, `{"a":[1]}`},
		{`{"$addToSet":{"a":{"$each":[1,2,2]}}}`, `{"a":[1.0]}`, `{"a":[1.0,2]}`},
		{`{"$pull":{"a":3}}`, `{"a":[3,1,3]}`, `{"a":[1]}`},
		{`{"$pull":{"a":{"$gte":3}}}`, `{"a":[3,1,9]}`, `{"a":[1]}`},
		{`{"$pull":{"a":{"x":1}}}`, `{"a":[{"x":1,"y":2},{"x":2},1]}`, `{"a":[{"x":2},1]}`},
		{`{"$pull":{"a":1}}`, `{"b":1}`, `{"b":1}`},
		{`{"$currentDate":{"a":true,"b":{"$type":"timestamp"}}}`, `{}`,
			`{"a":{"$date":{"$numberLong":"1000000"}},"b":{"$timestamp":{"t":7,"i":1}}}`},
		{`{"b":2}`, `{"_id":1,"a":1}`, `{"_id":1,"b":2}`},
		{`[{"$set":{"b":{"$add":["$a",1]},"t":"$$NOW"}},{"$unset":"a"}]`, `{"_id":1,"a":1}`,
			`{"_id":1,"b":2,"t":{"$date":{"$numberLong":"1000000"}}}`},
	} {
		u, err := parseUpdate(t, c.update)
		if err != nil {
			t.Errorf("%s: %v", c.update, err)
			continue
		}
		doc, want := parseDocument(t, c.doc), parseDocument(t, c.want)
		got, changed, err := u.Apply(doc)
		if err != nil || string(got) != string(want) || changed != (string(doc) != string(want)) {
			t.Errorf("%s on %s = %v (changed %v, %v), want %v", c.update, c.doc, got, changed, err, want)
		}
	}
}

func TestInvalidUpdatesAreRefused(t *testing.T) {
	for _, c := range []struct {
		update, doc string
		code        int32
		text        string
	}{
		{`{"$foo":{"a":1}}`, `{}`, 9, "Unknown modifier: $foo"},
		{`{"$set":{"a":1},"$inc":{"a":1}}`, `{}`, 40, "Updating the path 'a' would create a conflict at 'a'"},
		{`{"$set":{"a":1,"a.b":1}}`, `{}`, 40, "would create a conflict at 'a'"},
		{`{"$set":{"_id":2}}`, `{"_id":1}`, 66, "Performing an update on the path '_id' would modify the immutable field '_id'"},
		{`{"_id":2}`, `{"_id":1}`, 66, "After applying the update, the (immutable) field '_id' was found to have been altered to _id: 2"},
		{`{"$inc":{"a":"x"}}`, `{}`, 14, `Cannot increment with non-numeric argument: {a: "x"}`},
		{`{"$inc":{"a":1}}`, `{"_id":1,"a":"x"}`, 14,
			"Cannot apply $inc to a value of non-numeric type. {_id: 1} has the field 'a' of non-numeric type string"},
		{`{"$inc":{"a":1}}`, `{"_id":1,"a":{"$numberLong":"9223372036854775807"}}`, 2,
			"Failed to apply $inc operations to current value ((NumberLong)9223372036854775807) for document {_id: 1}"},
		{`{"$set":{"a.b":1}}`, `{"a":5}`, 28, "Cannot create field 'b' in element {a: 5}"},
		{`{"$set":{"a.x":1}}`, `{"a":[1]}`, 28, "Cannot create field 'x' in element {a: [ 1 ]}"},
		{`{"$push":{"a":1}}`, `{"_id":1,"a":5}`, 2, "The field 'a' must be an array but is of type int in document {_id: 1}"},
		{`{"$set":{"":1}}`, `{}`, 56, "An empty update path is not valid."},
		{`{"$set":{"a..b":1}}`, `{}`, 56, "contains an empty field name"},
		{`{"$set":{"a.$":1}}`, `{"a":[1]}`, 52, "The dollar ($) prefixed field '$' in 'a.$' is not valid for storage."},
		{`{"$push":{"a":{"$each":[1],"$slice":1}}}`, `{}`, 115, "no modifier of $push but $each"},
		{`{"$set":5}`, `{}`, 9, "Modifiers operate on fields but we found type int instead"},
		{`[{"$match":{}}]`, `{}`, 72, "$match is not allowed"},
	} {
		u, err := parseUpdate(t, c.update)
		if err == nil {
			_, _, err = u.Apply(parseDocument(t, c.doc))
		}
		wantCode(t, c.update, err, c.code, c.text)
	}
}

func TestUpsertBuildsADocumentFromFilterAndUpdate(t *testing.T) {
	const id = `"_id":{"$oid":"000000000000000000000001"}`
	for _, c := range []struct{ filter, update, want string }{
		// The order that MongoDB 5.0.7 gave such upserts: _id, the filter's fields by name, the update's by name.
		{`{"project_id":7,"key":"note","removed_at":{"$exists":false}}`, `{"$set":{"accessed_at":1},"$setOnInsert":{"owner":2,"created_at":3}}`,
			`{` + id + `,"key":"note","project_id":7,"accessed_at":1,"created_at":3,"owner":2}`},
		{`{"_id":5,"n":{"$gt":1}}`, `{"$inc":{"n":1}}`, `{"_id":5,"n":1}`},
		{`{"a.b":1,"$and":[{"c":{"$eq":2}}]}`, `{"$set":{"z":1}}`, `{` + id + `,"a":{"b":1},"c":2,"z":1}`},
		{`{"a":{"$in":[1]},"b":{"$in":[1,2]}}`, `{"$set":{"z":1}}`, `{` + id + `,"a":1,"z":1}`},
		{`{"_id":5,"a":1}`, `{"b":2}`, `{"_id":5,"b":2}`},
		{`{"addr":"x"}`, `[{"$set":{"n":1,"addr":"x"}}]`, `{` + id + `,"addr":"x","n":1}`},
	} {
		u, err := parseUpdate(t, c.update)
		must.Do(t, err)
		got, err := u.Upsert(parseFilter(t, c.filter))
		if err != nil || string(got) != string(parseDocument(t, c.want)) {
			t.Errorf("upsert %s %s = %v (%v), want %s", c.filter, c.update, got, err, c.want)
		}
	}
	u, _ := parseUpdate(t, `{"$set":{"x":1}}`)
	_, err := u.Upsert(parseFilter(t, `{"a":1,"$and":[{"a":1}]}`))
	wantCode(t, "twice", err, 54, "cannot infer query fields to set, path 'a' is matched twice")
	u, _ = parseUpdate(t, `{"$set":{"_id":2}}`)
	_, err = u.Upsert(parseFilter(t, `{"_id":1}`))
	wantCode(t, "_id", err, 66, "immutable field '_id'")
}
