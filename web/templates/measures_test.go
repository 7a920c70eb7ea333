package templates

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/topology"
)

func shardsHolding(bytes ...int64) (list []api.Shard, refs Refs) {
	t := &topology.Table{}
	for i, n := range bytes {
		name := fmt.Sprintf("shard-rs-%d", i+1)
		t.Shards = append(t.Shards, topology.Shard{Name: name})
		list = append(list, api.Shard{Name: name, Bytes: api.Figure{Value: &n, Exact: true}})
	}
	return list, RefsOf(t)
}

func TestTheTickIsAnEvenShareOfWhatDoesNotDrain(t *testing.T) {
	for name, c := range map[string]struct {
		bytes  []int64
		drains int // how many of the first
		even   float64
	}{
		"all stay":            {[]int64{3, 1, 1}, 0, 5.0 / 9},
		"one drains":          {[]int64{3, 1, 1}, 1, 2.5 / 3},
		"more than any has":   {[]int64{2, 2, 2}, 1, 1},
		"only one that stays": {[]int64{2, 1}, 1, -1},
	} {
		list, _ := shardsHolding(c.bytes...)
		for i := range list {
			list[i].Draining = i < c.drains
		}
		for i, cell := range ShardCells(list)[0] {
			want := c.even
			if list[i].Draining {
				want = -1
			}
			expect.That(t, math.Abs(cell.Even-want) < 1e-9 && cell.Bar <= 1, "%s: %s is %+v", name, list[i].Name, cell)
		}
	}
}

func TestSmallestSegmentsOfManyShardsAreOne(t *testing.T) {
	bytes := make([]int64, 100)
	for i := range bytes {
		bytes[i] = int64(1000 + i)
	}
	list, refs := shardsHolding(bytes...)
	m := Measures(list, refs, "shard-rs-1")[0]
	last, sum := m.Parts[len(m.Parts)-1], 0.0
	for _, p := range m.Parts {
		sum += p.Share
	}
	if len(m.Parts) > maxParts+1 || math.Abs(sum-1) > 1e-9 || !strings.HasPrefix(last.Title, "80 more shards, ") || last.Label != "80 more" {
		t.Errorf("%d segments that are %v together, the last is %+v", len(m.Parts), sum, last)
	}
	expect.Equal(t, m.Parts[0].Shard.Name, "shard-rs-1", "the shard to keep is not there: %+v", m.Parts[0])
	expect.That(t, strings.Contains(m.Label, "shard-rs-99: ") && strings.HasSuffix(m.Label, last.Title),
		"the words of the picture are not those of its segments: %s", m.Label)
}

func TestFewSegmentsStayAsTheyAre(t *testing.T) {
	list, refs := shardsHolding(5000, 3000, 1)
	m := Measures(list, refs, "")[0]
	expect.That(t, len(m.Parts) == 3 && m.Parts[2].From >= 0.99, "segments: %+v", m.Parts)
}
