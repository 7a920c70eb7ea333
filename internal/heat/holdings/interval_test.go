package holdings

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestChiSquareQuantilesMatchPublishedTables(t *testing.T) {
	for _, c := range []struct{ p, freedom, want float64 }{
		{0.025, 2, 0.0506356}, {0.975, 2, 7.377759}, {0.975, 1, 5.023886}, {0.025, 10, 3.246973}, {0.975, 10, 20.483177},
		{0.95, 2, 5.991465}, {0.025, 100, 74.221927}, {0.975, 100, 129.561197}, {0.975, 2000, 2125.84}, {0.025, 2000, 1877.95},
	} {
		if got := chiSquare(c.p, c.freedom); math.Abs(got-c.want) > 1e-4*c.want {
			t.Errorf("chiSquare(%g, %g) = %g, want %g", c.p, c.freedom, got, c.want)
		}
	}
}

// Owners of 1 to 60,000 rows are on shards that are sampled with different weights; 5,000 rows are drawn.
func TestIntervalContainsTheTruthForNearlyEverySeed(t *testing.T) {
	const owners, drawn = 60, 5000
	seeds := map[bool]uint64{true: 50, false: 1000}[testing.Short()]
	var rows []int // the owner of each
	truth := make([]int64, owners)
	for i := range owners {
		truth[i] = int64(60_000/((i+1)*(i+1)) + 1)
		for range truth[i] {
			rows = append(rows, i)
		}
	}
	weights := []float64{0.5, 1, 1.5} // by shard, as multiples of the mean
	inside := 0
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 2))
		sums, all := make([]weightedSum, owners), weightedSum{}
		for range drawn {
			w := weights[rng.IntN(3)] * float64(len(rows)) / drawn
			sums[rows[rng.IntN(len(rows))]].add(1, w, w*w)
			all.add(1, w, w*w)
		}
		for i, s := range sums {
			e := s.estimate(1.5*float64(len(rows))/drawn, all, 0)
			if e.Low <= truth[i] && truth[i] <= e.High && e.Low <= e.Value && e.Value <= e.High {
				inside++
			}
		}
	}
	if figures := int(seeds) * owners; inside < figures*95/100 {
		t.Errorf("%d of %d figures are inside, want at least 95 in 100", inside, figures)
	}
}

func TestWhatWasNotSeenIsNotZero(t *testing.T) {
	if rare := (weightedSum{}).estimate(1000, weightedSum{}, 0); rare.Value != 0 || rare.Low != 0 || rare.High != 3000 {
		t.Errorf("rule of three: %+v, want Value 0, Low 0, High 3000", rare)
	}
}

func TestMostOfAllIsMeasuredByItsComplement(t *testing.T) {
	var most, all weightedSum
	most.add(990, 990, 990)
	all.add(1000, 1000, 1000)
	direct, better := most.estimate(1, all, 0), most.estimate(1, all, 1000)
	if better.Value != 990 || better.High > 1000 || better.High-better.Low >= (direct.High-direct.Low)/2 {
		t.Errorf("%+v, by its complement %+v", direct, better)
	}
}
