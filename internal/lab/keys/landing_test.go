package keys

import (
	"math"
	"strings"
	"testing"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// Ids that begin with the time go to one shard, random ones and the default mode everywhere at any time, and those of
// the sequential mode to one shard at a time but everywhere over the day.
func TestWhereIDsOfEachKindLand(t *testing.T) {
	n := Inserts{Rows: 10_000, Shards: 16, Span: 7 * 24 * time.Hour, Seed: 1}
	all, err := n.Land()
	must.Do(t, err)
	type limits struct{ least, most float64 }
	one, even := limits{1, 1}, limits{1.0 / 16, 0.1}
	want := map[string]struct{ whole, now limits }{
		"_id": {one, one}, UUID7: {one, one}, UUID4: {even, limits{0, 0.4}}, LocalityDefault: {even, limits{0, 0.4}},
		LocalitySequential: {limits{1.0 / 16, 0.2}, limits{0.9, 1.001}},
	}
	must.That(t, len(all) == len(want), "%d kinds", len(all))
	for _, l := range all {
		w, sum, rows := want[l.Field], 0.0, 0
		if l.Busiest < w.whole.least || l.Busiest > w.whole.most || l.AtATime < w.now.least || l.AtATime > w.now.most {
			t.Errorf("%s: the busiest shard takes %.3f, %.3f at a time; expected %v and %v", l.Field, l.Busiest, l.AtATime, w.whole, w.now)
		}
		for _, p := range l.Parts {
			sum += p
		}
		for _, slice := range l.Slices {
			for _, r := range slice {
				rows += r
			}
		}
		expect.That(t, math.Abs(sum-1) <= 1e-6 && rows == n.Rows, "%s: parts of %.3f together, %d rows", l.Field, sum, rows)
	}
}

func TestBadInsertsAreNamedWithTheirLimit(t *testing.T) {
	for want, n := range map[string]Inserts{
		"inserts: ": {Rows: 0, Shards: 1, Span: 1},
		"shards: ":  {Rows: 1, Shards: 0, Span: 1},
		"span: ":    {Rows: 1, Shards: 1, Span: 0},
	} {
		if _, err := n.Land(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, expected %s", err, want)
		}
	}
}
