package actions

import (
	"fmt"
	"math"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/balance"
	"shardboard/internal/fixture/expect"
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
		return must.Get(bson.Marshal(out))
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
			expect.That(t, got == nil, "%s: %s", name, got)
			continue
		}
		expect.That(t, got != nil && got.String() == c.want, "%s: %s, want %s", name, got, c.want)
	}
}

func TestPlanThatMovesManyRangesCountsTheFirstOnly(t *testing.T) {
	s := cluster(t, "0.6.38", "5.0.7")
	var steps []operation.Step
	for i := range 2 * mostRanges {
		steps = append(steps, operation.Step{Op: operation.OpMove, NS: documents, Min: doc(project(byte(20 + i))),
			Max: doc(project(byte(21 + i)))})
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
		s.Cleaned = []operation.Cleanup{{NS: documents, Shard: "c", Min: doc(project(20)), Max: doc(project(40)), Since: s.Now.Add(-ago)}}
	}
}

func TestRowsToCountAreOfThePlansProjectOrOfItsMovedRanges(t *testing.T) {
	beta := oid(20).Hex()
	narrow := func(s Situation) Args {
		b := chunkAt(t, s, documents, 1)
		return Args{NS: documents, Bounds: b, To: "c", Min: doc(project(20)), Max: doc(project(21))}
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
		"a cut moves nothing":     {"5.0.7", Split, func(s Situation) Args { return Args{NS: documents, At: doc(project(30))} }, nil},
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
			expect.That(t, len(c.want) != 0 || len(got) == 0, "it counts %v", got)
		})
	}
}

// move are the entries of a migration that has ended, newest first.
func moveEntries(t *testing.T, ago, took time.Duration, bytes int64, steps ...int32) (out []topology.Event) {
	t.Helper()
	commit := event(t, "moveChunk.commit", ago, "a", "b", project(1), project(2), bytes)
	start := event(t, "moveChunk.start", ago+took, "a", "b", project(1), project(2), 0)
	if len(steps) > 0 {
		from := event(t, "moveChunk.from", ago, "a", "b", project(1), project(2), 0)
		var details bson.D
		must.Do(t, bson.Unmarshal(from.Details, &details))
		for i, ms := range steps {
			details = append(details, bson.E{Key: fmt.Sprintf("step %d of %d", i+1, len(steps)), Value: ms})
		}
		from.Details, _ = bson.Marshal(append(details, bson.E{Key: "note", Value: "success"}))
		out = append(out, from)
	}
	return append(out, commit, start)
}

// Past moves of any size count: small ones tell what a move takes besides copying.
func TestPastMovesOfAnySizeTellHowLongMovesTake(t *testing.T) {
	const large = 100 << 20
	second := time.Second
	for _, x := range []struct {
		name     string
		moves    [][]topology.Event
		n        int // chunks of the plan
		bytes    int64
		want     time.Duration
		relative float64
		method   string
	}{
		{"none", nil, 11, 0, 11 * second, 0, "assumedRate"},
		{"small ones alone", [][]topology.Event{
			moveEntries(t, time.Hour, 10*second, 20_000), moveEntries(t, 2*time.Hour, 10*second, 0), moveEntries(t, 3*time.Hour, 12*second, 100),
		}, 11, 0, 110 * second, 0.2, "changelogRate"},
		{"large and small", [][]topology.Event{
			moveEntries(t, time.Hour, 5*second, 0), moveEntries(t, 2*time.Hour, 25*second, large), moveEntries(t, 3*time.Hour, 25*second, large),
		}, 2, 2 * large, 50 * second, 0, "changelogRate"},
		{"the donor's own times, but the last", [][]topology.Event{
			moveEntries(t, time.Hour, 5*second, 0, 0, 20, 980, 6000, 1000, 900_000),
		}, 1, 0, 8 * second, 0, "changelogRate"},
		{"one that took longer than others", [][]topology.Event{
			moveEntries(t, time.Hour, 10*second, 0), moveEntries(t, 2*time.Hour, 10*second, 0), moveEntries(t, 3*time.Hour, 30*second, 0),
		}, 1, 0, 10 * second, 2, "changelogRate"},
	} {
		var events []topology.Event
		for _, m := range x.moves {
			events = append(events, m...)
		}
		got := MoveSpeedOf(events).time(topology.Figure{Known: true, Value: x.bytes}, x.n, time.Time{})
		want := x.want.Milliseconds()
		if math.Abs(float64(got.Value-want)) > 2 || math.Abs(float64(got.PlusMinus)-x.relative*float64(want)) > 2 || got.Method != x.method {
			t.Errorf("%s: %+v, want %d ms ± %.0f %% by %s", x.name, got, want, 100*x.relative, x.method)
		}
	}
}

// A resharding takes at least five minutes, and in 8.0 half a minute more than its copying.
func TestReshardingTakesAtLeastWhatTheServerWaits(t *testing.T) {
	for _, tc := range []struct {
		release    string
		copying    time.Duration
		operations int
		want       time.Duration
	}{
		{"8.0.10", time.Second, 1, 5 * time.Minute},
		{"8.0.10", 20 * time.Minute, 1, 20*time.Minute + 30*time.Second},
		{"5.0.7", 20 * time.Minute, 1, 20 * time.Minute},
		{"8.0.10", 4 * time.Minute, 3, 15 * time.Minute},
		{"8.0.10", 40 * time.Minute, 3, 41*time.Minute + 30*time.Second},
	} {
		d := &draftBuilder{s: Situation{Release: balance.ReleaseOf(tc.release)}}
		got := d.reshardTime(topology.Figure{Known: true, Value: tc.copying.Milliseconds()}, tc.operations)
		expect.That(t, time.Duration(got.Value)*time.Millisecond == tc.want,
			"%s, %d times, %s of copying: %d ms, want %s", tc.release, tc.operations, tc.copying, got.Value, tc.want)
		expect.That(t, !d.reshardTime(topology.Figure{}, 1).Known, "an unknown copying gives a known time")
	}
}
