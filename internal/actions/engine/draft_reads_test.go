package engine

import (
	"context"
	"slices"
	"testing"

	"shardboard/internal/actions"
	"shardboard/internal/topology"
)

// readings notes what is read.
type readings struct{ writes []actions.Span }

func (r *readings) RecentWrites(_ context.Context, _ *topology.Table, of []actions.Span) actions.Writes {
	r.writes = append(r.writes, of...)
	return actions.Writes{}
}

// What is read may show that more is needed.
func TestADraftIsMadeUntilItHasReadWhatItNeeds(t *testing.T) {
	a, b := actions.Span{NS: "d.a"}, actions.Span{NS: "d.b"}
	stages := []actions.Needs{{Writes: []actions.Span{a}}, {Writes: []actions.Span{b}}, // what cannot be read is not waited for:
		{Writes: []actions.Span{a}, Indexes: "d.a", Sizes: []actions.Span{a}}}
	var reads readings
	e := planning{base: &base{opts: Options{Recent: &reads}}} // reads no indexes and no sizes
	drafts := 0
	d, err := e.draftWithReads(t.Context(), &actions.Situation{}, func(actions.Situation) (actions.Draft, error) {
		need := stages[min(drafts, len(stages)-1)]
		drafts++
		return actions.Draft{Needs: need}, nil
	})
	if err != nil || drafts != 3 || !slices.Equal(reads.writes, []actions.Span{a, a, b}) || d.Needs.Writes != nil {
		t.Errorf("%v, %d drafts, read %v, %+v", err, drafts, reads.writes, d.Needs)
	}
}
