package spread

import (
	"testing"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/format"
)

func TestTheMeanTimeOfASumIsWeighedByItsReads(t *testing.T) {
	reads := func(n float64, ms int) amount {
		return amount{known: true, value: n, low: n, high: n, mean: time.Duration(ms) * time.Millisecond}
	}
	for want, parts := range map[string][]amount{
		"11.0 ms each": {reads(90, 2), reads(10, 92)},
		"4.0 ms each":  {nothing(), reads(5, 4), reads(0, 0)},
		"4.0 ms each, unknown parts are left out": {unknownAmount("notReported", ""), reads(5, 4)},
	} {
		var sum amount
		for _, a := range parts {
			sum = sum.plus(a)
		}
		if got := sum.detail(format.PerSecond); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	expect.Lacks(t, reads(0, 0).detail(format.PerSecond), "each", "no reads")
}
