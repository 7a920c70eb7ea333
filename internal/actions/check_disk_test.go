package actions

import (
	"testing"

	"shardboard/internal/topology"
)

// Shard a has 40 MB of documents, b 20 and c 10, each in one chunk, and as much of
// clients. A disk has 10,000 MB, of which 500 are reserved.
func TestIncomingDataIsCheckedAgainstDiskSpace(t *testing.T) {
	move := func(s Situation) Args { return Args{NS: documents, Bounds: chunkAt(t, s, documents, 1), To: "c"} }
	pin := func(Situation) Args { return Args{Project: "beta", Shard: "c"} }
	balancer := func(Situation) Args { return Args{Project: "beta", Shard: "c", Mode: ModeBalancer} }
	isolate := func(Situation) Args { return Args{Project: "beta", Shard: "b"} }
	spread := func(Situation) Args { return Args{Project: "beta"} }
	type changes = []func(*Situation)
	used := func(mb ...int64) func(*Situation) { return func(s *Situation) { setDisks(s.Table, mb...) } }
	big := func(mb ...int64) func(*Situation) {
		return func(s *Situation) { setSizes(s.Table, documents, mb...); setSizes(s.Table, clients, mb...) }
	}
	reason := func(shard, why string) func(*Situation) {
		return func(s *Situation) { s.Table.Disks[shard] = topology.NoDisk(why) }
	}
	sizeless := func(s *Situation) { s.Table.Sizes = nil }
	eu := func(shards string) func(*Situation) { return zone(t, "eu", shards, clients, from(t, 20), from(t, 21)) }
	for _, x := range []struct {
		name   string
		kind   Kind
		args   func(Situation) Args
		change changes
		want   Verdict
		code   string
	}{
		{"room", MoveChunk, move, nil, Pass, "disk.fits"},
		{"room to the last", MoveChunk, move, changes{used(0, 0, 8900)}, Pass, "disk.fits"},
		{"nine tenths", MoveChunk, move, changes{used(0, 0, 8980)}, Warn, "disk.tight"},
		{"all but what is kept", MoveChunk, move, changes{used(0, 0, 9480)}, Warn, "disk.tight"},
		{"more than that", MoveChunk, move, changes{used(0, 0, 9481)}, Block, "disk.full"},
		{"the donor's is full", MoveChunk, move, changes{used(0, 9999, 0)}, Pass, "disk.fits"},
		{"full", MoveChunk, move, changes{used(0, 0, 10_000)}, Block, "disk.full"},
		{"not read", MoveChunk, move,
			changes{func(s *Situation) { s.Table.Disks = nil; s.Table.Health[topology.PartDisks] = topology.Health{} }}, Pass, "disk.unknown"},
		{"not permitted", MoveChunk, move, changes{func(s *Situation) {
			s.Table.Disks = nil
			s.Table.Health[topology.PartDisks] = topology.Health{Denied: true, Privilege: "dbStats on y"}
		}}, Pass, "disk.unknown"},
		{"another's is not known", MoveChunk, move, changes{reason("a", "noDisk")}, Pass, "disk.fits"},
		{"its is not known", MoveChunk, move, changes{reason("c", "noDisk")}, Pass, "disk.unknown"},
		{"what comes is not known", MoveChunk, move, changes{sizeless}, Pass, "disk.comesUnknown"},
		{"what comes is not known, and it is tight", MoveChunk, move, changes{sizeless, used(0, 0, 9300)}, Warn, "disk.tightUnknown"},
		{"a split needs none", Split, func(s Situation) Args { return Args{NS: documents, Bounds: chunkAt(t, s, documents, 1)} },
			changes{used(9999, 9999, 9999)}, "", ""},

		// Of b's chunk of documents, beta is one project of two; of clients it is half of a's and half of b's.
		{"a pin adds its collections up", Pin, pin, changes{big(3200, 3200, 0), used(0, 0, 4800)}, Block, "disk.full"},
		{"each alone would fit", MoveChunk, move, changes{big(3200, 3200, 0), used(0, 0, 4800)}, Pass, "disk.fits"},
		{"a pin by the balancer", Pin, balancer, changes{balancing, big(3200, 3200, 0), used(0, 0, 4800)}, Block, "disk.full"},
		{"what is estimated might not fit", Pin, pin, changes{big(3000, 3000, 0), used(0, 0, 4200)}, Warn, "disk.tight"},
		{"isolating moves the others away", Isolate, isolate, changes{used(9800, 0, 9800)}, Block, "disk.full"},
		{"spreading", Spread, spread, changes{used(0, 0, 9999)}, Block, "disk.full"},

		{"a zone of one shard", ZoneSetRange, rangeArgs("eu", 15, 40), changes{eu("c"), used(0, 0, 9999)}, Block, "disk.full"},
		{"a zone of one shard with space", ZoneSetRange, rangeArgs("eu", 15, 40), changes{eu("c")}, Pass, "disk.fits"},
		{"a zone of two", ZoneSetRange, rangeArgs("eu", 15, 40), changes{eu("ac"), used(9600, 0, 9600)}, Block, "disk.full.together"},
		{"a zone of two shards, one with space", ZoneSetRange, rangeArgs("eu", 15, 40), changes{eu("ac"), used(9999, 0, 0)},
			Pass, "disk.fits.together"},
		{"a zone of two shards, one disk not known", ZoneSetRange, rangeArgs("eu", 15, 40), changes{eu("ac"), reason("a", "noDisk")}, Pass,
			"disk.unknown"},
		{"a zone of two shards, one draining", ZoneSetRange, rangeArgs("eu", 15, 40),
			changes{eu("ac"), draining("a"), used(0, 0, 9999)}, Block, "disk.full"},
		{"a range that moves nothing", ZoneSetRange, rangeArgs("eu", 20, 40), changes{eu("b"), used(9999, 9999, 9999)}, "", ""},
		{"bytes of a range are not known", ZoneSetRange, rangeArgs("eu", 15, 40), changes{eu("c"), sizeless}, Pass, "disk.comesUnknown"},
		{"leaving a zone", ZoneRemoveShard, func(Situation) Args { return Args{Shard: "b", Zone: "eu"} },
			changes{zone(t, "eu", "bc", documents, from(t, 20), from(t, 40)), used(0, 0, 9999)}, Block, "disk.full"},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := cluster(t, "0.6.38", "5.0.7", x.change...)
			d, _ := plan(t, s, x.kind, x.args(s))
			if v, code := worstVerdict(d, "disk"); v != x.want || code != x.code {
				t.Errorf("%s %s, want %s %s\n%+v", v, code, x.want, x.code, d.Checks)
			}
		})
	}
}
