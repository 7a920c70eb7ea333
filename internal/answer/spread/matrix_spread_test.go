package spread

import (
	"slices"
	"testing"
)

// Sums of spreads are those of their amounts for each shard, whatever is unknown.
func TestSumsOfSpreadsAreThoseOfEachShard(t *testing.T) {
	one, two := amount{known: true, value: 1, low: 1, high: 1}, amount{known: true, value: 2, low: 2, high: 2}
	unknown := unknownAmount("notLoaded", "")
	all := []spread{}
	for _, others := range []amount{nothing(), unknown} {
		all = append(all, everywhere(others))
		for _, a := range []amount{one, two, unknown} {
			all = append(all, spread{others, []shardAmount{{1, a}}}, spread{others, []shardAmount{{0, one}, {2, a}}})
		}
	}
	for i := range all {
		for j := range all {
			want, got := make([]amount, 3), make([]amount, 3)
			for _, s := range []spread{all[i], all[j]} {
				for n, a := range s.dense(3) {
					want[n] = want[n].plus(a)
				}
			}
			if addSpreads(got, slices.Values([]*spread{&all[i], &all[j]})); !slices.Equal(got, want) {
				t.Errorf("%+v and %+v: %+v, want %+v", all[i], all[j], got, want)
			}
		}
	}
}
