package survey

import (
	"math"
	"math/rand/v2"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/topology"
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

// population is a collection on three shards with projects of very different sizes and
// rows of very different sizes.
type population struct {
	rows   []SizedRow
	shard  []string
	byName map[string]int64
	truth  map[bson.ObjectID][2]int64
}

func skewedPopulation(seed uint64, projects int) population {
	rng := rand.New(rand.NewPCG(seed, 1))
	p := population{byName: map[string]int64{}, truth: map[bson.ObjectID][2]int64{}}
	for i := range projects {
		id := bson.ObjectID{10: byte(i >> 8), 11: byte(i)}
		for n := 60_000 / ((i + 1) * (i + 1)); n >= 0; n-- {
			size := int64(100 + 200*math.Exp(rng.NormFloat64()))
			shard := []string{"a", "a", "a", "b", "c"}[rng.IntN(5)]
			p.rows = append(p.rows, SizedRow{Project: id, Document: id, Bytes: size})
			p.shard = append(p.shard, shard)
			p.byName[shard]++
			had := p.truth[id]
			p.truth[id] = [2]int64{had[0] + 1, had[1] + size}
		}
	}
	return p
}

// drawSample returns a survey's result for a collection after n rows were sampled.
func (p population) drawSample(seed uint64, n int) Collection {
	rng := rand.New(rand.NewPCG(seed, 2))
	known := func(v int64) topology.Figure { return topology.Figure{Known: true, Exact: true, Value: v} }
	table := &topology.Table{Sizes: map[topology.Namespace]topology.Sizes{"y.changes": {Shards: map[string]topology.Size{}}}}
	for shard, rows := range p.byName {
		table.Sizes["y.changes"].Shards[shard] = topology.Size{Documents: known(rows), Bytes: known(0), Orphans: known(0)}
	}
	part := &samplePart{Target: Target{NS: "y.changes"}, Drawn: true}
	for range n {
		i := rng.IntN(len(p.rows))
		row := p.rows[i]
		one := part.Sums.of(cellKey{row.Project, row.Document, p.shard[i]})
		one.Rows++
		one.Bytes += float64(row.Bytes)
		one.Squares += float64(row.Bytes * row.Bytes)
		part.Sums.Read++
		part.Sums.Top = max(part.Sums.Top, row.Bytes)
	}
	return part.result(table)
}

// containsTruth reports whether the intervals of a project's rows and bytes contain the
// true values.
func (p population) containsTruth(c Collection, id bson.ObjectID) (rows, bytes bool) {
	truth := p.truth[id]
	w := *c.Unseen
	for _, l := range c.Projects {
		if l.Project == id {
			w = l.Weight
		}
	}
	in := func(e Estimate, v int64) bool { return e.Low <= v && v <= e.High }
	return in(w.Rows, truth[0]), in(w.Bytes, truth[1])
}

func TestIntervalContainsTheTruthForNearlyEverySeed(t *testing.T) {
	seeds := 1000
	if testing.Short() {
		seeds = 50
	}
	p := skewedPopulation(1, 60)
	rows, bytes, inside := map[bson.ObjectID]int{}, map[bson.ObjectID]int{}, 0
	for seed := range uint64(seeds) {
		c := p.drawSample(seed, int(rowsWanted(0)))
		for id := range p.truth {
			r, b := p.containsTruth(c, id)
			if r {
				rows[id]++
				inside++
			}
			if b {
				bytes[id]++
				inside++
			}
		}
	}
	if figures := seeds * 2 * len(p.truth); inside < figures*95/100 {
		t.Errorf("%d of %d figures are inside, want at least %v", inside, figures, figures*95/100)
	}
	if testing.Short() {
		return // too few seeds to check each figure separately
	}
	for id, truth := range p.truth {
		if rows[id] < seeds*93/100 || bytes[id] < seeds*93/100 {
			t.Errorf("project of %d rows: rows inside for %d, bytes for %d of %d seeds", truth[0], rows[id], bytes[id], seeds)
		}
	}
}

func TestIntervalsAreNarrowEnoughToBeUseful(t *testing.T) {
	p := skewedPopulation(1, 60)
	c := p.drawSample(5, int(rowsWanted(0)))
	largest := c.Projects[0]
	total := float64(len(p.rows))
	if width := float64(largest.Rows.High-largest.Rows.Low) / total; width > 2*defaultPrecision {
		t.Errorf("the largest project's rows are known to %.3f of all, want at most %v", width, 2*defaultPrecision)
	}
	if width := float64(largest.Bytes.High-largest.Bytes.Low) / float64(largest.Bytes.Value); width > 0.14 {
		t.Errorf("the largest project's bytes are known to %.3f of them, want 0.14", width)
	}
}

func TestUnseenProjectsAreNotZero(t *testing.T) {
	c := skewedPopulation(1, 60).drawSample(5, 500)
	if u := c.Unseen; u.Rows.High <= 0 || u.Bytes.High <= 0 || u.Rows.Exact {
		t.Errorf("got %+v, want Rows.High more than 0, Bytes.High more than 0, Rows.Exact false", u)
	}
	rare := WeightedSum{}.Estimate(1000, WeightedSum{}, 0)
	if rare.Value != 0 || rare.Low != 0 || rare.High != 3000 {
		t.Errorf("rule of three: %+v, want Value 0, Low 0, High 3000", rare)
	}
}

func TestSampleOfAShardWithoutAKnownTotalIsScaledByTheOverallTotal(t *testing.T) {
	p := skewedPopulation(1, 60)
	total := int64(len(p.rows))
	delete(p.byName, "c") // a draining shard that the earlier statistics do not have
	p.byName["a"] += total - p.byName["a"] - p.byName["b"]
	c := p.drawSample(3, 3000)
	if got := c.Projects[0].Rows.Value; got < p.truth[c.Projects[0].Project][0]*9/10 || got > total {
		t.Errorf("%d rows of %d", got, p.truth[c.Projects[0].Project][0])
	}
	var sum int64
	for _, l := range c.Projects {
		sum += l.Rows.Value
	}
	if sum < total*99/100 || sum > total*101/100 {
		t.Errorf("the projects have %d rows of %d, want sum at least %v, sum at most %v", sum, total, total*99/100, total*101/100)
	}
}
