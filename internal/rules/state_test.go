package rules

import (
	"errors"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
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
func blockedSince(since SettingSince) change {
	since.At = now.Add(-time.Hour)
	return func(s *Situation) {
		blocked(s.Table.Collection("y.documents"))
		s.SetSince = map[SettingOf]SettingSince{{"y.documents", SettingMigrations}: since}
	}
}
func scattered(s *Situation) { addCollection(s, "y.documents", "{project_id: 1}", "abcabc") }
func balancerOffFor(d time.Duration) change {
	return func(s *Situation) { off(s); s.Off = SettingSince{At: now.Add(-d), Method: "history"} }
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
		fires("not permitted", Unreadable, Info, "unreadable.denied", "", withoutPart(topology.PartBalancer)),
		fires("failed", Unreadable, Warn, "unreadable.failed", "", failedRead(topology.PartEvents)),
		fires("the routing table failed", Unreadable, Critical, "unreadable.failed", "", failedRead(topology.PartRouting)),
		fires("projects not permitted", Unreadable, Info, "unreadable.denied", "", func(s *Situation) {
			s.Directory = placement.NewDirectory(1, []string{"y"}, nil, topology.Health{Err: errors.New("code 13"), Denied: true, Privilege: "find"})
		}),
		fires("failed before the first load", Unreadable, Critical, "unreadable.failed", "",
			failedRead(topology.PartRouting), func(s *Situation) { s.Table.Loaded = false }),
		lacks("being loaded", Unreadable, "notLoaded", func(s *Situation) { s.Table.Loaded = false }),

		fires("memory is short", NotLoaded, Warn, "noRoom", "", func(s *Situation) {
			s.Table.Damaged = []*topology.Damage{{Meta: topology.Meta{NS: "y.huge"}, Kind: topology.DamageUnread, Since: now,
				NoRoom: &topology.NoRoom{Chunks: 100, Bytes: 6400, Left: 1000}}}
		}),
		passes("not read for another reason", NotLoaded, func(s *Situation) {
			s.Table.Damaged = []*topology.Damage{{Meta: topology.Meta{NS: "y.huge"}, Kind: topology.DamageUnread, Since: now}}
		}),

		fires("drains", Draining, Info, "draining", "", drainShard("b"), withoutPart(topology.PartEvents)),
		passes("drains and is stuck", Draining, drainShard("b"), off),
		fires("switched off", BalancingOff, Info, "balancingOff", "balance-collection", inCollection("y.documents", noBalance)),
		passes("switched off with a zone violated is listed as that", BalancingOff,
			scattered, addZone("eu", "b", 3, 4), inCollection("y.documents", noBalance)),
		fires("blocked", MigrationsBlocked, Warn, "blocked", "allow-migrations", inCollection("y.documents", blocked)),
		fires("blocked while a shard drains", MigrationsBlocked, Critical, "blocked", "allow-migrations",
			inCollection("y.documents", blocked), drainShard("a")),
		fires("blocked since", MigrationsBlocked, Warn, "blocked.since", "allow-migrations",
			blockedSince(SettingSince{Method: "watched"})),
		fires("blocked since at least", MigrationsBlocked, Warn, "blocked.sinceAtLeast", "allow-migrations",
			blockedSince(SettingSince{AtLeast: true, Method: "history"})),
		fires("blocked by a run", MigrationsBlocked, Warn, "blocked.byRun", "allow-migrations",
			blockedSince(SettingSince{Method: "run", Run: "r"})),
		fires("defragmented", Defragmentation, Info, "defragmentation", "defragment",
			inCollection("y.documents", defragmented("moveAndMergeChunks"))),
		fires("defragmented, the last phase", Defragmentation, Info, "defragmentation", "",
			inCollection("y.documents", defragmented("mergeChunks"))),
		fires("defragmented by a balancer that is off", Defragmentation, Warn, "defragmentation", "balancer-on",
			inCollection("y.documents", defragmented("")), off),
		fires("defragmented without balancing", Defragmentation, Warn, "defragmentation", "balance-collection",
			inCollection("y.documents", defragmented("")), inCollection("y.documents", noBalance)),
		fires("defragmented with moves blocked", Defragmentation, Warn, "defragmentation", "allow-migrations",
			inCollection("y.documents", defragmented("")), inCollection("y.documents", blocked)),
		fires("not merged", AutoMergeOff, Info, "autoMergeOff", "auto-merge", inCollection("y.documents", notMerged)),
		fires("a size of its own", ChunkSizeSet, Info, "chunkSizeSet", "chunk-size", inCollection("y.documents", sized)),
		passes("blocked by resharding", MigrationsBlocked, inCollection("y.documents", resharded)),
		fires("resharded", Resharding, Info, "resharding", "", inCollection("y.documents", resharded)),
		fires("a shard that does not answer", ShardSilent, Critical, "silent.shard", "", answering(silent("b"))),
		fires("a shard without a chunk and a primary", ShardSilent, Critical, "silent.noPrimary", "",
			answering(func(a *topology.Answering) { a.Shards["b"] = topology.Answer{} }, away("rb", time.Second))),
		fires("no primary for long", ShardSilent, Critical, "silent.noPrimary", "", answering(away("rb", time.Minute))),
		passes("an election", ShardSilent, answering(away("rb", 5*time.Second))),
		passes("all answer", ShardSilent, answering()),
		lacks("a shard that may not be asked", ShardSilent, "silent.unasked", answering(func(a *topology.Answering) {
			a.Shards["b"] = topology.Answer{Err: fault.New(fault.Forbidden, "No.")}
		})),
		lacks("no shard may be asked", ShardSilent, "silent.allUnasked", answering(func(a *topology.Answering) {
			for name := range a.Shards {
				a.Shards[name] = topology.Answer{Err: fault.New(fault.Unavailable, "The cluster cannot be reached.")}
			}
		})),
		lacks("a shard without a chunk", ShardSilent, "silent.nothing", answering(func(a *topology.Answering) {
			a.Shards["b"], a.Sets = topology.Answer{}, nil
		})),
		fires("config servers that do not answer", ConfigSilent, Critical, "silent.config", "", answering(silent(""))),
		fires("config servers without a primary", ConfigSilent, Critical, "silent.config.primary", "",
			answering(silent(""), func(a *topology.Answering) { a.ReadOnly = true })),
		passes("config servers that answer", ConfigSilent, answering()),
		fires("a secondary that is away", MemberAway, Warn, "away.member", "", answering(secondaryAway("ra", time.Minute))),
		passes("a secondary that restarts", MemberAway, answering(secondaryAway("ra", 10*time.Second))),
		lacks("members that may not be read", MemberAway, "away.unread", answering(func(a *topology.Answering) {
			a.Sets, a.SetsErr = nil, fault.New(fault.Forbidden, "No.")
		})),
		fires("silent", RouterSilent, Info, "router.silent", "", silentRouter("m1", "7.0.5", time.Hour)),
		passes("gone for days", RouterSilent, silentRouter("m1", "7.0.5", 72*time.Hour)),
		passes("an old list", RouterSilent, silentRouter("m1", "7.0.5", time.Hour), failedRead(topology.PartRouters)),
		fires("of two versions", RouterVersions, Info, "router.versions", "",
			silentRouter("m1", "7.0.5", 0), silentRouter("m2", "8.0.1", 0)),
		passes("of two versions, one silent", RouterVersions,
			silentRouter("m1", "7.0.5", 0), silentRouter("m2", "8.0.1", time.Hour)),

		fires("one has most", Uneven, Info, "uneven", "", withSize("y.changes", "a", 9*gib, 9, 0)),
		passes("the one that has most drains", Uneven, withSize("y.changes", "a", 9*gib, 9, 0), drainShard("a")),
		passes("a few chunks more", Uneven, withSize("y.changes", "a", 200*mib, 9, 0)),
		lacks("sizes unread", Uneven, "denied", withoutPart(topology.PartSizes)),

		passes("balancer on", ZonesStuck, scattered, addZone("eu", "b", 3, 4)),
		fires("balancer off for long", ZonesStuck, Critical, "zonesStuck.balancerOff", "balancer-on",
			scattered, addZone("eu", "b", 3, 4), balancerOffFor(2*time.Hour)),
		fires("off for an unknown time", ZonesStuck, Critical, "zonesStuck.balancerOff", "balancer-on",
			scattered, addZone("eu", "b", 3, 4), off),
		fires("balancer off for minutes", ZonesStuck, Warn, "zonesStuck.balancerOff", "balancer-on",
			scattered, addZone("eu", "b", 3, 4), balancerOffFor(5*time.Minute)),
		passes("balancer off, zones kept", ZonesStuck, scattered, addZone("eu", "a", 3, 4), off),
		fires("collection switched off", ZonesStuck, Critical, "zonesStuck.collectionOff", "balance-collection",
			scattered, addZone("eu", "b", 3, 4), inCollection("y.documents", noBalance)),
		passes("another collection switched off", ZonesStuck,
			scattered, addZone("eu", "b", 3, 4), inCollection("y.changes", noBalance)),
		fires("migrations blocked", ZonesStuck, Critical, "zonesStuck.blocked", "allow-migrations",
			scattered, addZone("eu", "b", 3, 4), inCollection("y.documents", blocked)),
		lacks("zones unread", ZonesStuck, "denied", withoutPart(topology.PartZones)),
		fires("balancer on", ZoneViolated, Info, "zoneViolated", "", scattered, addZone("eu", "b", 3, 4)),
		fires("balancer unknown", ZoneViolated, Warn, "zoneViolated", "",
			scattered, addZone("eu", "b", 3, 4), balancer(func(b *topology.Balancer) { b.Known = false })),
		passes("of a pin", ZoneViolated, scattered, addZone(pin3, "b", 3, 4)),
		passes("stuck", ZoneViolated, scattered, addZone("eu", "b", 3, 4), off),
		fires("an edge inside a chunk", ZoneCut, Info, "zoneCut", "split",
			withCollection("y.documents", "{project_id: 1}", "ab"), addZone("eu", "b", 2, 4)),
		passes("edges at chunks", ZoneCut, scattered, addZone("eu", "b", 3, 4)),

		passes("an open run", BalancingPaused,
			off, paused(PausedBalancing{What: PausedBalancer, Run: "r1", Since: hours, RunOpen: true, RunKnown: true})),
		fires("a run that ended", BalancingPaused, Warn, "paused.balancer", "balancer-on",
			off, paused(PausedBalancing{What: PausedBalancer, Run: "r1", Since: hours, RunKnown: true})),
		fires("an unknown run", BalancingPaused, Warn, "paused.collection", "balance-collection",
			inCollection("y.changes", noBalance), paused(PausedBalancing{What: PausedCollection, NS: "y.changes", Run: "r1", Since: hours})),
		passes("switched on since", BalancingPaused, paused(PausedBalancing{What: PausedBalancer, Run: "r1", Since: hours})),
		lacks("settings unread", BalancingPaused, "unread",
			balancer(func(b *topology.Balancer) { b.Known = false }), paused(PausedBalancing{What: PausedBalancer, Run: "r1", Since: hours})),
		lacks("runs unread", BalancingPaused, "noRuns", func(s *Situation) { s.PausedUnread = true }),
		fires("off for an open run is no trouble", BalancerOff, Info, "off", "balancer-on",
			off, paused(PausedBalancing{What: PausedBalancer, Run: "r1", Since: hours, RunOpen: true, RunKnown: true})),
		passes("off by a run that is gone is listed as that", BalancerOff,
			off, paused(PausedBalancing{What: PausedBalancer, Run: "r1", Since: hours})),
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
		fires("most fail", MigrationsFailing, Warn, "failing.reason", "",
			migrations(6, 2, 10, "ChunkTooBig :: the range is too large")),
		fires("some fail", MigrationsFailing, Info, "failing", "", func(s *Situation) {
			s.Table.Events = append(s.Table.Events, migrationEntry("moveChunk.commit", 2000, 8, ""))
		}, migrations(3, 20, 10, "")),
		fires("the newest all fail", MigrationsFailing, Warn, "failing", "", migrations(3, 20, 10, "")),
		passes("two fail", MigrationsFailing, migrations(2, 0, 10, "")),
		passes("long ago", MigrationsFailing, migrations(9, 0, 90, "")),
		lacks("unread", MigrationsFailing, "denied", withoutPart(topology.PartEvents)),
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
		expect.That(t, e.Unit != "perHour" || e.Value == 8, "%v per hour", e.Value)
	}
}

func TestFailureRateCoversOnlyTheTimeOfABoundedChangelog(t *testing.T) {
	s := healthy(func(s *Situation) {
		for i := range mostEvents {
			s.Table.Events = append(s.Table.Events, migrationEntry("moveChunk.error", i, i*30/mostEvents, "x"))
		}
	})
	got := MovesLately(s.Table, now)
	expect.That(t, got.Failed == mostEvents && got.Over <= 30*time.Minute && got.Over >= 29*time.Minute,
		"%d over %s", got.Failed, got.Over)
}

// What contradicts itself is critical, names its rows and leads to no plan; what is not confirmed yet is no problem.
func TestEachContradictionIsNamed(t *testing.T) {
	list := []topology.Contradiction{
		{Kind: topology.ChunkOwnerUnknown, NS: "y.changes", Shard: "gone", Chunks: 2},
		{Kind: topology.DatabaseUnknown, NS: "lost.c", Database: "lost"},
		{Kind: topology.PrimaryUnknown, Database: "y", Shard: "gone"},
		{Kind: topology.ManyChunks, NS: "y.users", Chunks: 3},
		{Kind: topology.ZoneBound, NS: "y.changes", Zone: "z"},
		{Kind: topology.ZonesOverlap, NS: "y.changes", Zone: "z", Other: "u"},
	}
	var seen []string
	for _, c := range list {
		with := func(confirmed bool) []Problem {
			return Evaluate(healthy(func(s *Situation) {
				c.Since, c.Confirmed = now.Add(-time.Minute), confirmed
				s.Table.Contradictions = []topology.Contradiction{c}
			})).Each(MetadataContradiction)
		}
		expect.That(t, len(with(false)) == 0, "%s is a problem before it is confirmed", c.Kind)
		got := with(true)
		if len(got) != 1 || got[0].Severity != Critical || len(got[0].Remedy.Plans) > 0 || len(got[0].Remedy.Commands) != 1 {
			t.Errorf("%s: %+v", c.Kind, got)
			continue
		}
		text := got[0].Text.String()
		expect.ContainsAll(t, text, []string{string(c.NS), c.Shard, c.Database, c.Zone, c.Other},
			"%s", c.Kind)
		seen = append(seen, got[0].ID)
	}
	slices.Sort(seen)
	expect.Equal(t, len(slices.Compact(seen)), len(list), "problems have the same identity: %v", seen)
}

// answering is a cluster in which all answer, but for some changes.
func answering(changes ...func(*topology.Answering)) change {
	return func(s *Situation) {
		a := topology.Answering{At: now, Config: topology.Answer{State: topology.Answers, Last: now}, Shards: map[string]topology.Answer{}}
		a.Sets = append(a.Sets, setOf("cfg"))
		for i := range s.Table.Shards {
			shard := &s.Table.Shards[i]
			shard.ReplSet = "r" + shard.Name
			a.Shards[shard.Name] = topology.Answer{State: topology.Answers, Last: now}
			a.Sets = append(a.Sets, setOf(shard.ReplSet))
		}
		for _, change := range changes {
			change(&a)
		}
		s.Table.Answering = a
	}
}

func setOf(name string) topology.ReplicaSet {
	return topology.ReplicaSet{Name: name, Members: []topology.Member{{Address: name + "-a:1", Reached: true, Primary: true},
		{Address: name + "-b:1", Reached: true}}}
}

// silent makes a shard silent, or the config servers with "".
func silent(shard string) func(*topology.Answering) {
	return func(a *topology.Answering) {
		no := topology.Answer{State: topology.Silent, Since: now.Add(-time.Minute), Last: now.Add(-time.Minute), Said: "no connection"}
		if shard == "" {
			a.Config = no
			return
		}
		a.Shards[shard] = no
	}
}

func away(set string, since time.Duration) func(*topology.Answering) { return awayFrom(set, 0, since) }

func secondaryAway(set string, since time.Duration) func(*topology.Answering) {
	return awayFrom(set, 1, since)
}

// awayFrom has the members of a set from a position on away.
func awayFrom(set string, first int, since time.Duration) func(*topology.Answering) {
	return func(a *topology.Answering) {
		for i := range a.Sets {
			for j := range a.Sets[i].Members {
				if m := &a.Sets[i].Members[j]; a.Sets[i].Name == set && j >= first {
					m.Reached, m.Primary, m.Away = false, false, now.Add(-since)
				}
			}
		}
	}
}

// emptied gives the chunks of a shard of every collection to another shard.
func emptied(shard string) change {
	return func(s *Situation) {
		for _, c := range append([]*topology.Collection(nil), s.Table.Collections...) {
			if c.Chunks.CountByShard()[shard] > 0 {
				addCollection(s, string(c.NS), c.Key.String(), "aca")
			}
		}
	}
}

// tracked is an unsharded collection that the routing table of 8.0 has, on one shard; a capital letter flags its
// chunk jumbo.
func tracked(ns, shard string) change {
	return func(s *Situation) {
		s.Table.ServerInfo.Version = "8.0.4"
		addCollection(s, ns, "{_id: 1}", shard)
		s.Table.Collection(topology.Namespace(ns)).Unsplittable = true
	}
}

// movedAway is a move from a shard that the changelog shows.
func movedAway(shard string) change {
	return func(s *Situation) {
		raw, err := bson.Marshal(bson.D{{Key: "from", Value: shard}})
		if err != nil {
			panic(err)
		}
		s.Table.Events = append(s.Table.Events, topology.Event{Time: s.Now, What: "moveChunk.commit", Details: raw})
	}
}

// Whatever is left on a draining shard, the rules and the remains say the same: it is stuck exactly when things are
// left that only a person moves, it can be removed exactly when nothing is.
func TestRulesJudgeADrainingShardByItsRemains(t *testing.T) {
	for _, chunks := range []bool{false, true} {
		for _, unsharded := range []int{0, 1, 4} {
			for _, databases := range []int{0, 2, 5} {
				changes := []change{drainShard("b"), emptied("b"), movedAway("b")}
				if chunks {
					changes = append(changes, withCollection("y.documents", "{project_id: 1}", "abc"))
				}
				for i := range unsharded {
					changes = append(changes, tracked("y.plain"+string(rune('a'+i)), "b"))
				}
				s := healthy(changes...)
				for i := range databases {
					s.Table.Databases = append(s.Table.Databases, topology.Database{Name: "x" + string(rune('a'+i)), Primary: "b"})
				}
				left := s.Table.RemainsOn("b")
				found := map[Rule]Problem{}
				for _, p := range Evaluate(s).Items {
					found[p.Rule] = p
				}
				_, stuck := found[DrainingStuck]
				_, going := found[Draining]
				if stuck != left.NeedsSomebody() || going == stuck || left.Empty() != (found[Draining].Text.Code == "draining.empty") {
					t.Errorf("%+v: stuck %t, going on %t (%s)", left, stuck, going, found[Draining].Text.Code)
				}
			}
		}
	}
}
