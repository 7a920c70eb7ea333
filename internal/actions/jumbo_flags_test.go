package actions

import (
	"slices"
	"testing"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// manyChunks makes a collection of n chunks, all on shard a.
func manyChunks(t testing.TB, n int) (Situation, *topology.Collection) {
	s := cluster(t, "0.6.38", "5.0.7")
	c := collectionIn(&s, changes)
	var bounds []shardkey.Key
	owners := []byte{'a'}
	for i := range n - 1 {
		bounds = append(bounds, keyOf(t, c.Key, int64(i)))
		owners = append(owners, 'a')
	}
	*c = *collection(t, changes, c.Key, bounds, string(owners))
	return s, c
}

func spans(c *topology.Collection, chunks ...int) (out []Span) {
	for _, i := range chunks {
		ch := c.Chunks.At(i)
		out = append(out, Span{NS: c.NS, Min: ch.Min, Max: ch.Max})
	}
	return out
}

func TestFlagReadsJoinNeighboursAndAreBounded(t *testing.T) {
	s, c := manyChunks(t, 5000)
	every := func(step, n int) (out []int) {
		for i := range n {
			out = append(out, i*step)
		}
		return out
	}
	for _, x := range []struct {
		name   string
		spans  []Span
		limits []int
		all    bool
	}{
		{"none", nil, nil, true},
		{"one chunk", spans(c, 7), []int{1}, true},
		{"neighbours in any order", spans(c, 9, 7, 8, 7), []int{3}, true},
		{"near ones", spans(c, 10, 60), []int{51}, true},
		{"far ones", spans(c, 10, 1000), []int{1, 1}, true},
		{"too many chunks", []Span{{NS: changes, Min: c.Key.Min(), Max: c.Key.Max()}}, []int{flagChunks}, false},
		{"too many reads", spans(c, every(200, flagReads+1)...), slices.Repeat([]int{1}, flagReads), false},
		{"a collection that is gone", []Span{{NS: "gone.gone", Min: c.Key.Min(), Max: c.Key.Max()}}, nil, true},
	} {
		reads, all := FlagReads(s.Table, x.spans)
		var limits []int
		for _, r := range reads {
			limits = append(limits, r.Limit)
		}
		expect.That(t, all == x.all && slices.Equal(limits, x.limits),
			"%s: %v, all %v; want %v, %v", x.name, limits, all, x.limits, x.all)
	}
	if reads, _ := FlagReads(s.Table, spans(c, 7)); reads[0].From.Compare(c.Chunks.At(7).Min) != 0 {
		t.Error("the read does not begin at the chunk")
	}
}

// The flags of chunks that a plan splits are not preconditions, because a split clears them.
func TestMoveRequiresFlagItWasPlannedWith(t *testing.T) {
	for version, want := range map[string]string{"5.0.7": "", "6.0.9": "false"} {
		s := cluster(t, "0.6.38", version)
		whole := chunkAt(t, s, documents, 1)
		d, _ := plan(t, s, MoveChunk, Args{NS: documents, Bounds: whole, Min: doc(project(30)), To: "c"})
		last := d.Steps[len(d.Steps)-1]
		for _, f := range last.Needs {
			expect.That(t, f.Kind != operation.FactChunk || f.Want["jumbo"] == want,
				"%s: needs the flag to be %q, want %q", version, f.Want["jumbo"], want)
		}
		expect.That(t, len(d.Needs.Flags) != 0, "%s: looked at no chunk", version)
	}
}
