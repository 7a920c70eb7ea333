package actions

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fixture/must"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
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

// waitedForCleanup: a move of ours waited until c had deleted [20, 40).
func waitedForCleanup(t *testing.T, ago time.Duration) func(*Situation) {
	return func(s *Situation) {
		s.Cleaned = []operation.Cleanup{{NS: documents, Shard: "c", Min: doc(t, project(20)), Max: doc(t, project(40)), Since: s.Now.Add(-ago)}}
	}
}

func TestRowsToCountAreOfThePlansProjectOrOfItsMovedRanges(t *testing.T) {
	beta := oid(20).Hex()
	narrow := func(s Situation) Args {
		b := chunkAt(t, s, documents, 1)
		return Args{NS: documents, Bounds: b, To: "c", Min: doc(t, project(20)), Max: doc(t, project(21))}
	}
	for name, c := range map[string]struct {
		release string
		kind    Kind
		args    func(Situation) Args
		want    map[topology.Namespace]string // → project
	}{
		"pin": {"5.0.7", Pin, fixed(Args{Project: "beta", Shard: "c"}),
			map[topology.Namespace]string{documents: beta, clients: beta}},
		"spread": {"5.0.7", Spread, fixed(Args{Project: "beta"}),
			map[topology.Namespace]string{clients: beta}},
		"a chunk of one project":  {"6.0.0", MoveChunk, narrow, map[topology.Namespace]string{documents: beta}},
		"cut out before the move": {"5.0.7", MoveChunk, narrow, map[topology.Namespace]string{documents: beta}},
		"a chunk of several":      {"5.0.7", MoveChunk, ofChunk(t, 1, "c"), map[topology.Namespace]string{documents: ""}},
		"a cut moves nothing":     {"5.0.7", Split, func(s Situation) Args { return Args{NS: documents, At: doc(t, project(30))} }, nil},
		"no collection":           {"5.0.7", BalancerOn, fixed(Args{}), nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := cluster(t, "0.6.38", c.release)
			d, a := plan(t, s, c.kind, c.args(s))
			got := map[topology.Namespace]string{}
			for _, r := range RowsOf(s, a, d.Steps) {
				got[r.NS] = r.Project
				if _, err := r.Match.LookupErr("project_id", "$lt"); r.Project == "" && err == nil {
					continue // a range
				}
				if id, ok := r.Match.Lookup("project_id", "$eq").ObjectIDOK(); !ok || id.Hex() != r.Project {
					t.Errorf("%s is looked for by %s", r.NS, r.Match)
				}
			}
			for ns, p := range c.want {
				if of, counted := got[ns]; of != p || !counted {
					t.Errorf("of %s it counts %q, want %q", ns, of, p)
				}
			}
			if len(c.want) == 0 && len(got) > 0 {
				t.Errorf("it counts %v", got)
			}
		})
	}
}
