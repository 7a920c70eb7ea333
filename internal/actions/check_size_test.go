package actions

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/topology"
)

// withSmallChunks sets the chunk size to 1 MB. The donor's mean document has 1,048 bytes,
// so it moves 2,000 documents at once.
func withSmallChunks(s *Situation) { s.Table.Balancer.ChunkBytes = megabyte }

func TestMeasuredSizeDecidesWhetherChunkCanMove(t *testing.T) {
	move := ofChunk(t, 1, "c")
	forced := func(s Situation) Args { a := move(s); a.Force = true; return a }
	median := ofChunk(t, 1, "")
	both := func(s Situation) Args {
		return Args{NS: documents, Bounds: [2]bson.Raw{chunkAt(t, s, documents, 0)[0], chunkAt(t, s, documents, 1)[1]}}
	}
	pin := fixed(Args{Project: "beta", Shard: "c"})
	byBalancer := fixed(Args{Project: "beta", Shard: "c", Mode: ModeBalancer})
	// measure answers for every range that is asked about.
	measure := func(n int64, exact bool) func(*Situation, []Span) {
		return func(s *Situation, of []Span) {
			s.Measured.Ranges = map[Span]topology.RangeSize{}
			for _, p := range of {
				s.Measured.Ranges[p] = topology.RangeSize{Documents: n, Bytes: n * 1048, Mean: 1048, Exact: exact, At: now}
			}
		}
	}
	not := func(reason string) func(*Situation, []Span) {
		return func(s *Situation, _ []Span) { s.Measured.Reason = reason }
	}
	first := func(s *Situation, of []Span) {
		measure(10, false)(s, of[:1])
		s.Measured.Reason = "tooMany"
	}
	waiting := func(s *Situation) {
		s.Activity.Cleanups = []operation.Cleanup{{NS: documents, Shard: "a", Min: doc(t, project(20)), Max: doc(t, project(30))}}
	}
	type changes = []func(*Situation)
	for _, x := range []struct {
		name    string
		version string
		kind    Kind
		args    func(Situation) Args
		change  changes
		measure func(*Situation, []Span)
		want    Verdict
		code    string
	}{
		{"well below", "", MoveChunk, move, changes{withSmallChunks}, measure(100, false), Pass, "size.measured"},
		{"exactly at the limit", "", MoveChunk, move, changes{withSmallChunks}, measure(2000, true), Pass, "size.measured"},
		{"one more", "", MoveChunk, move, changes{withSmallChunks}, measure(2001, true), Block, "size.tooMany"},
		{"one more, 4.4", "4.4.20", MoveChunk, move, changes{withSmallChunks}, measure(2001, true), Block, "size.tooMany"},
		{"one more, 6.0", "6.0.5", MoveChunk, move, changes{withSmallChunks}, measure(2001, true), Block, "size.tooMany"},
		{"one more, 8.0", "8.0.4", MoveChunk, move, changes{withSmallChunks}, measure(2001, true), Block, "size.tooMany"},
		{"at the limit, 8.0", "8.0.4", MoveChunk, move, changes{withSmallChunks}, measure(2000, true), Pass, "size.measured"},
		{"near, only estimated", "", MoveChunk, move, changes{withSmallChunks}, measure(1700, false), Warn, "size.near"},
		{"below a fifth under the limit", "", MoveChunk, move, changes{withSmallChunks}, measure(1599, false), Pass, "size.measured"},
		{"above, only estimated", "", MoveChunk, move, changes{withSmallChunks}, measure(2300, false), Block, "size.tooMany"},
		{"forced", "", MoveChunk, forced, changes{withSmallChunks}, measure(2706, true), Warn, "size.forcedMeasured"},
		{"orphaned documents may be counted", "", MoveChunk, move, changes{withSmallChunks, waiting}, measure(2706, true), Warn, "size.copies"},
		{"the estimate said too big", "", MoveChunk, move, nil, measure(10, false), Pass, "size.measured"},
		{"two large documents, old", "5.0.7", MoveChunk, move, changes{withSmallChunks}, func(s *Situation, of []Span) {
			s.Measured.Ranges = map[Span]topology.RangeSize{of[0]: {Documents: 1, Bytes: 2 * megabyte, Mean: 2 * megabyte, Exact: true, At: now}}
		}, Block, "size.tooMany"},
		{"two large documents, new", "5.0.9", MoveChunk, move, changes{withSmallChunks}, func(s *Situation, of []Span) {
			s.Measured.Ranges = map[Span]topology.RangeSize{of[0]: {Documents: 2, Bytes: 4 * megabyte, Mean: 2 * megabyte, Exact: true, At: now}}
		}, Pass, "size.measured"},
		{"not permitted", "", MoveChunk, move, nil, not("notPermitted"), Warn, "size.unmeasured"},
		{"too slow", "", MoveChunk, move, nil, not("tooSlow"), Warn, "size.unmeasured"},
		{"too slow, and too big by all that is known", "", MoveChunk, move,
			changes{func(s *Situation) { setSizes(s.Table, documents, 10, 300, 10) }}, not("tooSlow"), Block, "size.tooBig"},
		{"a pin, all measured", "", Pin, pin, nil, measure(10, false), Pass, "size.measuredAll"},
		{"a pin, one measured", "", Pin, pin, nil, first, Warn, "size.unmeasured"},
		{"a pin, too big", "", Pin, pin, changes{withSmallChunks}, measure(3000, true), Block, "size.tooMany"},
		{"the balancer moves parts since 6.0.3", "6.0.5", Pin, byBalancer, changes{balancing, withSmallChunks},
			measure(3000, true), Warn, "size.parts"},
		{"and did not before 6.0.3", "5.0.7", Pin, byBalancer, changes{balancing, withSmallChunks}, measure(3000, true), Block, "size.tooMany"},
		{"merged", "", Merge, both, changes{withSmallChunks, withOwners(t, documents, "bbc")}, measure(2001, true), Warn, "size.merged"},
		{"merged, small", "", Merge, both, changes{withSmallChunks, withOwners(t, documents, "bbc")}, measure(2000, true), "", ""},
		{"flagged again", "", ClearJumbo, median, changes{withSmallChunks, withOwners(t, documents, "aBc")}, measure(2001,
			true), Warn, "size.again"},
		{"flag and small", "", ClearJumbo, median, changes{withSmallChunks, withOwners(t, documents, "aBc")}, measure(2000,
			true), Pass, "size.fits"},
	} {
		t.Run(x.name, func(t *testing.T) {
			if x.version == "" {
				x.version = "5.0.7"
			}
			s := cluster(t, "0.6.38", x.version, x.change...)
			d, _ := plan(t, s, x.kind, x.args(s))
			if len(d.Needs.Sizes) == 0 {
				t.Fatal("the draft asks for no size")
			}
			steps := len(d.Steps)
			x.measure(&s, d.Needs.Sizes)
			d, _ = plan(t, s, x.kind, x.args(s))
			if v, code := worstVerdict(d, "size"); v != x.want || code != x.code {
				t.Errorf("%s %s, want %s %s\n%+v", v, code, x.want, x.code, d.Checks)
			}
			if len(d.Steps) != steps {
				t.Errorf("%d steps before measuring and %d after", steps, len(d.Steps))
			}
		})
	}
}

func TestOnlyEstimatesNearLimitAreReadExactly(t *testing.T) {
	s := cluster(t, "0.6.38", "5.0.7", withSmallChunks)
	d, _ := plan(t, s, MoveChunk, Args{NS: documents, Bounds: chunkAt(t, s, documents, 1), To: "c"})
	for n, want := range map[int64]bool{0: false, 1: false, 1599: false, 1600: true, 2000: true, 2400: true, 2401: false, 9000: false} {
		if got := s.NearLimit(d.Needs.Sizes[0], topology.RangeSize{Documents: n, Bytes: n * 1048, Mean: 1048}); got != want {
			t.Errorf("%d documents: %t", n, got)
		}
	}
}
