package actions

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/balance"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/placement"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// event makes a changelog entry of a migration in the collection documents.
func event(t testing.TB, what string, ago time.Duration, from, to string, lo, hi bson.D, copied int64) topology.Event {
	d := bson.D{{Key: "min", Value: lo}, {Key: "max", Value: hi}, {Key: "from", Value: from}, {Key: "to", Value: to},
		{Key: "counts", Value: bson.D{{Key: "clonedBytes", Value: copied}}}}
	return topology.Event{What: what, NS: string(documents), Time: now.Add(-ago), Shard: from, Details: doc(d)}
}

func TestChecksGiveExpectedVerdicts(t *testing.T) {
	move := func(i int, to string) func(Situation) Args {
		return func(s Situation) Args { return Args{NS: documents, Bounds: chunkAt(t, s, documents, i), To: to} }
	}
	forced := func(s Situation) Args { a := move(1, "c")(s); a.Force = true; return a }
	median := ofChunk(t, 1, "")
	both := func(s Situation) Args {
		return Args{NS: documents, Bounds: [2]bson.Raw{chunkAt(t, s, documents, 0)[0], chunkAt(t, s, documents, 1)[1]}}
	}
	meta := func(f func(*topology.Collection)) func(*Situation) {
		return func(s *Situation) { f(collectionIn(s, documents)) }
	}
	balancer := func(f func(*topology.Balancer)) func(*Situation) {
		return func(s *Situation) { f(&s.Table.Balancer) }
	}
	given := func(ago time.Duration) func(*Situation) { // away, as the log says
		return func(s *Situation) {
			s.Activity.Known = false
			s.Table.Events = []topology.Event{event(t, "moveChunk.commit", ago, "c", "b", project(20), project(40), 0)}
		}
	}
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
	runChecks(t, "0.6.38", []checkCase{
		caseOf("balancer off", MoveChunk, move(1, "c"), Pass, "balancer.off"),
		caseOf("balancer on", MoveChunk, move(1, "c"), Warn, "balancer.races", balancing),
		caseOf("balancer settings not read", MoveChunk, move(1, "c"), Warn, "balancer.unknown",
			balancer(func(b *topology.Balancer) { b.Known = false })),
		caseOf("a zone does not need the balancer off", ZoneAddShard, fixed(Args{Shard: "a",
			Zone: "z"}), Pass, "balancer.apart", balancing),
		caseOf("no window", MoveChunk, move(1, "c"), Pass, "window.none"),
		caseOf("window", MoveChunk, move(1, "c"), Warn, "window.set",
			balancer(func(b *topology.Balancer) { b.WindowStart, b.WindowStop = "01:00", "02:00" })),

		caseOf("the balancer would keep it", MoveChunk, move(1, "c"), Warn, "undo-by-balancer.imbalance",
			balancing, withOwners(t, documents, "abc")),
		caseOf("the balancer is off, and would move it back when on", MoveChunk, move(1, "c"), Warn, "undo-by-balancer.whenOn"),
		caseOf("the balancer would leave it there", MoveChunk, move(1, "b"), Pass, "undo-by-balancer.stays",
			withOwners(t, documents, "cac")),
		caseOf("adjacent chunks are merged since 7.0", Split, median, Warn, "undo-by-balancer.autoMerge",
			version("7.0.0"), balancing),
		caseOf("adjacent chunks stay where merging is off", Split, median, Pass, "undo-by-balancer.stays", version("7.0.0"), balancing,
			balancer(func(b *topology.Balancer) { b.AutoMergeOff = true })),
		caseOf("a value is refused", MoveChunk, move(1, "c"), Warn, "balancer.refused", balancing,
			balancer(func(b *topology.Balancer) { b.Refused = []topology.RefusedSetting{{Doc: "chunksize", Field: "value"}} })),
		caseOf("adjacent chunks stay before 7.0", Split, median, Pass, "undo-by-balancer.stays", version("6.0.9"), balancing),

		caseOf("nothing competes", MoveChunk, move(1, "c"), Pass, "competing.none"),
		caseOf("activity not permitted", MoveChunk, move(1, "c"), Warn, "competing.unknown",
			func(s *Situation) { s.Activity = operation.Activity{Reason: "notPermitted"} }),
		caseOf("a migration of the shard", MoveChunk, move(1, "c"), Warn, "competing.shards",
			func(s *Situation) { s.Activity.Migrations = []balance.Migration{{NS: "x.y", From: "a", To: "c"}} }),
		caseOf("a migration of the collection", Split, median, Warn, "competing.waits",
			func(s *Situation) { s.Activity.Migrations = []balance.Migration{{NS: documents, From: "a", To: "c"}} }),
		caseOf("a running reshardCollection", Split, median, Block, "competing.ddl", func(s *Situation) {
			s.Activity.DDL = []operation.Running{{NS: documents, What: "reshardCollection", For: 3*time.Hour + 20*time.Second}}
		}),
		caseOf("a drop of the database", Split, median, Block, "competing.ddl", func(s *Situation) {
			s.Activity.DDL = []operation.Running{{NS: db, What: "dropDatabase", For: 3*time.Hour + 20*time.Second}}
		}),
		caseOf("resharding", Split, median, Block, "competing.resharding",
			meta(func(c *topology.Collection) { c.Resharding = true })),

		caseOf("two projects", Split, median, Pass, "unsplittable.values"),
		caseOf("one project", Split, ofChunk(t, 2, ""), Block, "unsplittable.oneProject"),
		caseOf("jumbo", Split, median, Warn, "unsplittable.jumbo", withOwners(t, documents, "aBc")),

		caseOf("small", MoveChunk, move(1, "c"), Pass, "size.fits"),
		caseOf("too big", MoveChunk, move(1, "c"), Block, "size.tooBig", big(10, 300, 10)),
		caseOf("too big, forced", MoveChunk, forced, Warn, "size.forced", big(10, 300, 10)),
		caseOf("perhaps too big", MoveChunk, move(1, "c"), Warn, "size.perhaps", big(10, 600, 10), withOwners(t, documents, "bba")),
		caseOf("a collection's own chunk size", MoveChunk, move(1, "c"), Pass, "size.fits",
			big(10, 300, 10), meta(func(c *topology.Collection) { c.MaxChunkBytes = 1024 * megabyte })),
		caseOf("size not known", MoveChunk, move(1, "c"), Warn, "size.unknown", func(s *Situation) { s.Table.Sizes = nil }),
		caseOf("merged too big", Merge, both, Warn, "size.merged", withOwners(t, documents, "bbc"), big(0, 300, 10)),
		caseOf("flagged again", ClearJumbo, median, Warn, "size.again", withOwners(t, documents, "aBc"), big(10, 300, 10)),

		caseOf("no flag", MoveChunk, move(1, "c"), Pass, "jumbo.none"),
		caseOf("flagged", MoveChunk, move(1, "c"), Block, "jumbo.flagged", withOwners(t, documents, "aBc")),
		caseOf("flagged, forced", MoveChunk, forced, Warn, "jumbo.forced", withOwners(t, documents, "aBc")),
		caseOf("the merged chunk keeps the first flag", Merge, both, Warn, "jumbo.merged", withOwners(t, documents, "BBc")),
		caseOf("the balancer skips jumbo chunks", Pin, fixed(Args{Project: "beta", Shard: "c", Mode: ModeBalancer}), Block, "jumbo.skipped",
			balancing, withOwners(t, documents, "aBc")),

		caseOf("recipient can take it", MoveChunk, move(1, "c"), Pass, "recipient.takes"),
		caseOf("recipient is draining", MoveChunk, move(1, "c"), Block, "recipient.draining", draining("c")),
		caseOf("pinned to a draining shard", Pin, fixed(Args{Project: "beta", Shard: "b"}), Block, "recipient.draining",
			draining("b")),
		caseOf("recipient is outside of the zone", MoveChunk, move(1, "c"), Block, "recipient.outside",
			zone(t, "eu", "ab", documents, from(t, 20), from(t, 40))),
		caseOf("recipient is in the zone", MoveChunk, move(1, "a"), Pass, "recipient.takes",
			zone(t, "eu", "ab", documents, from(t, 20), from(t, 40))),
		caseOf("zones unread", MoveChunk, move(1, "c"), Warn, "recipient.zonesUnread",
			health(topology.PartZones, topology.Health{})),

		caseOf("neighbours", Merge, both, Pass, "neighbours.together", withOwners(t, documents, "bbc")),
		caseOf("apart", Merge, both, Block, "neighbours.apart"),
		caseOf("two zones", Merge, both, Block, "zone-overlap.edge",
			withOwners(t, documents, "bbc"), zone(t, "eu", "b", documents, from(t, 20), from(t, 30))),
		caseOf("pin beside zones", Pin, fixed(Args{Project: "beta", Shard: "c"}), Pass, "zone-overlap.none",
			zone(t, "eu", "b", documents, from(t, 21), from(t, 40))),
		caseOf("pin over a zone", Pin, fixed(Args{Project: "beta", Shard: "c"}), Block, "zone-overlap.with",
			zone(t, "eu", "b", documents, from(t, 19), from(t, 40))),
		caseOf("isolate beside a zone of its shard", Isolate, fixed(Args{Project: "beta", Shard: "c"}), Block, "zone-overlap.shares",
			zone(t, "eu", "c", documents, from(t, 21), from(t, 40))),
		caseOf("spread what a zone holds", Spread, fixed(Args{Project: "beta"}), Block, "zone-overlap.holds",
			zone(t, "eu", "b", clients, from(t, 20), from(t, 21))),

		caseOf("ids are not shared", MoveChunk, move(1, "c"), Pass, "duplicates.none"),
		caseOf("ids not checked", MoveChunk, move(1, "c"), Warn, "duplicates.unchecked",
			func(s *Situation) { s.SharedAt = time.Time{} }),
		caseOf("an id is on the recipient", MoveChunk, move(1, "c"), Block, "duplicates.found",
			shared(placement.SharedRow{Shard: "b", Project: oid(20)}, placement.SharedRow{Shard: "c", Project: oid(40)})),
		caseOf("an id is elsewhere", MoveChunk, move(1, "a"), Pass, "duplicates.none",
			shared(placement.SharedRow{Shard: "b", Project: oid(20)}, placement.SharedRow{Shard: "c", Project: oid(40)})),

		caseOf("fresh", MoveChunk, move(1, "c"), Pass, "stale.fresh"),
		caseOf("never read", MoveChunk, move(1, "c"), Block, "stale.old", health(topology.PartRouting, topology.Health{})),
		caseOf("old zones", MoveChunk, move(1, "c"), Warn, "stale.old",
			health(topology.PartZones, topology.Health{At: now, Err: bson.ErrDecodeToNil})),
		caseOf("a release that has the commands", MoveChunk, move(1, "c"), Pass, "release.has"),
		caseOf("a release that is too old", MoveChunk, move(1, "c"), Block, "release.old", version("4.2.9")),
		caseOf("no release", MoveChunk, move(1, "c"), Block, "release.unknown", version("none")),

		caseOf("migrations allowed", MoveChunk, move(1, "c"), Pass, "migrations-blocked.allowed"),
		caseOf("migrations blocked", MoveChunk, move(1, "c"), Block, "migrations-blocked.blocked",
			meta(func(c *topology.Collection) { c.MigrationsBlocked = true })),
		caseOf("a split needs no migration", Split, median, "", "migrations-blocked",
			meta(func(c *topology.Collection) { c.MigrationsBlocked = true })),
		caseOf("the balancer may not", Pin, fixed(Args{Project: "beta", Shard: "c", Mode: ModeBalancer}), Block, "balancer.collectionOff",
			balancing, meta(func(c *topology.Collection) { c.NoBalance = true })),

		caseOf("nothing to clean up", MoveChunk, move(1, "c"), Pass, "cleanup.none"),
		caseOf("given away recently", MoveChunk, move(1, "c"), Warn, "cleanup.pendingSince", given(time.Minute)),
		caseOf("given away long ago", MoveChunk, move(1, "c"), Pass, "cleanup.none", given(time.Hour)),
		caseOf("given away recently, clean-up waited for", MoveChunk, move(1, "c"), Pass, "cleanup.done",
			given(time.Minute), waitedForCleanup(t, time.Minute)),
		caseOf("clean-up waited for, then given away again", MoveChunk, move(1, "c"), Warn, "cleanup.pendingSince",
			given(time.Minute), waitedForCleanup(t, time.Hour)),
		caseOf("another range is being cleaned up", MoveChunk, move(1, "c"), Pass, "cleanup.none", func(s *Situation) {
			s.Activity.Cleanups = []operation.Cleanup{{NS: documents, Shard: "c", Min: doc(project(50)), Max: doc(project(60))}}
		}),
		caseOf("a range without bounds is being cleaned up", MoveChunk, move(1, "c"), Warn, "cleanup.pending",
			func(s *Situation) { s.Activity.Cleanups = []operation.Cleanup{{NS: documents, Shard: "c"}} }),
		caseOf("orphans are counted", MoveChunk, move(1, "c"), Warn, "cleanup.pendingUntil", func(s *Situation) {
			s.Activity.Cleanups = []operation.Cleanup{{NS: documents, Shard: "c", Min: doc(project(20)), Max: doc(project(40)),
				Until: now.Add(10 * time.Minute)}}
			orphans(s, "c", 5)
		}),
		caseOf("no orphans are counted", MoveChunk, move(1, "c"), Pass, "cleanup.none", func(s *Situation) {
			s.Activity.Cleanups = []operation.Cleanup{{NS: documents, Shard: "c", Min: doc(project(20)), Max: doc(project(40)),
				Until: now.Add(10 * time.Minute)}}
			orphans(s, "c", 0)
		}),

		caseOf("a range moves nothing", ZoneSetRange, rangeArgs("eu", 20, 40), Pass, "consequence.none",
			zone(t, "eu", "b", clients, from(t, 20), from(t, 21))),
		caseOf("a range moves a chunk", ZoneSetRange, rangeArgs("eu", 20, 40), Warn, "consequence.moves",
			balancing, zone(t, "eu", "a", clients, from(t, 20), from(t, 21))),
		caseOf("a range will move a chunk", ZoneSetRange, rangeArgs("eu", 15, 40), Warn, "consequence.movesWhenOn",
			zone(t, "eu", "c", clients, from(t, 20), from(t, 21))),
		caseOf("its bytes are not known", ZoneSetRange, rangeArgs("eu", 15, 40), Warn, "consequence.movesUnknown",
			balancing, zone(t, "eu", "c", clients, from(t, 20), from(t, 21)), func(s *Situation) { s.Table.Sizes = nil }),
		caseOf("a range that ends before the end", ZoneSetRange, func(Situation) Args {
			return Args{NS: clients, Zone: "eu", Min: doc(project(50)), Max: doc(bson.D{{Key: "project_id", Value: bson.MaxKey{}}})}
		}, Warn, "zone.sliver", zone(t, "eu", "c", clients, from(t, 20), from(t, 21))),
		caseOf("a range changed under a balancer", ZoneSetRange, rangeArgs("eu", 20, 40), Warn, "zone.gap",
			balancing, zone(t, "eu", "b", documents, from(t, 20), from(t, 30))),
		caseOf("an unchanged range", ZoneSetRange, rangeArgs("eu", 20, 30), Block, "zone.ranged",
			zone(t, "eu", "b", documents, from(t, 20), from(t, 30))),

		caseOf("pinned already", Pin, fixed(Args{Project: "beta", Shard: "b"}), Block, "pin.already", pinnedBeta(t, "b")),
		caseOf("pinned elsewhere", Pin, fixed(Args{Project: "beta", Shard: "c"}), Block, "pin.elsewhere", pinnedBeta(t, "b")),
		caseOf("the complement is told", Isolate, fixed(Args{Project: "beta", Shard: "c"}), Warn, "isolate.complement"),
		caseOf("nobody else is there", Isolate, fixed(Args{Project: "beta", Shard: "c"}), Block, "isolate.alone",
			draining("a"), draining("b")),

		caseOf("turning off waits", BalancerOff, fixed(Args{}), Warn, "switch.waits",
			balancing, balancer(func(b *topology.Balancer) { b.InRound = true })),
		caseOf("turning off is quick", BalancerOff, fixed(Args{}), Pass, "switch.idle", balancing),
		caseOf("turning off stops draining", BalancerOff, fixed(Args{}), Warn, "switch.draining", balancing, draining("c")),
	})
}

// A plan whose first move waits for a clean-up takes as long as that.
func TestTimeOfAPlanIncludesTheWaitForACleanUp(t *testing.T) {
	took := func(change ...func(*Situation)) time.Duration {
		s := cluster(t, "0.6.38", "", change...)
		d, _ := plan(t, s, MoveChunk, ofChunk(t, 1, "c")(s))
		return time.Duration(d.Effect.Duration.Value) * time.Millisecond
	}
	waits := took(func(s *Situation) {
		s.Activity.Cleanups = []operation.Cleanup{{NS: documents, Shard: "c", Min: doc(project(20)), Max: doc(project(40)),
			Until: now.Add(10 * time.Minute)}}
	})
	expect.Equal(t, waits-took(), 10*time.Minute, "longer than without one")
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

// The time that limits a move is that of the slowest of the recent moves, not of all or the mean.
func TestTimeOfAMoveIsByTheSlowestRecentMove(t *testing.T) {
	s := cluster(t, "0.6.38", "5.0.7")
	bounds := chunkAt(t, s, documents, 1) // 20 MB
	step := operation.Step{Op: operation.OpMove, NS: documents, Min: bounds[0], Max: bounds[1], Shard: "c"}
	check := func(want time.Duration, measured bool) {
		t.Helper()
		if took, by, known := MoveTime(s, step); took != want || by != measured || !known {
			t.Errorf("%s, measured %v, known %v; want %s", took, by, known, want)
		}
	}
	check(3*time.Second, false) // at 10 MB/s, and a second
	move := func(ago time.Duration, seconds int) {
		s.Table.Events = append(s.Table.Events, event(t, "moveChunk.commit", ago, "a", "b", project(1), project(2), 40*megabyte),
			event(t, "moveChunk.start", ago+time.Duration(seconds)*time.Second, "a", "b", project(1), project(2), 0))
	}
	move(time.Hour, 2)
	move(2*time.Hour, 21) // 2 MB/s, and a second
	check(11*time.Second, true)
	for i := range recentMoves {
		move(time.Duration(3+i)*time.Hour, 4)
	}
	move(30*time.Hour, 400)
	check(11*time.Second, true)
	if short, long := measuredTime(s, step), func() time.Duration { s.Table.Sizes = nil; return measuredTime(s, step) }(); short >= long {
		t.Errorf("a range of unknown size takes %s, one of 20 MB %s", long, short)
	}
}

func measuredTime(s Situation, step operation.Step) time.Duration {
	took, _, _ := MoveTime(s, step)
	return took
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
	if e := d.Effect; e.Duration.Method != "changelogRate" || e.Duration.Value != 4600 { // 50 MB in 9 s, and a second
		t.Errorf("%+v", e.Duration)
	}
	s.Table.Sizes = nil
	d, _ = plan(t, s, MoveChunk, a)
	if e := d.Effect; e.Duration.Known || e.Bytes.Known || e.Bytes.Reason == "" {
		t.Errorf("%+v %+v", e.Duration, e.Bytes)
	}
}

func TestConfirmationTextCanBeTyped(t *testing.T) {
	for name, want := range map[string]string{"beta": "beta", "bêta": oid(20).Hex(), "beta\x1b[2J": oid(20).Hex(),
		" beta": oid(20).Hex(), "": oid(20).Hex()} {
		s := cluster(t, "0.6.38", "5.0.7")
		s.Directory = placement.NewDirectory(1, []string{db}, []placement.Project{{DB: db, ID: oid(20), Name: name}}, topology.Health{At: now})
		d, _ := plan(t, s, Isolate, Args{Project: oid(20).Hex(), Shard: "c"})
		expect.That(t, d.Risk == High && d.Confirm == want, "%q: %s %q, want %q", name, d.Risk, d.Confirm, want)
	}
}

func TestRangeOfHighestProjectID(t *testing.T) {
	p := pattern(t, bson.E{Key: "project_id", Value: int32(1)}, bson.E{Key: "_id", Value: "hashed"})
	id := bson.ObjectID{255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255}
	r, ok := projectBounds(p, placement.ObjectIDValue(id))
	inside, err := p.KeyOf(placement.ObjectIDValue(id), placement.ObjectIDValue(oid(1)))
	expect.That(t, err == nil && ok && r.Contains(inside) && r.Max.Compare(p.Max()) < 0,
		"[%s, %s)", p.Display(r.Min), p.Display(r.Max))
	r, _ = projectBounds(p, placement.ObjectIDValue(bson.ObjectID{0: 1, 11: 255}))
	if want := keyOf(t, p, bson.ObjectID{0: 1, 10: 1}); r.Max.Compare(want) != 0 || r.IsEmpty() {
		t.Errorf("the carry gives %s", p.Display(r.Max))
	}
}

// A check reads the draft and returns what it found: it assigns nothing to the draft, and calls nothing that
// plans a step
// or adds to what the draft has found.
func TestChecksOnlyRead(t *testing.T) {
	isCheck := regexp.MustCompile(`^(check|warnOf|block)[A-Z]`)
	plans := regexp.MustCompile(`^(step|check|pass|warn|block|suggest|add|move(Off|Back|AllTo|Whole)?|merge(Again)?|split(At|Median)|` +
		`(set|remove)Range|(add|remove)Zone|dependsOnFlags)$`)
	files := must.Get(filepath.Glob("*.go"))
	n := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f := must.Get(parser.ParseFile(token.NewFileSet(), name, nil, 0))
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv == nil || fn.Recv.List[0].Names == nil || fn.Recv.List[0].Names[0].Name != "d" || !isCheck.MatchString(fn.Name.Name) {
				continue
			}
			n++
			ast.Inspect(fn.Body, func(x ast.Node) bool {
				switch x := x.(type) {
				case *ast.AssignStmt:
					for _, to := range x.Lhs {
						if s, ok := to.(*ast.SelectorExpr); ok && ofDraft(s) {
							t.Errorf("%s assigns to d.%s", fn.Name.Name, s.Sel.Name)
						}
					}
				case *ast.CallExpr:
					if s, ok := x.Fun.(*ast.SelectorExpr); ok && ofDraft(s) && plans.MatchString(s.Sel.Name) && !isCheck.MatchString(s.Sel.Name) {
						t.Errorf("%s calls d.%s", fn.Name.Name, s.Sel.Name)
					}
				}
				return true
			})
		}
	}
	expect.That(t, n >= 60, "%d checks", n)
}

// ofDraft reports whether a selector is of the draft, d.
func ofDraft(s *ast.SelectorExpr) bool {
	id, ok := s.X.(*ast.Ident)
	return ok && id.Name == "d"
}
