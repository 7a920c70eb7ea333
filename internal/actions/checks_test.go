package actions

import (
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/balance"
	"shardboard/internal/placement"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// event makes a changelog entry of a migration in the collection documents.
func event(t testing.TB, what string, ago time.Duration, from, to string, lo, hi bson.D, copied int64) topology.Event {
	d := bson.D{{Key: "min", Value: lo}, {Key: "max", Value: hi}, {Key: "from", Value: from}, {Key: "to", Value: to},
		{Key: "counts", Value: bson.D{{Key: "clonedBytes", Value: copied}}}}
	return topology.Event{What: what, NS: string(documents), Time: now.Add(-ago), Shard: from, Details: doc(t, d)}
}

func TestChecksGiveExpectedVerdicts(t *testing.T) {
	move := func(i int, to string) func(Situation) Args {
		return func(s Situation) Args { return Args{NS: documents, Bounds: chunkAt(t, s, documents, i), To: to} }
	}
	forced := func(s Situation) Args { a := move(1, "c")(s); a.Force = true; return a }
	median := func(s Situation) Args { return Args{NS: documents, Bounds: chunkAt(t, s, documents, 1)} }
	both := func(s Situation) Args {
		return Args{NS: documents, Bounds: [2]bson.Raw{chunkAt(t, s, documents, 0)[0], chunkAt(t, s, documents, 1)[1]}}
	}
	meta := func(f func(*topology.Collection)) func(*Situation) {
		return func(s *Situation) { f(collectionIn(s, documents)) }
	}
	balancer := func(f func(*topology.Balancer)) func(*Situation) {
		return func(s *Situation) { f(&s.Table.Balancer) }
	}
	events := func(e ...topology.Event) func(*Situation) { return func(s *Situation) { s.Table.Events = e } }
	big := func(mb ...int64) func(*Situation) {
		return func(s *Situation) { setSizes(s.Table, documents, mb...) }
	}
	shared := func(rows ...placement.SharedRow) func(*Situation) {
		return func(s *Situation) {
			s.Shared = []placement.SharedID{{IDPlace: placement.IDPlace{NS: documents, ID: oid(99)}, Rows: rows}}
		}
	}
	health := func(p topology.Part, h topology.Health) func(*Situation) {
		return func(s *Situation) { s.Table.Health[p] = h }
	}
	type changes = []func(*Situation)
	for _, x := range []struct {
		name    string
		version string
		kind    Kind
		args    func(Situation) Args
		change  changes
		id      string
		want    Verdict
		code    string
	}{
		{"balancer off", "", MoveChunk, move(1, "c"), nil, "balancer", Pass, "balancer.off"},
		{"balancer on", "", MoveChunk, move(1, "c"), changes{balancing}, "balancer", Warn, "balancer.races"},
		{"balancer settings not read", "", MoveChunk, move(1, "c"), changes{balancer(func(b *topology.Balancer) { b.Known = false })}, "balancer",
			Warn, "balancer.unknown"},
		{"a zone does not need the balancer off", "", ZoneAddShard, func(Situation) Args {
			return Args{Shard: "a",
				Zone: "z"}
		}, changes{balancing},
			"balancer", Pass, "balancer.apart"},
		{"no window", "", MoveChunk, move(1, "c"), nil, "window", Pass, "window.none"},
		{"window", "", MoveChunk, move(1, "c"),
			changes{balancer(func(b *topology.Balancer) { b.WindowStart, b.WindowStop = "01:00", "02:00" })}, "window", Warn, "window.set"},

		{"the balancer would keep it", "", MoveChunk, move(1, "c"), changes{balancing, withOwners(t, documents, "abc")}, "undo-by-balancer",
			Warn, "undo-by-balancer.imbalance"},
		{"the balancer is off, and would move it back when on", "", MoveChunk, move(1, "c"), nil, "undo-by-balancer", Warn,
			"undo-by-balancer.whenOn"},
		{"the balancer would leave it there", "", MoveChunk, move(1, "b"), changes{withOwners(t, documents, "cac")}, "undo-by-balancer", Pass,
			"undo-by-balancer.stays"},
		{"adjacent chunks are merged since 7.0", "7.0.0", Split, median, changes{balancing}, "undo-by-balancer", Warn,
			"undo-by-balancer.autoMerge"},
		{"adjacent chunks stay before 7.0", "6.0.9", Split, median, changes{balancing}, "undo-by-balancer", Pass, "undo-by-balancer.stays"},

		{"nothing competes", "", MoveChunk, move(1, "c"), nil, "competing", Pass, "competing.none"},
		{"activity not permitted", "", MoveChunk, move(1, "c"), changes{func(s *Situation) { s.Activity = Activity{Reason: "notPermitted"} }},
			"competing", Warn, "competing.unknown"},
		{"a migration of the shard", "", MoveChunk, move(1, "c"),
			changes{func(s *Situation) { s.Activity.Migrations = []balance.Migration{{NS: "x.y", From: "a", To: "c"}} }}, "competing", Warn,
			"competing.shards"},
		{"a migration of the collection", "", Split, median,
			changes{func(s *Situation) { s.Activity.Migrations = []balance.Migration{{NS: documents, From: "a", To: "c"}} }}, "competing",
			Warn, "competing.waits"},
		{"a running reshardCollection", "", Split, median,
			changes{func(s *Situation) {
				s.Activity.DDL = []Operation{{NS: documents, What: "reshardCollection", For: 3*time.Hour + 20*time.Second}}
			}}, "competing", Block,
			"competing.ddl"},
		{"a drop of the database", "", Split, median,
			changes{func(s *Situation) {
				s.Activity.DDL = []Operation{{NS: db, What: "dropDatabase", For: 3*time.Hour + 20*time.Second}}
			}}, "competing", Block, "competing.ddl"},
		{"resharding", "", Split, median, changes{meta(func(c *topology.Collection) { c.Resharding = true })}, "competing", Block,
			"competing.resharding"},

		{"two projects", "", Split, median, nil, "unsplittable", Pass, "unsplittable.values"},
		{"one project", "", Split, func(s Situation) Args { return Args{NS: documents, Bounds: chunkAt(t, s, documents, 2)} }, nil,
			"unsplittable", Block, "unsplittable.oneProject"},
		{"jumbo", "", Split, median, changes{withOwners(t, documents, "aBc")}, "unsplittable", Warn, "unsplittable.jumbo"},

		{"small", "", MoveChunk, move(1, "c"), nil, "size", Pass, "size.fits"},
		{"too big", "", MoveChunk, move(1, "c"), changes{big(10, 300, 10)}, "size", Block, "size.tooBig"},
		{"too big, forced", "", MoveChunk, forced, changes{big(10, 300, 10)}, "size", Warn, "size.forced"},
		{"perhaps too big", "", MoveChunk, move(1, "c"), changes{big(10, 600, 10), withOwners(t, documents, "bba")}, "size",
			Warn, "size.perhaps"},
		{"a collection's own chunk size", "", MoveChunk, move(1, "c"),
			changes{big(10, 300, 10), meta(func(c *topology.Collection) { c.MaxChunkBytes = 1024 * megabyte })}, "size", Pass, "size.fits"},
		{"size not known", "", MoveChunk, move(1, "c"), changes{func(s *Situation) { s.Table.Sizes = nil }}, "size", Warn, "size.unknown"},
		{"merged too big", "", Merge, both, changes{withOwners(t, documents, "bbc"), big(0, 300, 10)}, "size", Warn, "size.merged"},
		{"flagged again", "", ClearJumbo, median, changes{withOwners(t, documents, "aBc"), big(10, 300, 10)}, "size", Warn, "size.again"},

		{"no flag", "", MoveChunk, move(1, "c"), nil, "jumbo", Pass, "jumbo.none"},
		{"flagged", "", MoveChunk, move(1, "c"), changes{withOwners(t, documents, "aBc")}, "jumbo", Block, "jumbo.flagged"},
		{"flagged, forced", "", MoveChunk, forced, changes{withOwners(t, documents, "aBc")}, "jumbo", Warn, "jumbo.forced"},
		{"the merged chunk keeps the first flag", "", Merge, both, changes{withOwners(t, documents, "BBc")}, "jumbo", Warn, "jumbo.merged"},
		{"the balancer skips jumbo chunks", "", Pin,
			func(Situation) Args { return Args{Project: "beta", Shard: "c", Mode: ModeBalancer} },
			changes{balancing, withOwners(t, documents, "aBc")}, "jumbo", Block, "jumbo.skipped"},

		{"recipient can take it", "", MoveChunk, move(1, "c"), nil, "recipient", Pass, "recipient.takes"},
		{"recipient is draining", "", MoveChunk, move(1, "c"), changes{draining("c")}, "recipient", Block, "recipient.draining"},
		{"pinned to a draining shard", "", Pin, func(Situation) Args { return Args{Project: "beta", Shard: "b"} },
			changes{draining("b")}, "recipient", Block, "recipient.draining"},
		{"recipient is outside of the zone", "", MoveChunk, move(1, "c"),
			changes{zone(t, "eu", "ab", documents, from(t, 20), from(t, 40))}, "recipient", Block, "recipient.outside"},
		{"recipient is in the zone", "", MoveChunk, move(1, "a"), changes{zone(t, "eu", "ab", documents, from(t, 20), from(t, 40))},
			"recipient", Pass, "recipient.takes"},
		{"zones unread", "", MoveChunk, move(1, "c"), changes{health(topology.PartZones, topology.Health{})}, "recipient", Warn,
			"recipient.zonesUnread"},

		{"neighbours", "", Merge, both, changes{withOwners(t, documents, "bbc")}, "neighbours", Pass, "neighbours.together"},
		{"apart", "", Merge, both, nil, "neighbours", Block, "neighbours.apart"},
		{"two zones", "", Merge, both, changes{withOwners(t, documents, "bbc"), zone(t, "eu", "b", documents, from(t, 20), from(t, 30))},
			"zone-overlap", Block, "zone-overlap.edge"},
		{"pin beside zones", "", Pin, func(Situation) Args { return Args{Project: "beta", Shard: "c"} },
			changes{zone(t, "eu", "b", documents, from(t, 21), from(t, 40))}, "zone-overlap", Pass, "zone-overlap.none"},
		{"pin over a zone", "", Pin, func(Situation) Args { return Args{Project: "beta", Shard: "c"} },
			changes{zone(t, "eu", "b", documents, from(t, 19), from(t, 40))}, "zone-overlap", Block, "zone-overlap.with"},
		{"isolate beside a zone of its shard", "", Isolate, func(Situation) Args { return Args{Project: "beta", Shard: "c"} },
			changes{zone(t, "eu", "c", documents, from(t, 21), from(t, 40))}, "zone-overlap", Block, "zone-overlap.shares"},
		{"spread what a zone holds", "", Spread, func(Situation) Args { return Args{Project: "beta"} },
			changes{zone(t, "eu", "b", clients, from(t, 20), from(t, 21))}, "zone-overlap", Block, "zone-overlap.holds"},

		{"ids are not shared", "", MoveChunk, move(1, "c"), nil, "duplicates", Pass, "duplicates.none"},
		{"ids not checked", "", MoveChunk, move(1, "c"), changes{func(s *Situation) { s.SharedAt = time.Time{} }}, "duplicates",
			Warn, "duplicates.unchecked"},
		{"an id is on the recipient", "", MoveChunk, move(1, "c"),
			changes{shared(placement.SharedRow{Shard: "b", Project: oid(20)}, placement.SharedRow{Shard: "c", Project: oid(40)})},
			"duplicates", Block, "duplicates.found"},
		{"an id is elsewhere", "", MoveChunk, move(1, "a"),
			changes{shared(placement.SharedRow{Shard: "b", Project: oid(20)}, placement.SharedRow{Shard: "c", Project: oid(40)})},
			"duplicates", Pass, "duplicates.none"},

		{"fresh", "", MoveChunk, move(1, "c"), nil, "stale", Pass, "stale.fresh"},
		{"never read", "", MoveChunk, move(1, "c"), changes{health(topology.PartRouting, topology.Health{})}, "stale", Block, "stale.old"},
		{"old zones", "", MoveChunk, move(1, "c"),
			changes{health(topology.PartZones, topology.Health{At: now, Err: bson.ErrDecodeToNil})}, "stale", Warn, "stale.old"},
		{"a release that has the commands", "", MoveChunk, move(1, "c"), nil, "release", Pass, "release.has"},
		{"a release that is too old", "4.2.9", MoveChunk, move(1, "c"), nil, "release", Block, "release.old"},
		{"no release", "none", MoveChunk, move(1, "c"), nil, "release", Warn, "release.unknown"},

		{"migrations allowed", "", MoveChunk, move(1, "c"), nil, "migrations-blocked", Pass, "migrations-blocked.allowed"},
		{"migrations blocked", "", MoveChunk, move(1, "c"), changes{meta(func(c *topology.Collection) { c.MigrationsBlocked = true })},
			"migrations-blocked", Block, "migrations-blocked.blocked"},
		{"a split needs no migration", "", Split, median, changes{meta(func(c *topology.Collection) { c.MigrationsBlocked = true })},
			"migrations-blocked", "", ""},
		{"the balancer may not", "", Pin, func(Situation) Args { return Args{Project: "beta", Shard: "c", Mode: ModeBalancer} },
			changes{balancing, meta(func(c *topology.Collection) { c.NoBalance = true })}, "balancer", Block, "balancer.collectionOff"},

		{"nothing to clean up", "", MoveChunk, move(1, "c"), nil, "cleanup", Pass, "cleanup.none"},
		{"given away recently", "", MoveChunk, move(1, "c"), changes{func(s *Situation) { s.Activity.Known = false },
			events(event(t, "moveChunk.commit", time.Minute, "c", "b", project(20), project(40), 0))}, "cleanup", Warn, "cleanup.pendingSince"},
		{"given away long ago", "", MoveChunk, move(1, "c"), changes{func(s *Situation) { s.Activity.Known = false },
			events(event(t, "moveChunk.commit", time.Hour, "c", "b", project(20), project(40), 0))}, "cleanup", Pass, "cleanup.none"},
		{"given away recently, clean-up waited for", "", MoveChunk, move(1, "c"), changes{func(s *Situation) { s.Activity.Known = false },
			events(event(t, "moveChunk.commit", time.Minute, "c", "b", project(20), project(40), 0)), waitedForCleanup(t, time.Minute)}, "cleanup",
			Pass, "cleanup.done"},
		{"clean-up waited for, then given away again", "", MoveChunk, move(1, "c"), changes{func(s *Situation) { s.Activity.Known = false },
			events(event(t, "moveChunk.commit", time.Minute, "c", "b", project(20), project(40), 0)), waitedForCleanup(t, time.Hour)}, "cleanup",
			Warn, "cleanup.pendingSince"},
		{"another range is being cleaned up", "", MoveChunk, move(1, "c"), changes{func(s *Situation) {
			s.Activity.Cleanups = []Cleanup{{NS: documents, Shard: "c", Min: doc(t, project(50)), Max: doc(t, project(60))}}
		}}, "cleanup", Pass, "cleanup.none"},
		{"a range without bounds is being cleaned up", "", MoveChunk, move(1, "c"),
			changes{func(s *Situation) { s.Activity.Cleanups = []Cleanup{{NS: documents, Shard: "c"}} }}, "cleanup", Warn, "cleanup.pending"},
		{"orphans are counted", "", MoveChunk, move(1, "c"), changes{func(s *Situation) {
			s.Activity.Cleanups = []Cleanup{{NS: documents, Shard: "c", Min: doc(t, project(20)), Max: doc(t, project(40)),
				Until: now.Add(10 * time.Minute)}}
			orphans(s, "c", 5)
		}}, "cleanup", Warn, "cleanup.pendingUntil"},
		{"no orphans are counted", "", MoveChunk, move(1, "c"), changes{func(s *Situation) {
			s.Activity.Cleanups = []Cleanup{{NS: documents, Shard: "c", Min: doc(t, project(20)), Max: doc(t, project(40)),
				Until: now.Add(10 * time.Minute)}}
			orphans(s, "c", 0)
		}}, "cleanup", Pass, "cleanup.none"},

		{"a range moves nothing", "", ZoneSetRange, rangeArgs("eu", 20, 40),
			changes{zone(t, "eu", "b", clients, from(t, 20), from(t, 21))}, "consequence", Pass, "consequence.none"},
		{"a range moves a chunk", "", ZoneSetRange, rangeArgs("eu", 20, 40),
			changes{balancing, zone(t, "eu", "a", clients, from(t, 20), from(t, 21))}, "consequence", Warn, "consequence.moves"},
		{"a range will move a chunk", "", ZoneSetRange, rangeArgs("eu", 15, 40),
			changes{zone(t, "eu", "c", clients, from(t, 20), from(t, 21))}, "consequence", Warn, "consequence.movesWhenOn"},
		{"its bytes are not known", "", ZoneSetRange, rangeArgs("eu", 15, 40),
			changes{balancing, zone(t, "eu", "c", clients, from(t, 20), from(t, 21)), func(s *Situation) { s.Table.Sizes = nil }},
			"consequence", Warn, "consequence.movesUnknown"},
		{"a range that ends before the end", "", ZoneSetRange, func(Situation) Args {
			return Args{NS: clients, Zone: "eu", Min: doc(t, project(50)), Max: doc(t, bson.D{{Key: "project_id", Value: bson.MaxKey{}}})}
		}, changes{zone(t, "eu", "c", clients, from(t, 20), from(t, 21))}, "zone", Warn, "zone.sliver"},
		{"a range changed under a balancer", "", ZoneSetRange, rangeArgs("eu", 20, 40),
			changes{balancing, zone(t, "eu", "b", documents, from(t, 20), from(t, 30))}, "zone", Warn, "zone.gap"},
		{"an unchanged range", "", ZoneSetRange, rangeArgs("eu", 20, 30), changes{zone(t, "eu", "b", documents, from(t, 20), from(t, 30))},
			"zone", Block, "zone.ranged"},

		{"pinned already", "", Pin, func(Situation) Args { return Args{Project: "beta", Shard: "b"} }, changes{pinnedBeta(t, "b")},
			"pin", Block, "pin.already"},
		{"pinned elsewhere", "", Pin, func(Situation) Args { return Args{Project: "beta", Shard: "c"} }, changes{pinnedBeta(t, "b")},
			"pin", Block, "pin.elsewhere"},
		{"the complement is told", "", Isolate, func(Situation) Args { return Args{Project: "beta", Shard: "c"} }, nil, "isolate", Warn,
			"isolate.complement"},
		{"nobody else is there", "", Isolate, func(Situation) Args { return Args{Project: "beta", Shard: "c"} },
			changes{draining("a"), draining("b")}, "isolate", Block, "isolate.alone"},

		{"turning off waits", "", BalancerOff, func(Situation) Args { return Args{} },
			changes{balancing, balancer(func(b *topology.Balancer) { b.InRound = true })}, "switch", Warn, "switch.waits"},
		{"turning off is quick", "", BalancerOff, func(Situation) Args { return Args{} }, changes{balancing}, "switch", Pass, "switch.idle"},
		{"turning off stops draining", "", BalancerOff, func(Situation) Args { return Args{} }, changes{balancing, draining("c")},
			"switch", Warn, "switch.draining"},
	} {
		t.Run(x.name, func(t *testing.T) {
			if x.version == "" {
				x.version = "5.0.7"
			}
			s := cluster(t, "0.6.38", x.version, x.change...)
			d, _ := plan(t, s, x.kind, x.args(s))
			if v, code := worstVerdict(d, x.id); v != x.want || code != x.code {
				t.Errorf("%s %s, want %s %s\n%+v", v, code, x.want, x.code, d.Checks)
			}
			for _, c := range d.Checks {
				if c.Text.Code == "competing.ddl" && !strings.Contains(c.Text.String(), "has been running for 3 h and") {
					t.Errorf("%q has another time than 3 hours and 20 seconds", c.Text)
				}
				if c.Text.Code == "" || c.Source.Code == "" {
					t.Errorf("%s says nothing or gives no source: %+v", c.ID, c)
				}
			}
		})
	}
}

func rangeArgs(zone string, lo, hi byte) func(Situation) Args {
	return func(Situation) Args {
		min, _ := bson.Marshal(project(lo))
		max, _ := bson.Marshal(project(hi))
		return Args{NS: documents, Zone: zone, Min: min, Max: max}
	}
}

func orphans(s *Situation, shard string, n int64) {
	size := s.Table.Sizes[documents].Shards[shard]
	size.Orphans = topology.Figure{Known: true, Exact: true, Value: n, At: now}
	s.Table.Sizes[documents].Shards[shard] = size
}

// pinnedBeta sets the state after the project beta was pinned to a shard.
func pinnedBeta(t *testing.T, shard string) func(*Situation) {
	return func(s *Situation) {
		for _, ns := range []topology.Namespace{documents, clients} {
			zone(t, placement.PinZone(oid(20).Hex()), shard, ns, from(t, 20), from(t, 21))(s)
			c := collectionIn(s, ns)
			*c = *collection(t, ns, c.Key, []shardkey.Key{keyOf(t, c.Key, oid(20)), keyOf(t, c.Key, oid(21))}, "a"+shard+"c")
		}
		s.Table.Shard(shard).Zones = []string{placement.PinZone(oid(20).Hex())}
	}
}

func TestDurationUsesRateOfPastMigrations(t *testing.T) {
	s := cluster(t, "0.6.38", "5.0.7")
	a := Args{NS: documents, Bounds: chunkAt(t, s, documents, 1), To: "c"}
	d, _ := plan(t, s, MoveChunk, a)
	if e := d.Effect; e.Duration.Method != "assumedRate" || e.Duration.Exact || e.Duration.Value != 3000 { // 20 MB at 10 MB/s, and a second
		t.Errorf("%+v", e.Duration)
	}
	s.Table.Events = []topology.Event{
		event(t, "moveChunk.commit", time.Hour, "a", "b", project(1), project(2), 50*megabyte),
		event(t, "moveChunk.start", time.Hour+10*time.Second, "a", "b", project(1), project(2), 0),
	}
	d, _ = plan(t, s, MoveChunk, a)
	if e := d.Effect; e.Duration.Method != "changelogRate" || e.Duration.Value != 5000 { // 5 MB/s
		t.Errorf("%+v", e.Duration)
	}
	s.Table.Sizes = nil
	d, _ = plan(t, s, MoveChunk, a)
	if e := d.Effect; e.Duration.Known || e.Bytes.Known || e.Bytes.Reason == "" {
		t.Errorf("%+v %+v", e.Duration, e.Bytes)
	}
}

func TestPinPlanListsCollectionsThatStaySpread(t *testing.T) {
	d, _ := plan(t, cluster(t, "0.6.38", "5.0.7"), Pin, Args{Project: "beta", Shard: "c"})
	found := false
	for _, s := range d.Effect.Stays {
		found = found || s.Code == "byDocument" && s.Args()["ns"] == string(changes)
	}
	if !found {
		t.Errorf("%+v", d.Effect.Stays)
	}
}

func TestConfirmationTextCanBeTyped(t *testing.T) {
	for name, want := range map[string]string{"beta": "beta", "bêta": oid(20).Hex(), "beta\x1b[2J": oid(20).Hex(),
		" beta": oid(20).Hex(), "": oid(20).Hex()} {
		s := cluster(t, "0.6.38", "5.0.7")
		s.Directory = placement.NewDirectory(1, []string{db}, []placement.Project{{DB: db, ID: oid(20), Name: name}}, topology.Health{At: now})
		d, _ := plan(t, s, Isolate, Args{Project: oid(20).Hex(), Shard: "c"})
		if d.Risk != High || d.Confirm != want {
			t.Errorf("%q: %s %q, want %q", name, d.Risk, d.Confirm, want)
		}
	}
}

func TestRangeOfHighestProjectID(t *testing.T) {
	p := pattern(t, bson.E{Key: "project_id", Value: int32(1)}, bson.E{Key: "_id", Value: "hashed"})
	id := bson.ObjectID{255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255}
	lo, hi := projectBounds(p, id)
	inside, err := p.KeyOf(placement.ObjectIDValue(id), placement.ObjectIDValue(oid(1)))
	if err != nil || lo.Compare(inside) >= 0 || hi.Compare(inside) <= 0 || hi.Compare(p.Max()) >= 0 {
		t.Errorf("[%s, %s)", p.Display(lo), p.Display(hi))
	}
	lo, hi = projectBounds(p, bson.ObjectID{0: 1, 11: 255})
	if want := keyOf(t, p, bson.ObjectID{0: 1, 10: 1}); hi.Compare(want) != 0 || lo.Compare(hi) >= 0 {
		t.Errorf("the carry gives %s", p.Display(hi))
	}
}
