package outcome

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func TestVerdicts(t *testing.T) {
	for _, x := range []struct {
		p    float64
		n    int64
		q    float64
		m    int64
		want Verdict
	}{
		{.62, 6000, .41, 6000, Helped},
		{.41, 6000, .62, 6000, Worse},
		{.62, 6000, .60, 6000, NoChange},           // significant, but too small to matter
		{.62, 1_000_000, .57, 1_000_000, NoChange}, // less than a tenth
		{.62, 120, .52, 120, NoChange},             // within chance
		{.08, 50_000, .04, 50_000, Helped},         // a small chunk that was halved
		{.008, 1_000_000, .001, 1_000_000, NoChange},
		{0, 5000, 0, 5000, NoChange},
		{1, 5000, .5, 5000, Helped},
		{.9, 99, .1, 5000, ""},
		{.9, 5000, .1, 0, ""},
	} {
		if got, pm := judge(x.p, x.n, x.q, x.m); got != x.want {
			t.Errorf("%v of %d to %v of %d: %q ± %v, want %q", x.p, x.n, x.q, x.m, got, pm, x.want)
		}
	}
}

func TestVerdictsReverseWithTheWindowsAndHoldWithMoreRows(t *testing.T) {
	opposite := map[Verdict]Verdict{Helped: Worse, Worse: Helped, NoChange: NoChange, "": ""}
	rapid.Check(t, func(t *rapid.T) {
		p, q := rapid.Float64Range(0, 1).Draw(t, "p"), rapid.Float64Range(0, 1).Draw(t, "q")
		n, m := rapid.Int64Range(0, 100_000).Draw(t, "n"), rapid.Int64Range(0, 100_000).Draw(t, "m")
		v, pm := judge(p, n, q, m)
		if back, same := judge(q, m, p, n); back != opposite[v] || same != pm {
			t.Fatalf("%q one way, %q the other", v, back)
		}
		if more, less := judge(p, 10*n, q, 10*m); (v == Helped || v == Worse) && (more != v || less > pm) {
			t.Fatalf("%q with n rows, %q with ten times as many", v, more)
		}
	})
}

// With unchanged writers, a change is reported in a few of a hundred cases.
func TestChanceIsSeldomReportedAsAChange(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	draw := func(rows int) (float64, int64) {
		hot := 0
		for range rows {
			if rng.Float64() < .5 {
				hot++
			}
		}
		return float64(hot) / float64(rows), int64(rows)
	}
	wrong := 0
	for range 1000 {
		p, n := draw(400)
		q, m := draw(400)
		if v, _ := judge(p, n, q, m); v != NoChange {
			wrong++
		}
	}
	if wrong > 70 {
		t.Errorf("%d of 1,000", wrong)
	}
}
