package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"

	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/query"
	"shardboard/internal/simcluster/engine/value"
)

// smallValue draws values from a small set, so that many are equal.
func smallValue(t *rapid.T, label string) string {
	scalar := rapid.SampledFrom([]string{"0", "1", "2", "2.5", "null", `"x"`, `"y"`, "true"})
	switch rapid.IntRange(0, 9).Draw(t, label) {
	case 0:
		return "[" + strings.Join(rapid.SliceOfN(scalar, 0, 3).Draw(t, "array"), ",") + "]"
	case 1:
		return fmt.Sprintf(`{"c":%s}`, scalar.Draw(t, "c"))
	case 2:
		return fmt.Sprintf(`[{"c":%s},{"c":%s}]`, scalar.Draw(t, "c1"), scalar.Draw(t, "c2"))
	}
	return scalar.Draw(t, "scalar")
}

func randomDocument(t *rapid.T, id int) string {
	text := fmt.Sprintf(`{"_id":%d`, id)
	for _, f := range []string{"a", "b", "d"} {
		if rapid.IntRange(0, 4).Draw(t, "has "+f) > 0 {
			text += fmt.Sprintf(`,"%s":%s`, f, smallValue(t, f))
		}
	}
	return text + "}"
}

func randomCondition(t *rapid.T) string {
	path := rapid.SampledFrom([]string{"a", "b", "d", "a.c", "b.c", "_id"}).Draw(t, "path")
	op := rapid.SampledFrom([]string{"$eq", "$gt", "$gte", "$lt", "$lte", "$ne"}).Draw(t, "op")
	switch rapid.IntRange(0, 5).Draw(t, "shape") {
	case 0:
		return fmt.Sprintf(`{"%s":{"$in":[%s,%s]}}`, path, smallValue(t, "in"), smallValue(t, "in2"))
	case 1:
		return fmt.Sprintf(`{"%s":{"$gte":%s,"$lte":%s}}`, path, smallValue(t, "from"), smallValue(t, "to"))
	case 2:
		return fmt.Sprintf(`{"$or":[{"%s":{"%s":%s}},{"%s":%s}]}`, path, op, smallValue(t, "v"), path, smallValue(t, "w"))
	}
	return fmt.Sprintf(`{"%s":{"%s":%s}}`, path, op, smallValue(t, "v"))
}

// A query returns the same documents with any index as with a collection scan, also
// after updates and deletes.
func TestIndexesNeverChangeResults(t *testing.T) {
	indexes := []string{`{"a":1}`, `{"b":-1,"a":1}`, `{"a":1,"b":1}`, `{"a.c":1,"d":1}`, `{"b.c":1,"_id":-1}`,
		`{"d":1,"b":1,"a":1}`, `{"d":-1,"_id":1}`}
	rapid.Check(t, func(rt *rapid.T) {
		c := engine.NewNode("n").Create("db", "c", [16]byte{}, nil)
		for _, key := range rapid.SliceOfNDistinct(rapid.SampledFrom(indexes), 1, 4, rapid.ID).Draw(rt, "indexes") {
			must.Do(rt, must.Err(c.EnsureIndex(parseDocument(t, `{"key":`+key+`}`))))
		}
		n := rapid.IntRange(1, 25).Draw(rt, "documents")
		for i := range n {
			_, _ = c.Insert(parseDocument(t, randomDocument(rt, i))) // parallel arrays are refused: fewer documents
		}
		for range rapid.IntRange(0, 10).Draw(rt, "changes") {
			id := engine.RecordID(rapid.IntRange(1, n).Draw(rt, "which"))
			switch old := c.Get(id); {
			case old == nil:
			case rapid.Bool().Draw(rt, "delete"):
				c.Delete(id)
			default:
				_ = c.Update(id, parseDocument(t, randomDocument(rt, int(value.Float(value.Field(old, "_id"))))))
			}
		}
		text := `{"$and":[` + randomCondition(rt) + `,` + randomCondition(rt) + `]}`
		if rapid.Bool().Draw(rt, "single") {
			text = randomCondition(rt)
		}
		f, err := query.Parse(parseDocument(t, text), nil)
		must.That(rt, err == nil, "%s: %v", text, err)
		order := rapid.SampledFrom([]string{`{}`, `{"a":1,"_id":1}`, `{"b":-1,"a":1,"_id":1}`, `{"d":1,"_id":-1}`,
			`{"_id":-1}`, `{"a.c":-1,"_id":1}`}).Draw(rt, "order")
		var want, got []string
		s, _ := query.ParseSort(parseDocument(t, order))
		var all []bson.Raw
		for _, d := range c.All() {
			if ok, _ := f.Match(d); ok {
				all = append(all, d)
			}
		}
		if s != nil {
			s.Sort(all)
		}
		for _, d := range all {
			want = append(want, value.Text(value.Field(d, "_id")))
		}
		cur := c.Query(t.Context(), engine.Query{Filter: f, Sort: parseDocument(t, order)})
		for _, doc := range cur.All() {
			got = append(got, value.Text(value.Field(doc, "_id")))
		}
		if s == nil {
			slices.Sort(want)
			slices.Sort(got)
		}
		if cur.Err() != nil || !slices.Equal(want, got) {
			rt.Fatalf("%s sorted %s by %s %s: got %v, want %v, %v", text, order, cur.Plan().Stage, cur.Plan().Index, got, want, cur.Err())
		}
	})
}
