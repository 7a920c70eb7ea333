package simcluster

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/must"
)

// Random faults on random commands: the chunks still partition the key space, versions
// only increase, and every document is found exactly once.
func TestRandomFaultsLoseNothing(t *testing.T) {
	seeds := uint64(10)
	if !testing.Short() {
		seeds = 100
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			inBubble(t, func(s *faultFixture) {
				rng := rand.New(rand.NewPCG(seed, 0xfa17))
				t, newest := s.t, uint64(0)
				for range 20 {
					cmd := s.randomCommand(rng)
					rule := s.randomRule(rng, cmd[0].Key)
					s.cluster.Faults().Add(rule)
					t.Log(cmd, rule.Command, rule.At, rule.Do != nil, rule.Cut, rule.StepDown, rule.Err, rule.GoOn, rule.Delay)
					err := s.run("admin", cmd)
					time.Sleep(time.Minute)
					s.cluster.Faults().Heal()
					newest = s.checkConsistency(newest, fmt.Sprintf("%v: %v under %+v", cmd, err, rule))
				}
				if n := len(s.cluster.Faults().Hits()); n < 8 {
					t.Errorf("only %d of 20 faults struck", n)
				}
			}, func(o *Options) { o.OrphanDelay = 30 * time.Second })
		})
	}
}

func (s *faultFixture) randomRule(rng *rand.Rand, command string) Rule {
	points := slices.DeleteFunc(FaultPoints(), func(p FaultPoint) bool { return p.Command != command })
	p := points[rng.IntN(len(points))]
	r := Rule{Command: p.Command, At: p.At, GoOn: rng.IntN(4) == 0}
	if rng.IntN(3) == 0 {
		r.Delay = time.Duration(rng.IntN(5000)) * time.Millisecond
	}
	switch rng.IntN(6) {
	case 0:
		r.Err = Fail([]int32{10107, 11602, 189, 13388, 150, 117, 46, 194, 153, 200, 70}[rng.IntN(11)])
	case 1:
		r.Cut = true
	case 2:
		r.StepDown = true
	case 3:
		r.Twice = true
	case 4:
		r.Do = Other("admin", s.randomCommand(rng))
	case 5:
		r.Do = Round
	}
	return r
}

func (s *faultFixture) randomCommand(rng *rand.Rand) bson.D {
	reply := mustRun(s.t, s.cluster, "config", d("find", "chunks", "sort", d("min", 1)))
	rows, _ := reply.Lookup("cursor", "firstBatch").Array().Values()
	at := rng.IntN(len(rows))
	chunk := rows[at].Document()
	lo, hi := chunk.Lookup("min"), chunk.Lookup("max")
	shard := fmt.Sprint("shard-rs-", 1+rng.IntN(3))
	switch rng.IntN(7) {
	case 0, 1:
		return d("split", "app.c", "middle", d("p", int32(rng.IntN(200))))
	case 2:
		end := rows[min(at+1, len(rows)-1)].Document().Lookup("max")
		return d("mergeChunks", "app.c", "bounds", bson.A{lo, end})
	case 3:
		return d("addShardToZone", shard, "zone", "z")
	}
	return d("moveChunk", "app.c", "bounds", bson.A{lo, hi}, "to", shard, "_waitForDelete", rng.IntN(2) == 0)
}

// checkConsistency checks the cluster and returns the newest chunk version, which must
// not be older than before.
func (s *faultFixture) checkConsistency(before uint64, what string) uint64 {
	s.t.Helper()
	reply := mustRun(s.t, s.cluster, "config", d("find", "chunks", "sort", d("min", 1)))
	rows, _ := reply.Lookup("cursor", "firstBatch").Array().Values()
	var end bson.RawValue
	newest, seen := uint64(0), make(map[uint64]bool)
	for i, r := range rows {
		chunk := r.Document()
		if i == 0 && chunk.Lookup("min", "p").Type != bson.TypeMinKey || i > 0 && !chunk.Lookup("min").Equal(end) {
			s.t.Fatalf("%s: the chunks have a gap before %s", what, chunk)
		}
		end = chunk.Lookup("max")
		major, minor, _ := chunk.Lookup("lastmod").TimestampOK()
		version := uint64(major)<<32 | uint64(minor)
		must.That(s.t, !seen[version], "%s: two chunks have version %d|%d", what, major, minor)
		seen[version], newest = true, max(newest, version)
	}
	if end.Document().Lookup("p").Type != bson.TypeMaxKey || newest < before {
		s.t.Fatalf("%s: chunks end at %s, version %x after %x", what, end, newest, before)
	}
	for p := range int32(200) {
		if n := mustRun(s.t, s.cluster, "app", d("count", "c", "query", d("p", p))).Lookup("n"); n.Int32() != 1 {
			s.t.Fatalf("%s: document %d is found %s times", what, p, n)
		}
	}
	if n := mustRun(s.t, s.cluster, "app", d("count", "c", "query", d("p", d("$gte", 0)))).Lookup("n"); n.Int32() != 200 {
		s.t.Fatalf("%s: %s documents", what, n)
	}
	return newest
}
