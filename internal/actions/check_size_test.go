package actions

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
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
		s.Activity.Cleanups = []operation.Cleanup{{NS: documents, Shard: "a", Min: doc(project(20)), Max: doc(project(30))}}
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
			must.That(t, len(d.Needs.Sizes) != 0, "the draft asks for no size")
			steps := len(d.Steps)
			x.measure(&s, d.Needs.Sizes)
			d, _ = plan(t, s, x.kind, x.args(s))
			if v, code := worstVerdict(d, "size"); v != x.want || code != x.code {
				t.Errorf("%s %s, want %s %s\n%+v", v, code, x.want, x.code, d.Checks)
			}
			expect.That(t, len(d.Steps) == steps, "%d steps before measuring and %d after", steps, len(d.Steps))
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

// Shard a has 40 MB of documents, b 20 and c 10, each in one chunk, and as much of
// clients. A disk has 10,000 MB, of which 500 are reserved.
func TestIncomingDataIsCheckedAgainstDiskSpace(t *testing.T) {
	move := ofChunk(t, 1, "c")
	pin := fixed(Args{Project: "beta", Shard: "c"})
	balancer := fixed(Args{Project: "beta", Shard: "c", Mode: ModeBalancer})
	isolate := fixed(Args{Project: "beta", Shard: "b"})
	spread := fixed(Args{Project: "beta"})
	used := func(mb ...int64) func(*Situation) { return func(s *Situation) { setDisks(s.Table, mb...) } }
	big := func(mb ...int64) func(*Situation) {
		return func(s *Situation) { setSizes(s.Table, documents, mb...); setSizes(s.Table, clients, mb...) }
	}
	reason := func(shard, why string) func(*Situation) {
		return func(s *Situation) { s.Table.Disks[shard] = topology.NoDisk(why) }
	}
	sizeless := func(s *Situation) { s.Table.Sizes = nil }
	eu := func(shards string) func(*Situation) { return zone(t, "eu", shards, clients, from(t, 20), from(t, 21)) }
	runChecks(t, "0.6.38", []checkCase{
		caseOf("room", MoveChunk, move, Pass, "disk.fits"),
		caseOf("room to the last", MoveChunk, move, Pass, "disk.fits", used(0, 0, 8900)),
		caseOf("nine tenths", MoveChunk, move, Warn, "disk.tight", used(0, 0, 8980)),
		caseOf("all but what is kept", MoveChunk, move, Warn, "disk.tight", used(0, 0, 9480)),
		caseOf("more than that", MoveChunk, move, Block, "disk.full", used(0, 0, 9481)),
		caseOf("a hundredth of what is free", MoveChunk, move, Warn, "disk.tight", big(3, 3, 3), used(0, 0, 9700)),
		caseOf("the donor's is full", MoveChunk, move, Pass, "disk.fits", used(0, 9999, 0)),
		caseOf("full", MoveChunk, move, Block, "disk.full", used(0, 0, 10_000)),
		caseOf("not read", MoveChunk, move, Pass, "disk.unknown",
			func(s *Situation) { s.Table.Disks = nil; s.Table.Health[topology.PartDisks] = topology.Health{} }),
		caseOf("not permitted", MoveChunk, move, Pass, "disk.unknown", func(s *Situation) {
			s.Table.Disks = nil
			s.Table.Health[topology.PartDisks] = topology.Health{Denied: true, Privilege: "dbStats on y"}
		}),
		caseOf("another's is not known", MoveChunk, move, Pass, "disk.fits", reason("a", "noDisk")),
		caseOf("its is not known", MoveChunk, move, Pass, "disk.unknown", reason("c", "noDisk")),
		caseOf("what comes is not known", MoveChunk, move, Pass, "disk.comesUnknown", sizeless),
		caseOf("what comes is not known, and it is tight", MoveChunk, move, Warn, "disk.tightUnknown", sizeless, used(0, 0, 9300)),
		caseOf("a split needs none", Split, ofChunk(t, 1, ""), "", "disk", used(9999, 9999, 9999)),

		// Of b's chunk of documents, beta is one project of two; of clients it is half of a's and half of b's.
		caseOf("a pin adds its collections up", Pin, pin, Block, "disk.full", big(3200, 3200, 0), used(0, 0, 4800)),
		caseOf("each alone would fit", MoveChunk, move, Pass, "disk.fits", big(3200, 3200, 0), used(0, 0, 4800)),
		caseOf("a pin by the balancer", Pin, balancer, Block, "disk.full", balancing, big(3200, 3200, 0), used(0, 0, 4800)),
		caseOf("what is estimated might not fit", Pin, pin, Warn, "disk.tight", big(3000, 3000, 0), used(0, 0, 4200)),
		caseOf("isolating moves the others away", Isolate, isolate, Block, "disk.full", used(9800, 0, 9800)),
		caseOf("spreading", Spread, spread, Block, "disk.full", used(0, 0, 9999)),

		caseOf("a zone of one shard", ZoneSetRange, rangeArgs("eu", 15, 40), Block, "disk.full", eu("c"), used(0, 0, 9999)),
		caseOf("a zone of one shard with space", ZoneSetRange, rangeArgs("eu", 15, 40), Pass, "disk.fits", eu("c")),
		caseOf("a zone of two", ZoneSetRange, rangeArgs("eu", 15, 40), Block, "disk.full.together", eu("ac"), used(9600, 0, 9600)),
		caseOf("a zone of two shards, one with space", ZoneSetRange, rangeArgs("eu", 15, 40), Pass, "disk.fits.together",
			eu("ac"), used(9999, 0, 0)),
		caseOf("a zone of two shards, one disk not known", ZoneSetRange, rangeArgs("eu", 15, 40), Pass, "disk.unknown",
			eu("ac"), reason("a", "noDisk")),
		caseOf("a zone of two shards, one draining", ZoneSetRange, rangeArgs("eu", 15, 40), Block, "disk.full",
			eu("ac"), draining("a"), used(0, 0, 9999)),
		caseOf("a range that moves nothing", ZoneSetRange, rangeArgs("eu", 20, 40), "", "disk", eu("b"), used(9999, 9999, 9999)),
		caseOf("bytes of a range are not known", ZoneSetRange, rangeArgs("eu", 15, 40), Pass, "disk.comesUnknown",
			eu("c"), sizeless),
		caseOf("leaving a zone", ZoneRemoveShard, fixed(Args{Shard: "b", Zone: "eu"}), Block, "disk.full",
			zone(t, "eu", "bc", documents, from(t, 20), from(t, 40)), used(0, 0, 9999)),
	})
}

// What may go to one of several shards counts for each of them, and each is told that it may.
func TestDataThatMayComeElsewhereIsNoPromise(t *testing.T) {
	says := func(k Kind, args Args) (out []string) {
		d, _ := plan(t, cluster(t, "0.6.38", "5.0.7"), k, args)
		for _, c := range d.Checks {
			if c.ID == "disk" {
				out = append(out, c.Text.String())
			}
		}
		return out
	}
	isolated := says(Isolate, Args{Project: "beta", Shard: "b"})
	if n := strings.Count(strings.Join(isolated, "\n"), " may move to "); n != 2 {
		t.Errorf("the others go to a or c: %q", isolated)
	}
	if pinned := says(Pin, Args{Project: "beta", Shard: "c"}); len(pinned) != 1 || !strings.Contains(pinned[0], " move to ") ||
		strings.Contains(pinned[0], " may ") {
		t.Errorf("it goes to c: %q", pinned)
	}
}
