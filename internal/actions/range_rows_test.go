package actions

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fixture/must"
	"shardboard/internal/shardkey"
)

func TestOnlyRangesOfOneTypeAreCountedByTheirBounds(t *testing.T) {
	d := func(e ...any) bson.Raw {
		var out bson.D
		for i := 0; i < len(e); i += 2 {
			out = append(out, bson.E{Key: e[i].(string), Value: e[i+1]})
		}
		raw := must.Get(bson.Marshal(out))
		return raw
	}
	least, most := bson.MinKey{}, bson.MaxKey{}
	one, two := d("p", 1), d("p", 1, "q", 1)
	for name, c := range map[string]struct {
		key, min, max bson.Raw
		want          string // "": none
	}{
		"numbers":        {one, d("p", 3), d("p", 7.5), `{"p": {"$gte": {"$numberInt":"3"},"$lt": {"$numberDouble":"7.5"}}}`},
		"texts":          {one, d("p", "a"), d("p", "b"), `{"p": {"$gte": "a","$lt": "b"}}`},
		"all":            {one, d("p", least), d("p", most), `{}`},
		"number to text": {one, d("p", 3), d("p", "a"), ""},
		"from the start": {one, d("p", least), d("p", 3), ""},
		"to the end":     {one, d("p", 3), d("p", most), ""},
		"hashed":         {d("p", "hashed"), d("p", int64(3)), d("p", int64(7)), ""},
		"a null":         {one, d("p", nil), d("p", 7), ""},
		"of one value":   {two, d("p", 3, "q", "a"), d("p", 3.0, "q", "b"), `{"p": {"$eq": {"$numberInt":"3"}},"q": {"$gte": "a","$lt": "b"}}`},
		"all of a value": {two, d("p", 3, "q", least), d("p", 3, "q", most), `{"p": {"$eq": {"$numberInt":"3"}}}`},
		"whole values": {two, d("p", 3, "q", least), d("p", 7, "q", least),
			`{"p": {"$gte": {"$numberInt":"3"},"$lt": {"$numberInt":"7"}}}`},
		"above a value to the end of one": {two, d("p", 3, "q", most), d("p", 7, "q", most),
			`{"p": {"$gt": {"$numberInt":"3"},"$lte": {"$numberInt":"7"}}}`},
		"within values": {two, d("p", 3, "q", "a"), d("p", 7, "q", least), ""},
		"empty":         {one, d("p", 3), d("p", 3), ""},
		"too short":     {two, d("p", 3), d("p", 7), ""},
	} {
		key := must.Get(shardkey.ParsePattern(c.key))
		got := rangeFilter(key, c.min, c.max)
		if c.want == "" {
			if got != nil {
				t.Errorf("%s: %s", name, got)
			}
			continue
		}
		if got == nil || got.String() != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestPlanThatMovesManyRangesCountsTheFirstOnly(t *testing.T) {
	s := cluster(t, "0.6.38", "5.0.7")
	var steps []operation.Step
	for i := range 2 * mostRanges {
		steps = append(steps, operation.Step{Op: operation.OpMove, NS: documents, Min: doc(t, project(byte(20+i))),
			Max: doc(t, project(byte(21+i)))})
	}
	s.Profile = nil
	rows := RowsOf(s, Args{}, steps)
	if len(rows) != mostRanges+1 || rows[0].Match == nil || rows[mostRanges].Match != nil || rows[mostRanges].Min != nil {
		t.Errorf("%d: %+v", len(rows), rows)
	}
}
