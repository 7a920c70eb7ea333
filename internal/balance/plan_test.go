package balance

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/routing"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

const megabyte = 1 << 20

// layout is a table with one collection, db.t on {p: 1}, whose chunk i begins
// at 10·i (the first at MinKey) and is on the i-th letter's shard. A capital
// letter is a jumbo chunk.
type layout struct {
	version string
	owners  string
	shards  string   // letters of the shards; default abc
	zones   []string // "zone letters from to", bounds in units of p
	change  func(*topology.Table, *topology.Collection)
}

func (l layout) table(t testing.TB) (*topology.Table, *topology.Collection) {
	t.Helper()
	p := routing.Pattern("p")
	bound := func(n int) shardkey.Key { return routing.Bound(p, int32(n)) }
	var rows []topology.Chunk
	for i, o := range l.owners {
		ch := topology.Chunk{Min: bound(10 * i), Max: bound(10*i + 10), Shard: string(o | 0x20), Jumbo: o < 'a',
			Version: topology.Version{Major: 1, Minor: uint32(i)}}
		if i == 0 {
			ch.Min = p.Min()
		}
		if i == len(l.owners)-1 {
			ch.Max = p.Max()
		}
		rows = append(rows, ch)
	}
	chunks := must.Get(topology.BuildChunks(p, rows))
	c := &topology.Collection{Meta: topology.Meta{NS: "db.t", Key: p}, Chunks: chunks}
	if l.version == "" {
		l.version = "5.0.7"
	}
	tab := &topology.Table{
		ServerInfo: topology.ServerInfo{Version: l.version}, Collections: []*topology.Collection{c}, Loaded: true,
		Balancer: topology.Balancer{Known: true, Mode: "full", ChunkBytes: 128 * megabyte},
		Sizes:    map[topology.Namespace]topology.Sizes{},
		Health:   map[topology.Part]topology.Health{topology.PartZones: {At: time.Unix(1, 0)}, topology.PartEvents: {At: time.Unix(1, 0)}},
	}
	if l.shards == "" {
		l.shards = "abc"
	}
	for _, s := range l.shards {
		tab.Shards = append(tab.Shards, topology.Shard{Name: string(s)})
	}
	for _, z := range l.zones {
		var zone, letters string
		var from, to int
		must.Do(t, must.Err(fmt.Sscan(z, &zone, &letters, &from, &to)))
		tab.Zones = append(tab.Zones, topology.ZoneRange{NS: "db.t", Zone: zone, Min: bound(from), Max: bound(to)})
		for i := range tab.Shards {
			if letters != "-" && slices.Contains([]byte(letters), tab.Shards[i].Name[0]) {
				tab.Shards[i].Zones = append(tab.Shards[i].Zones, zone)
			}
		}
	}
	if l.change != nil {
		l.change(tab, c)
	}
	return tab, c
}

func drainShard(letter string) func(*topology.Table, *topology.Collection) {
	return func(t *topology.Table, _ *topology.Collection) { t.Shard(letter).Draining = true }
}

// shardSizes sets the megabytes of db.t on each shard.
func shardSizes(mb ...int64) func(*topology.Table, *topology.Collection) {
	return func(t *topology.Table, _ *topology.Collection) {
		s := topology.Sizes{NS: "db.t", At: time.Unix(1, 0), Shards: map[string]topology.Size{}}
		for i, n := range mb {
			s.Shards[t.Shards[i].Name] = topology.Size{Bytes: topology.Figure{Known: true, Value: n * megabyte}}
		}
		t.Sizes["db.t"] = s
	}
}

func TestEachRuleKeepsOrMovesItsChunk(t *testing.T) {
	begun, _ := bson.Marshal(bson.D{{Key: "from", Value: "a"}, {Key: "to", Value: "b"}})
	for _, x := range []struct {
		name  string
		l     layout
		chunk int
		want  Decision
		code  string // an expected verdict
		to    string
	}{
		{"more than the even number", layout{owners: "aaaabc"}, 0, Moves, "threshold.countOver", "b"},
		{"one more than the rounded even number is tolerated", layout{owners: "aabc"}, 0, Stays, "threshold.countNoRoom", ""},
		{"a higher chunk waits for the lowest", layout{owners: "aaaabc"}, 1, Waiting, "turn.first", ""},
		{"no shard has room", layout{owners: "aaabbcc"}, 0, Stays, "threshold.countNoRoom", ""},
		{"a single shard", layout{owners: "aaa", shards: "a"}, 0, Stays, "threshold.countEven", ""},
		{"the fullest's jumbo chunk stays, the next goes", layout{owners: "Aaaabc"}, 0, Stays, "jumbo.flagged", ""},
		{"after a jumbo chunk", layout{owners: "Aaaabc"}, 1, Moves, "turn.next", "b"},
		{"draining empties whatever the counts", layout{owners: "abc", change: drainShard("a")}, 0, Moves, "draining.on", "b"},
		{"a jumbo chunk stays on a draining shard", layout{owners: "Abc", change: drainShard("a")}, 0, Stays, "jumbo.flagged", ""},
		{"no receiver while all others drain", layout{owners: "ab", shards: "ab", change: func(t *topology.Table, c *topology.Collection) {
			drainShard("a")(t, c)
			drainShard("b")(t, c)
		}}, 0, Stays, "receiver.none", ""},
		{"outside of its zone", layout{owners: "abc", zones: []string{"z c 10 20"}}, 1, Moves, "zone.wrong", "c"},
		{"in its zone", layout{owners: "abc", zones: []string{"z b 10 20"}}, 1, Stays, "zone.kept", ""},
		{"a zone without a shard", layout{owners: "abc", zones: []string{"z - 10 20"}}, 1, Stays, "zone.noShard", ""},
		{"cut at the edge and moved in the same round", layout{owners: "abc", zones: []string{"z c 15 20"}}, 1, Moves, "zone.wrong", "c"},
		{"balancer off", layout{owners: "aaaabc",
			change: func(t *topology.Table, _ *topology.Collection) { t.Balancer.Stopped = true }}, 0, Stays, "balancer.off", ""},
		{"splits only", layout{owners: "aaaabc",
			change: func(t *topology.Table, _ *topology.Collection) { t.Balancer.Mode = "autoSplitOnly" }}, 0, Stays, "balancer.splitsOnly", ""},
		{"settings unread", layout{owners: "aaaabc",
			change: func(t *topology.Table, _ *topology.Collection) { t.Balancer = topology.Balancer{} }}, 0, Undecided, "balancer.unread", ""},
		{"window with an unknown clock", layout{owners: "aaaabc", change: func(t *topology.Table, _ *topology.Collection) {
			t.Balancer.WindowStart, t.Balancer.WindowStop = "01:00", "05:00"
		}}, 0, Undecided, "window.clock", ""},
		{"noBalance", layout{owners: "aaaabc", change: func(_ *topology.Table, c *topology.Collection) { c.NoBalance = true }},
			0, Stays, "noBalance.on", ""},
		{"allowMigrations", layout{owners: "aaaabc",
			change: func(_ *topology.Table, c *topology.Collection) { c.MigrationsBlocked = true }}, 0, Stays, "allowMigrations.blocked", ""},
		{"resharding", layout{owners: "aaaabc", change: func(_ *topology.Table, c *topology.Collection) { c.Resharding = true }},
			0, Stays, "resharding.on", ""},
		{"tracked but unsharded (8.0)", layout{owners: "a", version: "8.0.4", change: func(t *topology.Table, c *topology.Collection) {
			c.Unsplittable = true
			shardSizes(900, 0, 0)(t, c)
		}}, 0, Stays, "tracked.unsharded", ""},
		{"a migration of its shard is running", layout{owners: "aaaabc", change: func(t *topology.Table, _ *topology.Collection) {
			t.Events = []topology.Event{{What: "moveChunk.start", NS: "db.other", Shard: "a", Details: begun}}
		}}, 0, Waiting, "busy.shard", ""},
		{"that migration has ended", layout{owners: "aaaabc", change: func(t *topology.Table, _ *topology.Collection) {
			t.Events = []topology.Event{{What: "moveChunk.commit", NS: "db.other", Shard: "a", Details: begun},
				{What: "moveChunk.start", NS: "db.other", Shard: "a", Details: begun}}
		}}, 0, Moves, "busy.free", "b"},
		{"zones unread", layout{owners: "aaaabc", change: func(t *topology.Table, _ *topology.Collection) {
			t.Health[topology.PartZones] = topology.Health{Err: errors.New("code 13"), Denied: true}
		}}, 0, Undecided, "zone.unread", ""},
		{"changelog unread", layout{owners: "aaaabc", change: func(t *topology.Table, _ *topology.Collection) {
			t.Health[topology.PartEvents] = topology.Health{Err: errors.New("code 13"), Denied: true}
		}}, 0, Undecided, "busy.unread", ""},
		{"a shard that is not listed", layout{owners: "xbc"}, 0, Undecided, "draining.noShard", ""},
		{"version unknown", layout{owners: "aaaabc", version: "nonsense"}, 0, Undecided, "threshold.release", ""},
		{"counts do not matter from 6.0.3", layout{owners: "aaaaaaaab", version: "6.0.3", change: shardSizes(100, 90, 80)}, 0,
			Stays, "threshold.dataEven", ""},
		{"three chunk sizes apart", layout{owners: "abc", version: "7.0.2", change: shardSizes(400, 300, 16)}, 0, Moves,
			"threshold.dataOver", "c"},
		{"a byte less than that", layout{owners: "abc", version: "7.0.2", change: func(t *topology.Table, c *topology.Collection) {
			shardSizes(400, 300, 16)(t, c)
			s := t.Sizes["db.t"].Shards["a"]
			s.Bytes.Value--
			t.Sizes["db.t"].Shards["a"] = s
		}}, 0, Stays, "threshold.dataEven", ""},
		{"the collection's own chunk size", layout{owners: "abc", version: "8.0.1", change: func(t *topology.Table, c *topology.Collection) {
			c.MaxChunkBytes = 10 * megabyte
			shardSizes(50, 30, 15)(t, c)
		}}, 0, Moves, "threshold.dataOver", "c"},
		{"orphans are subtracted once", layout{owners: "abc", version: "6.0.19", change: func(t *topology.Table, c *topology.Collection) {
			shardSizes(800, 300, 100)(t, c)
			s := t.Sizes["db.t"].Shards["a"]
			s.Documents, s.Orphans = topology.Figure{Known: true, Value: 1000}, topology.Figure{Known: true, Value: 500}
			t.Sizes["db.t"].Shards["a"] = s
		}}, 0, Moves, "threshold.dataOver", "c"},
		{"sizes unread", layout{owners: "abc", version: "6.0.19"}, 0, Undecided, "threshold.sizes", ""},
		{"6.0.2 still counts chunks", layout{owners: "aaaabc", version: "6.0.2"}, 0, Moves, "threshold.countOver", "b"},
		{"4.4 counts chunks", layout{owners: "aaaabc", version: "4.4.29"}, 0, Moves, "threshold.countOver", "b"},
		{"keys outside of zones: the even number is of all chunks",
			layout{owners: "aaabbb", shards: "ab", zones: []string{"z b 30 60"}}, 0, Stays, "threshold.countEven", ""},
		{"all of the fullest is jumbo: the balancer gives the zone up", layout{owners: "AAAAAbbbbc", shards: "abcde"}, 5,
			Stays, "turn.stuck", ""},
	} {
		t.Run(x.name, func(t *testing.T) {
			tab, c := x.l.table(t)
			p := PlanOf(Situation{Table: tab}, c)
			e := p.Explain(x.chunk)
			expect.That(t, e.Decision == x.want, "decided %s, want %s: %+v", e.Decision, x.want, e.Verdicts)
			if !slices.ContainsFunc(e.Verdicts, func(v Verdict) bool { return v.Code == x.code }) {
				t.Errorf("no verdict %s: %+v", x.code, e.Verdicts)
			}
			to := ""
			if e.Move != nil {
				to = e.Move.To
			}
			expect.Equal(t, to, x.to, "the end")
		})
	}
}

func TestBalancerWindowUsesTheConfigServersClock(t *testing.T) {
	for _, x := range []struct {
		start, stop, now string
		want             Outcome
	}{
		{"01:00", "05:00", "00:59", Blocks}, {"01:00", "05:00", "01:00", Pass}, {"01:00", "05:00", "05:00", Pass},
		{"01:00", "05:00", "05:01", Blocks},
		{"23:00", "02:00", "23:30", Pass}, {"23:00", "02:00", "01:30", Pass}, {"23:00", "02:00", "12:00", Blocks},
		{"9:5", "10:00", "09:30", Pass}, {"03:00", "03:00", "12:00", Pass}, {"25:00", "03:00", "12:00", Pass}, {"", "", "12:00", Pass},
	} {
		tab, c := layout{owners: "abc"}.table(t)
		tab.Balancer.WindowStart, tab.Balancer.WindowStop = x.start, x.stop
		now := must.Get(time.Parse("15:04", x.now))
		now = now.AddDate(2026, 0, 0)
		if v := PlanOf(Situation{Table: tab, Clock: now}, c).window(); v.Outcome != x.want {
			t.Errorf("%s–%s at %s: %s, want %s", x.start, x.stop, x.now, v.Outcome, x.want)
		}
	}
}

// On any table, Explain returns Moves exactly for the chunks with a move, a shard takes
// part in at most one move, and every recipient may hold its chunk.
func TestExplanationsAndMovesAgreeOnAnyTable(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	moves := 0
	for range 4000 {
		l := layout{shards: "abcde"[:1+rng.IntN(5)], version: []string{"4.4.29", "5.0.7", "6.0.2", "6.0.3", "7.0.12", "8.0.1"}[rng.IntN(6)]}
		for range 1 + rng.IntN(20) {
			o := l.shards[rng.IntN(len(l.shards))]
			if rng.IntN(6) == 0 {
				o -= 0x20
			}
			l.owners += string(o)
		}
		for z, from := 0, 0; z < rng.IntN(4) && from < 10*len(l.owners); z++ {
			from += rng.IntN(30)
			to := from + 5 + rng.IntN(40)
			letters := "-"
			if rng.IntN(8) > 0 {
				letters = l.shards[:1+rng.IntN(len(l.shards))]
			}
			l.zones = append(l.zones, fmt.Sprintf("z%d %s %d %d", z, letters, from, to))
			from = to
		}
		tab, c := l.table(t)
		for i := range tab.Shards {
			tab.Shards[i].Draining = rng.IntN(8) == 0
		}
		mb := make([]int64, len(tab.Shards))
		for i := range mb {
			mb[i] = rng.Int64N(1500)
		}
		if rng.IntN(10) > 0 {
			shardSizes(mb...)(tab, c)
		}
		p := PlanOf(Situation{Table: tab}, c)
		used := map[string]bool{}
		of := map[int]bool{}
		for _, m := range p.Moves() {
			moves++
			of[m.Chunk] = true
			if used[m.From] || used[m.To] || m.From == m.To {
				t.Fatalf("%+v: a shard takes part in two moves of %+v", l, p.Moves())
			}
			used[m.From], used[m.To] = true, true
			if c.Chunks.At(m.Chunk).Jumbo || tab.Shard(m.To).Draining || c.Chunks.At(m.Chunk).Shard != m.From {
				t.Fatalf("%+v: the recipient may not hold the chunk of the move %+v", l, m)
			}
		}
		for i := range c.Chunks.Len() {
			e := p.Explain(i)
			if (e.Decision == Moves) != of[i] {
				t.Fatalf("%+v: chunk %d in the round: %t, explained %s\n%+v\n%+v", l, i, of[i], e.Decision, e.Verdicts, p.Moves())
			}
			must.That(t, len(e.Verdicts) >= 6, "%+v: only %d rules", l, len(e.Verdicts))
		}
	}
	must.That(t, moves >= 1000, "only %d moves", moves)
}
