package rules

import (
	"errors"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
)

func failedRead(p topology.Part) change {
	return func(s *Situation) {
		s.Table.Health[p] = topology.Health{At: now.Add(-time.Minute), Err: fault.New(fault.Unavailable, "The cluster does not answer.")}
	}
}

func inCollection(ns string, f func(*topology.Collection)) change {
	return func(s *Situation) { f(s.Table.Collection(topology.Namespace(ns))) }
}

func noBalance(c *topology.Collection) { c.NoBalance = true }
func blocked(c *topology.Collection)   { c.MigrationsBlocked = true }
func resharded(c *topology.Collection) { c.Resharding, c.MigrationsBlocked = true, true }
func notMerged(c *topology.Collection) { c.AutoMergeOff = true }
func sized(c *topology.Collection)     { c.MaxChunkBytes = 7 << 20 }
func defragmented(phase string) func(*topology.Collection) {
	return func(c *topology.Collection) { c.Defragmenting, c.Phase = true, phase }
}
func setSince(ns topology.Namespace, s Setting, since SettingSince) change {
	return func(x *Situation) { x.SetSince = map[SettingOf]SettingSince{{ns, s}: since} }
}
func scattered(s *Situation) { addCollection(s, "y.documents", "{project_id: 1}", "abcabc") }
func balancerOffFor(d time.Duration) change {
	return func(s *Situation) { off(s); s.Off = OffSince{At: now.Add(-d), Method: "history"} }
}
func paused(p ...PausedBalancing) change { return func(s *Situation) { s.Paused = p } }
func silentRouter(host, version string, silent time.Duration) change {
	return func(s *Situation) {
		s.Table.Routers = append(s.Table.Routers, topology.Router{Host: host, Version: version, Ping: now.Add(-silent)})
	}
}

// TestRulesOnClusterStateFirePassOrAreUnsure covers the rules about settings and
// processes of the cluster.
func TestRulesOnClusterStateFirePassOrAreUnsure(t *testing.T) {
	hours := now.Add(-2 * time.Hour)
	runCases(t, []ruleCase{
		{name: "not permitted", rule: Unreadable, changes: with(withoutPart(topology.PartBalancer)), rank: Info, says: "unreadable.denied"},
		{name: "failed", rule: Unreadable, changes: with(failedRead(topology.PartEvents)), rank: Warn, says: "unreadable.failed"},
		{
			name:    "the routing table failed",
			rule:    Unreadable,
			changes: with(failedRead(topology.PartRouting)),
			rank:    Critical,
			says:    "unreadable.failed",
		},
		{name: "projects not permitted", rule: Unreadable, changes: with(func(s *Situation) {
			s.Directory = placement.NewDirectory(1, []string{"y"}, nil, topology.Health{Err: errors.New("code 13"), Denied: true, Privilege: "find"})
		}), rank: Info, says: "unreadable.denied"},
		{
			name:    "failed before the first load",
			rule:    Unreadable,
			changes: with(failedRead(topology.PartRouting), func(s *Situation) { s.Table.Loaded = false }),
			rank:    Critical,
			says:    "unreadable.failed",
		},
		{name: "being loaded", rule: Unreadable, changes: with(func(s *Situation) { s.Table.Loaded = false }), unsure: true, says: "notLoaded"},

		{name: "drains", rule: Draining, changes: with(drainShard("b"), withoutPart(topology.PartEvents)), rank: Info, says: "draining"},
		{name: "drains and is stuck", rule: Draining, changes: with(drainShard("b"), off)},
		{
			name:    "switched off",
			rule:    BalancingOff,
			changes: with(inCollection("y.documents", noBalance)),
			rank:    Info,
			says:    "balancingOff",
			plan:    "balance-collection",
		},
		{
			name:    "switched off with a zone violated is listed as that",
			rule:    BalancingOff,
			changes: with(scattered, addZone("eu", "b", 3, 4), inCollection("y.documents", noBalance)),
		},
		{name: "blocked", rule: MigrationsBlocked, changes: with(inCollection("y.documents", blocked)), rank: Warn, says: "blocked",
			plan: "allow-migrations"},
		{
			name:    "blocked while a shard drains",
			rule:    MigrationsBlocked,
			changes: with(inCollection("y.documents", blocked), drainShard("a")),
			rank:    Critical,
			says:    "blocked",
			plan:    "allow-migrations",
		},
		{name: "blocked since", rule: MigrationsBlocked, changes: with(inCollection("y.documents", blocked),
			setSince("y.documents", SettingMigrations, SettingSince{At: now.Add(-time.Hour), Method: "watched"})),
			rank: Warn, says: "blocked.since", plan: "allow-migrations"},
		{name: "blocked since at least", rule: MigrationsBlocked, changes: with(inCollection("y.documents", blocked),
			setSince("y.documents", SettingMigrations, SettingSince{At: now.Add(-time.Hour), AtLeast: true, Method: "history"})),
			rank: Warn, says: "blocked.sinceAtLeast", plan: "allow-migrations"},
		{name: "blocked by a run", rule: MigrationsBlocked, changes: with(inCollection("y.documents", blocked),
			setSince("y.documents", SettingMigrations, SettingSince{At: now.Add(-time.Hour), Method: "run", Run: "r"})),
			rank: Warn, says: "blocked.byRun", plan: "allow-migrations"},
		{name: "defragmented", rule: Defragmentation, changes: with(inCollection("y.documents", defragmented("moveAndMergeChunks"))),
			rank: Info, says: "defragmentation", plan: "defragment"},
		{name: "defragmented, the last phase", rule: Defragmentation, changes: with(inCollection("y.documents", defragmented("mergeChunks"))),
			rank: Info, says: "defragmentation"},
		{name: "defragmented by a balancer that is off", rule: Defragmentation,
			changes: with(inCollection("y.documents", defragmented("")), off), rank: Warn, says: "defragmentation", plan: "balancer-on"},
		{name: "defragmented without balancing", rule: Defragmentation,
			changes: with(inCollection("y.documents", defragmented("")), inCollection("y.documents", noBalance)), rank: Warn,
			says: "defragmentation", plan: "balance-collection"},
		{name: "defragmented with moves blocked", rule: Defragmentation,
			changes: with(inCollection("y.documents", defragmented("")), inCollection("y.documents", blocked)), rank: Warn,
			says: "defragmentation", plan: "allow-migrations"},
		{name: "not merged", rule: AutoMergeOff, changes: with(inCollection("y.documents", notMerged)), rank: Info, says: "autoMergeOff",
			plan: "auto-merge"},
		{name: "a size of its own", rule: ChunkSizeSet, changes: with(inCollection("y.documents", sized)), rank: Info, says: "chunkSizeSet",
			plan: "chunk-size"},
		{name: "blocked by resharding", rule: MigrationsBlocked, changes: with(inCollection("y.documents", resharded))},
		{name: "resharded", rule: Resharding, changes: with(inCollection("y.documents", resharded)), rank: Info, says: "resharding"},
		{name: "silent", rule: RouterSilent, changes: with(silentRouter("m1", "7.0.5", time.Hour)), rank: Info, says: "router.silent"},
		{name: "gone for days", rule: RouterSilent, changes: with(silentRouter("m1", "7.0.5", 72*time.Hour))},
		{name: "an old list", rule: RouterSilent, changes: with(silentRouter("m1", "7.0.5", time.Hour), failedRead(topology.PartRouters))},
		{
			name:    "of two versions",
			rule:    RouterVersions,
			changes: with(silentRouter("m1", "7.0.5", 0), silentRouter("m2", "8.0.1", 0)),
			rank:    Info,
			says:    "router.versions",
		},
		{name: "of two versions, one silent", rule: RouterVersions,
			changes: with(silentRouter("m1", "7.0.5", 0), silentRouter("m2", "8.0.1", time.Hour))},

		{name: "one has most", rule: Uneven, changes: with(withSize("y.changes", "a", 9*gib, 9, 0)), rank: Info, says: "uneven"},
		{name: "a few chunks more", rule: Uneven, changes: with(withSize("y.changes", "a", 200*mib, 9, 0))},
		{name: "sizes unread", rule: Uneven, changes: with(withoutPart(topology.PartSizes)), unsure: true, says: "denied"},

		{name: "balancer on", rule: ZonesStuck, changes: with(scattered, addZone("eu", "b", 3, 4))},
		{
			name:    "balancer off for long",
			rule:    ZonesStuck,
			changes: with(scattered, addZone("eu", "b", 3, 4), balancerOffFor(2*time.Hour)),
			rank:    Critical,
			says:    "zonesStuck.balancerOff",
			plan:    "balancer-on",
		},
		{
			name:    "off for an unknown time",
			rule:    ZonesStuck,
			changes: with(scattered, addZone("eu", "b", 3, 4), off),
			rank:    Critical,
			says:    "zonesStuck.balancerOff",
			plan:    "balancer-on",
		},
		{
			name:    "balancer off for minutes",
			rule:    ZonesStuck,
			changes: with(scattered, addZone("eu", "b", 3, 4), balancerOffFor(5*time.Minute)),
			rank:    Warn,
			says:    "zonesStuck.balancerOff",
			plan:    "balancer-on",
		},
		{name: "balancer off, zones kept", rule: ZonesStuck, changes: with(scattered, addZone("eu", "a", 3, 4), off)},
		{
			name:    "collection switched off",
			rule:    ZonesStuck,
			changes: with(scattered, addZone("eu", "b", 3, 4), inCollection("y.documents", noBalance)),
			rank:    Critical,
			says:    "zonesStuck.collectionOff",
			plan:    "balance-collection",
		},
		{name: "another collection switched off", rule: ZonesStuck,
			changes: with(scattered, addZone("eu", "b", 3, 4), inCollection("y.changes", noBalance))},
		{
			name:    "migrations blocked",
			rule:    ZonesStuck,
			changes: with(scattered, addZone("eu", "b", 3, 4), inCollection("y.documents", blocked)),
			rank:    Critical,
			says:    "zonesStuck.blocked",
			plan:    "allow-migrations",
		},
		{name: "zones unread", rule: ZonesStuck, changes: with(withoutPart(topology.PartZones)), unsure: true, says: "denied"},
		{name: "balancer on", rule: ZoneViolated, changes: with(scattered, addZone("eu", "b", 3, 4)), rank: Info, says: "zoneViolated"},
		{
			name:    "balancer unknown",
			rule:    ZoneViolated,
			changes: with(scattered, addZone("eu", "b", 3, 4), balancer(func(b *topology.Balancer) { b.Known = false })),
			rank:    Warn,
			says:    "zoneViolated",
		},
		{name: "of a pin", rule: ZoneViolated, changes: with(scattered, addZone(pin3, "b", 3, 4))},
		{name: "stuck", rule: ZoneViolated, changes: with(scattered, addZone("eu", "b", 3, 4), off)},
		{
			name:    "an edge inside a chunk",
			rule:    ZoneCut,
			changes: with(withCollection("y.documents", "{project_id: 1}", "ab"), addZone("eu", "b", 2, 4)),
			rank:    Info,
			says:    "zoneCut",
			plan:    "split",
		},
		{name: "edges at chunks", rule: ZoneCut, changes: with(scattered, addZone("eu", "b", 3, 4))},

		{
			name:    "an open run",
			rule:    BalancingPaused,
			changes: with(off, paused(PausedBalancing{What: PausedBalancer, Run: "r1", Since: hours, RunOpen: true, RunKnown: true})),
		},
		{
			name:    "a run that ended",
			rule:    BalancingPaused,
			changes: with(off, paused(PausedBalancing{What: PausedBalancer, Run: "r1", Since: hours, RunKnown: true})),
			rank:    Warn,
			says:    "paused.balancer",
			plan:    "balancer-on",
		},
		{
			name: "an unknown run",
			rule: BalancingPaused,
			changes: with(inCollection("y.changes", noBalance),
				paused(PausedBalancing{What: PausedCollection, NS: "y.changes", Run: "r1", Since: hours})),
			rank: Warn,
			says: "paused.collection",
			plan: "balance-collection",
		},
		{name: "switched on since", rule: BalancingPaused, changes: with(paused(PausedBalancing{What: PausedBalancer, Run: "r1", Since: hours}))},
		{
			name: "settings unread",
			rule: BalancingPaused,
			changes: with(
				balancer(func(b *topology.Balancer) { b.Known = false }),
				paused(PausedBalancing{What: PausedBalancer, Run: "r1", Since: hours}),
			),
			unsure: true,
			says:   "unread",
		},
		{name: "runs unread", rule: BalancingPaused, changes: with(func(s *Situation) { s.PausedUnread = true }), unsure: true, says: "noRuns"},
		{
			name:    "off for an open run is no trouble",
			rule:    BalancerOff,
			changes: with(off, paused(PausedBalancing{What: PausedBalancer, Run: "r1", Since: hours, RunOpen: true, RunKnown: true})),
			rank:    Info,
			says:    "off",
			plan:    "balancer-on",
		},
		{
			name:    "off by a run that is gone is listed as that",
			rule:    BalancerOff,
			changes: with(off, paused(PausedBalancing{What: PausedBalancer, Run: "r1", Since: hours})),
		},
	})
}

// migrationEntry is a changelog entry about a migration this many minutes ago.
func migrationEntry(what string, n int, minutes int, errmsg string) topology.Event {
	d := bson.D{
		{Key: "min", Value: bson.D{{Key: "doc_id", Value: int64(n)}}},
		{Key: "max", Value: bson.D{{Key: "doc_id", Value: int64(n + 1)}}},
		{Key: "from", Value: "a"},
		{Key: "to", Value: "b"},
	}
	if errmsg != "" {
		d = append(d, bson.E{Key: "errmsg", Value: errmsg})
	}
	raw, err := bson.Marshal(d)
	if err != nil {
		panic(err)
	}
	return topology.Event{Time: now.Add(-time.Duration(minutes) * time.Minute), What: what, NS: "y.changes", Details: raw}
}

func migrations(failed, done, minutes int, errmsg string) change {
	return func(s *Situation) {
		for i := range failed {
			s.Table.Events = append(s.Table.Events, migrationEntry("moveChunk.error", i, minutes, errmsg))
		}
		for i := range done {
			s.Table.Events = append(s.Table.Events, migrationEntry("moveChunk.commit", 1000+i, minutes+1, ""))
		}
	}
}

func TestRepeatedlyFailingMigrationsAreReported(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name:    "most fail",
			rule:    MigrationsFailing,
			changes: with(migrations(6, 2, 10, "ChunkTooBig :: the range is too large")),
			rank:    Warn,
			says:    "failing.reason",
		},
		{name: "some fail", rule: MigrationsFailing, changes: with(migrations(3, 20, 10, "")), rank: Info, says: "failing"},
		{name: "two fail", rule: MigrationsFailing, changes: with(migrations(2, 0, 10, ""))},
		{name: "long ago", rule: MigrationsFailing, changes: with(migrations(9, 0, 90, ""))},
		{name: "unread", rule: MigrationsFailing, changes: with(withoutPart(topology.PartEvents)), unsure: true, says: "denied"},
	})
	s := healthy(migrations(6, 2, 10, "ChunkTooBig :: the range is too large"), func(s *Situation) {
		s.Table.Events = append(s.Table.Events, migrationEntry("moveChunk.error", 500, 15, "another"),
			migrationEntry("moveChunk.error", 501, 15, "another"))
	})
	items, _, _ := evaluateRule(s, MigrationsFailing)
	if len(items) != 1 || items[0].Text.Args()["n"] != "8" || items[0].Text.Args()["moves"] != "2" || items[0].Text.Args()["reasons"] != "6" {
		t.Fatalf("got %+v, want 8 failures of 2 moves with 6 reasons", items)
	}
	for _, e := range items[0].Evidence {
		if e.Unit == "perHour" && e.Value != 8 {
			t.Errorf("%v per hour", e.Value)
		}
	}
}

func TestFailureRateCoversOnlyTheTimeOfABoundedChangelog(t *testing.T) {
	s := healthy(func(s *Situation) {
		for i := range mostEvents {
			s.Table.Events = append(s.Table.Events, migrationEntry("moveChunk.error", i, i*30/mostEvents, "x"))
		}
	})
	got := MovesLately(s.Table, now)
	if got.Failed != mostEvents || got.Over > 30*time.Minute || got.Over < 29*time.Minute {
		t.Errorf("%d over %s", got.Failed, got.Over)
	}
}
