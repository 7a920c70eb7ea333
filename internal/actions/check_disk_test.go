package actions

import (
	"strings"
	"testing"

	"shardboard/internal/topology"
)

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
		expect("room", MoveChunk, move, Pass, "disk.fits"),
		expect("room to the last", MoveChunk, move, Pass, "disk.fits", used(0, 0, 8900)),
		expect("nine tenths", MoveChunk, move, Warn, "disk.tight", used(0, 0, 8980)),
		expect("all but what is kept", MoveChunk, move, Warn, "disk.tight", used(0, 0, 9480)),
		expect("more than that", MoveChunk, move, Block, "disk.full", used(0, 0, 9481)),
		expect("a hundredth of what is free", MoveChunk, move, Warn, "disk.tight", big(3, 3, 3), used(0, 0, 9700)),
		expect("the donor's is full", MoveChunk, move, Pass, "disk.fits", used(0, 9999, 0)),
		expect("full", MoveChunk, move, Block, "disk.full", used(0, 0, 10_000)),
		expect("not read", MoveChunk, move, Pass, "disk.unknown",
			func(s *Situation) { s.Table.Disks = nil; s.Table.Health[topology.PartDisks] = topology.Health{} }),
		expect("not permitted", MoveChunk, move, Pass, "disk.unknown", func(s *Situation) {
			s.Table.Disks = nil
			s.Table.Health[topology.PartDisks] = topology.Health{Denied: true, Privilege: "dbStats on y"}
		}),
		expect("another's is not known", MoveChunk, move, Pass, "disk.fits", reason("a", "noDisk")),
		expect("its is not known", MoveChunk, move, Pass, "disk.unknown", reason("c", "noDisk")),
		expect("what comes is not known", MoveChunk, move, Pass, "disk.comesUnknown", sizeless),
		expect("what comes is not known, and it is tight", MoveChunk, move, Warn, "disk.tightUnknown", sizeless, used(0, 0, 9300)),
		expect("a split needs none", Split, ofChunk(t, 1, ""), "", "disk", used(9999, 9999, 9999)),

		// Of b's chunk of documents, beta is one project of two; of clients it is half of a's and half of b's.
		expect("a pin adds its collections up", Pin, pin, Block, "disk.full", big(3200, 3200, 0), used(0, 0, 4800)),
		expect("each alone would fit", MoveChunk, move, Pass, "disk.fits", big(3200, 3200, 0), used(0, 0, 4800)),
		expect("a pin by the balancer", Pin, balancer, Block, "disk.full", balancing, big(3200, 3200, 0), used(0, 0, 4800)),
		expect("what is estimated might not fit", Pin, pin, Warn, "disk.tight", big(3000, 3000, 0), used(0, 0, 4200)),
		expect("isolating moves the others away", Isolate, isolate, Block, "disk.full", used(9800, 0, 9800)),
		expect("spreading", Spread, spread, Block, "disk.full", used(0, 0, 9999)),

		expect("a zone of one shard", ZoneSetRange, rangeArgs("eu", 15, 40), Block, "disk.full", eu("c"), used(0, 0, 9999)),
		expect("a zone of one shard with space", ZoneSetRange, rangeArgs("eu", 15, 40), Pass, "disk.fits", eu("c")),
		expect("a zone of two", ZoneSetRange, rangeArgs("eu", 15, 40), Block, "disk.full.together", eu("ac"), used(9600, 0, 9600)),
		expect("a zone of two shards, one with space", ZoneSetRange, rangeArgs("eu", 15, 40), Pass, "disk.fits.together",
			eu("ac"), used(9999, 0, 0)),
		expect("a zone of two shards, one disk not known", ZoneSetRange, rangeArgs("eu", 15, 40), Pass, "disk.unknown",
			eu("ac"), reason("a", "noDisk")),
		expect("a zone of two shards, one draining", ZoneSetRange, rangeArgs("eu", 15, 40), Block, "disk.full",
			eu("ac"), draining("a"), used(0, 0, 9999)),
		expect("a range that moves nothing", ZoneSetRange, rangeArgs("eu", 20, 40), "", "disk", eu("b"), used(9999, 9999, 9999)),
		expect("bytes of a range are not known", ZoneSetRange, rangeArgs("eu", 15, 40), Pass, "disk.comesUnknown",
			eu("c"), sizeless),
		expect("leaving a zone", ZoneRemoveShard, fixed(Args{Shard: "b", Zone: "eu"}), Block, "disk.full",
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
