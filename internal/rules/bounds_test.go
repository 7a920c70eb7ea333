package rules

import (
	"maps"
	"testing"

	"shardboard/internal/fault"
	"shardboard/internal/heat"
)

func TestBoundsOfSeverityAreChecked(t *testing.T) {
	got, err := ParseBounds([]string{"hot-rate=2.5", " hot-warn-share = 0 "})
	if err != nil || !maps.Equal(got, Bounds{BoundHotRate: 2.5, BoundWarnShare: 0}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, text := range []string{"", "hot-rate", "hot-rate=-1", "hot-rate=NaN", "hot-rate=Inf", "hot-warn-share=1.1", "heat=3"} {
		if got, err := ParseBounds([]string{text}); fault.Of(err) != fault.Invalid {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

func TestBoundsOfSeverityAreUsed(t *testing.T) {
	wide := withCollection("y.changes", "{doc_id: hashed}", "abcabcabcabc")
	divides := heat.Splitting{Can: true, Code: "divides", Share: 0.3, DocumentText: oid(9).Hex()}
	set := func(b Bound, v float64) change { return func(s *Situation) { s.Bounds = Bounds{b: v} } }
	runCases(t, []ruleCase{
		passes("below the rate", HotChunk, wide, withHotChunk(4, 20, 0.5, divides), set(BoundHotRate, 21)),
		fires("above the rate of warnings", HotChunk, Warn, "hotChunk.project", "split-hot", wide, withHotChunk(4, 20, 0.5, divides),
			set(BoundWarnRate, 20)),
		fires("below the share of warnings", HotShard, Info, "hotShard", "", set(BoundWarnShare, .9), func(s *Situation) {
			s.Writes[0].Shards = []heat.Line{shardLine("a", 8.2), shardLine("b", 1), shardLine("c", 0.8)}
		}),
	})
}
