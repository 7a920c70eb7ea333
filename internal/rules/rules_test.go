package rules

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"shardboard/internal/heat"
	"shardboard/internal/message"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
)

func balancer(f func(*topology.Balancer)) change {
	return func(s *Situation) { f(&s.Table.Balancer) }
}

var off = balancer(func(b *topology.Balancer) { b.Mode = "off" })

func drainShard(shard string) change {
	return func(s *Situation) { s.Table.Shard(shard).Draining = true }
}

func version(v string) change { return func(s *Situation) { s.Table.ServerInfo.Version = v } }
func writes(w ...Writes) change {
	return func(s *Situation) { s.Writes = w }
}

func busyProject(project int, perSecond, share float64) change {
	return writes(
		Writes{
			NS:       "y.changes",
			Over:     Window,
			Seconds:  900,
			To:       now,
			Total:    heat.Rate{PerSecond: perSecond / share},
			Projects: []heat.Line{projectLine(project, perSecond, share)},
		},
	)
}

func clients(project int, n int64) change {
	return func(s *Situation) {
		list := append([]placement.Project(nil), s.Directory.All()...)
		for i := range list {
			if list[i].ID == oid(project) {
				list[i].Clients.Value = n
			}
		}
		s.Directory = placement.NewDirectory(2, []string{"y"}, list, topology.Health{At: now})
	}
}

func noClients(s *Situation) {
	list := append([]placement.Project(nil), s.Directory.All()...)
	for i := range list {
		list[i].Clients = topology.Figure{Reason: "notCounted"}
	}
	s.Directory = placement.NewDirectory(2, []string{"y"}, list, topology.Health{At: now})
}

func noProjects(s *Situation) {
	s.Directory = placement.NewDirectory(0, nil, nil, topology.Health{})
}

func noSizes(ns string) change {
	return func(s *Situation) { delete(s.Table.Sizes, topology.Namespace(ns)) }
}

func noOrphans(s *Situation) {
	for _, z := range s.Table.Sizes {
		for shard, size := range z.Shards {
			size.Orphans = topology.Figure{Reason: "notReported"}
			z.Shards[shard] = size
		}
	}
}

var pin3 = "pin-" + oid(3).Hex()

func with(c ...change) []change { return c }

// TestEachRuleFiresPassesOrIsUnsure has for each rule cases in which it fires, almost
// fires and passes, and lacks data.
func TestEachRuleFiresPassesOrIsUnsure(t *testing.T) {
	big := withSize("y.clients", "a", 4*gib, 1000, 0)
	runCases(t, []ruleCase{
		{
			name:    "drains with the balancer off",
			rule:    DrainingStuck,
			changes: with(drainShard("b"), off),
			rank:    Critical,
			says:    "draining.balancerOff",
			plan:    "balancer-on",
		},
		{name: "drains, all chunks jumbo", rule: DrainingStuck, changes: with(drainShard("b"), func(s *Situation) {
			for _, col := range s.Table.Collections {
				key := col.Key.String()
				addCollection(s, string(col.NS), key, "aBc")
			}
		}), rank: Critical, says: "draining.blocked"},
		{name: "drained but for databases", rule: DrainingStuck, changes: with(drainShard("a"), func(s *Situation) {
			for _, col := range append([]*topology.Collection(nil), s.Table.Collections...) {
				addCollection(s, string(col.NS), col.Key.String(), "bcb")
			}
		}), rank: Critical, says: "draining.primary", plan: "move-primary"},
		{name: "drains and nothing moves", rule: DrainingStuck, changes: with(drainShard("b")), rank: Critical, says: "draining.quiet"},
		{
			name:    "drains, the log unread",
			rule:    DrainingStuck,
			changes: with(drainShard("b"), withoutPart(topology.PartEvents)),
			unsure:  true,
			says:    "noEvents",
		},
		{name: "shards unread", rule: DrainingStuck, changes: with(withoutPart(topology.PartShards)), unsure: true, says: "denied"},

		{name: "off for an unknown time", rule: BalancerOff, changes: with(off), rank: Warn, says: "off", plan: "balancer-on"},
		{
			name:    "off for days",
			rule:    BalancerOff,
			changes: with(off, func(s *Situation) { s.Off = OffSince{At: now.Add(-72 * time.Hour), Method: "history"} }),
			rank:    Warn,
			says:    "off.since",
			plan:    "balancer-on",
		},
		{
			name:    "off for a while at least",
			rule:    BalancerOff,
			changes: with(off, func(s *Situation) { s.Off = OffSince{At: now.Add(-time.Minute), AtLeast: true, Method: "watched"} }),
			rank:    Warn,
			says:    "off.sinceAtLeast",
			plan:    "balancer-on",
		},
		{
			name:    "off for minutes",
			rule:    BalancerOff,
			changes: with(off, func(s *Situation) { s.Off = OffSince{At: now.Add(-5 * time.Minute), Method: "watched"} }),
			rank:    Info,
			says:    "off.since",
			plan:    "balancer-on",
		},
		{name: "off while a shard drains", rule: BalancerOff, changes: with(off, drainShard("c")), rank: Critical,
			says: "off", plan: "balancer-on"},
		{
			name:    "splits only",
			rule:    BalancerOff,
			changes: with(balancer(func(b *topology.Balancer) { b.Mode = "autoSplitOnly" })),
			rank:    Warn,
			says:    "splitsOnly",
			plan:    "balancer-on",
		},
		{
			name:    "a window is not off",
			rule:    BalancerOff,
			changes: with(balancer(func(b *topology.Balancer) { b.WindowStart, b.WindowStop = "01:00", "05:00" })),
		},
		{
			name:    "settings unread",
			rule:    BalancerOff,
			changes: with(balancer(func(b *topology.Balancer) { b.Known = false })),
			unsure:  true,
			says:    "unread",
		},

		{
			name:    "no shard in the zone",
			rule:    ZoneNoShard,
			changes: with(addZone("eu", "", 1, 2)),
			rank:    Critical,
			says:    "zone.noshard",
			plan:    "zone-add-shard",
		},
		{name: "somebody does", rule: ZoneNoShard, changes: with(addZone("eu", "b", 1, 2))},
		{name: "zones unread", rule: ZoneNoShard, changes: with(withoutPart(topology.PartZones)), unsure: true, says: "denied"},

		{
			name:    "pinned elsewhere",
			rule:    PinViolated,
			changes: with(withCollection("y.documents", "{project_id: 1}", "abcabc"), addZone(pin3, "b", 3, 4)),
			rank:    Info,
			says:    "pin.violated",
			plan:    "pin",
		},
		{
			name:    "pinned elsewhere, balancer off",
			rule:    PinViolated,
			changes: with(off, withCollection("y.documents", "{project_id: 1}", "abcabc"), addZone(pin3, "b", 3, 4)),
			rank:    Warn,
			says:    "pin.violated",
			plan:    "pin",
		},
		{
			name:    "pinned and there",
			rule:    PinViolated,
			changes: with(withCollection("y.documents", "{project_id: 1}", "abcabc"), addZone(pin3, "a", 3, 4)),
		},
		{name: "zones unread", rule: PinViolated, changes: with(withoutPart(topology.PartZones)), unsure: true, says: "denied"},

		{name: "expired", rule: PinExpired, changes: with(addZone(pin3, "a", 3, 4), func(s *Situation) {
			s.Pins = map[string]Pin{oid(3).Hex(): {Expires: now.Add(-time.Hour), Owner: "anna"}}
		}), rank: Info, says: "pin.expired", plan: "unpin"},
		{
			name:    "not yet",
			rule:    PinExpired,
			changes: with(addZone(pin3, "a", 3, 4), func(s *Situation) { s.Pins = map[string]Pin{oid(3).Hex(): {Expires: now.Add(time.Hour)}} }),
		},
		{name: "never", rule: PinExpired, changes: with(addZone(pin3, "a", 3, 4),
			func(s *Situation) { s.Pins = map[string]Pin{oid(3).Hex(): {}} })},
		{name: "made by hand", rule: PinExpired, changes: with(addZone(pin3, "a", 3, 4)), unsure: true, says: "notOurs"},
		{
			name:    "no plans",
			rule:    PinExpired,
			changes: with(addZone(pin3, "a", 3, 4), func(s *Situation) { s.Pins = nil }),
			unsure:  true,
			says:    "noPlans",
		},

		{
			name:    "hot, alone in its chunk",
			rule:    HotProject,
			changes: with(withCollection("y.documents", "{project_id: 1}", "abcabc"), busyProject(3, 30, 0.7)),
			rank:    Info,
			says:    "hot",
			plan:    "isolate",
		},
		{name: "hot, with neighbours", rule: HotProject, changes: with(busyProject(3, 300, 0.7)), rank: Warn, says: "hot", plan: "split-project"},
		{name: "half of very little", rule: HotProject, changes: with(busyProject(3, 0.5, 0.9))},
		{name: "much and not most", rule: HotProject, changes: with(busyProject(3, 500, 0.3))},
		{
			name:    "the key is longer already",
			rule:    HotProject,
			changes: with(withCollection("y.documents", "{project_id: 1, _id: 1}", "abc"), busyProject(3, 300, 0.9)),
		},
		{name: "writes are not counted", rule: HotProject, changes: with(func(s *Situation) { s.Counting = false }),
			unsure: true, says: "notCounting"},
		{name: "nothing counted yet", rule: HotProject, changes: with(writes()), unsure: true, says: "countedNothing"},
		{
			name:    "counted for a minute",
			rule:    HotProject,
			changes: with(writes(Writes{NS: "y.changes", Seconds: 60, Projects: []heat.Line{projectLine(3, 50, 0.9)}})),
			unsure:  true,
			says:    "tooShort",
		},

		{name: "one collection cannot be counted", rule: HotProject, changes: with(writes(
			Writes{NS: "y.changes", Failed: true},
			Writes{
				NS:       "y.snapshots",
				Over:     Window,
				Seconds:  900,
				Total:    heat.Rate{PerSecond: 60},
				Projects: []heat.Line{projectLine(3, 50, 0.9)},
			},
		)), unsure: true, says: "countedPart"},
		{name: "hot in the busiest collection, not in the others", rule: HotProject, changes: with(busyProject(3, 300, 0.7), func(s *Situation) {
			s.Writes = append(
				s.Writes,
				Writes{NS: "y.snapshots", Over: Window, Seconds: 900, Total: heat.Rate{PerSecond: 1}, Projects: []heat.Line{projectLine(4, 1, 1)}},
			)
		}), rank: Warn, says: "hot", plan: "split-project"},

		{
			name: "grows",
			rule: MonotonicKey,
			changes: with(withCollection("y.changes", "{doc_id: 1}", "abc"), writes(Writes{NS: "y.changes", Seconds: 900, Over: Window, To: now,
				Growing: heat.Growing{Is: true, Field: "doc_id", Share: 0.99, Shard: "c"}})),
			rank: Warn,
			says: "growing",
		},
		{name: "does not grow", rule: MonotonicKey, changes: with(withCollection("y.changes", "{doc_id: 1}", "abc"))},
		{
			name:    "writes are not counted",
			rule:    MonotonicKey,
			changes: with(withCollection("y.changes", "{doc_id: 1}", "abc"), func(s *Situation) { s.Counting = false }),
			unsure:  true,
			says:    "notCounting",
		},

		{
			name:    "left alone",
			rule:    Imbalance,
			changes: with(withSize("y.changes", "a", 40*gib, 9, 0), func(s *Situation) { s.Table.Collection("y.changes").NoBalance = true }),
			rank:    Warn,
			says:    "imbalance",
			plan:    "balance-collection",
		},
		{
			name:    "counts chunks",
			rule:    Imbalance,
			changes: with(version("5.0.7"), withSize("y.changes", "a", 40*gib, 9, 0)),
			rank:    Warn,
			says:    "imbalance.counts",
			plan:    "split",
		},
		{name: "it repairs that", rule: Imbalance, changes: with(withSize("y.changes", "a", 40*gib, 9, 0))},
		{name: "off is another rule's", rule: Imbalance, changes: with(off, withSize("y.changes", "a", 40*gib, 9, 0))},
		{
			name:    "a few chunks' worth",
			rule:    Imbalance,
			changes: with(withSize("y.changes", "a", 300*mib, 9, 0), func(s *Situation) { s.Table.Collection("y.changes").NoBalance = true }),
		},
		{name: "sizes not known", rule: Imbalance, changes: with(noSizes("y.changes")), unsure: true, says: "noSizes"},

		{
			name:    "jumbo",
			rule:    Jumbo,
			changes: with(withCollection("y.changes", "{doc_id: hashed}", "aBc")),
			rank:    Warn,
			says:    "jumbo",
			plan:    "split",
		},
		{
			name:    "jumbo on a draining shard",
			rule:    Jumbo,
			changes: with(withCollection("y.changes", "{doc_id: hashed}", "aBc"), drainShard("b")),
			rank:    Critical,
			says:    "jumbo",
			plan:    "split",
		},
		{
			name:    "jumbo of one project",
			rule:    Jumbo,
			changes: with(withCollection("y.documents", "{project_id: 1}", "abCab")),
			rank:    Warn,
			says:    "jumbo",
			plan:    "clear-jumbo",
		},
		{name: "none is", rule: Jumbo},

		{
			name:    "a large project in one chunk",
			rule:    ClientsUnsplit,
			changes: with(withCollection("y.clients", "{project_id: 1, _id: hashed}", "abcab"), big, clients(2, 2900)),
			rank:    Warn,
			says:    "unsplit",
			plan:    "split-project",
		},
		{
			name: "surveyed",
			rule: ClientsUnsplit,
			changes: with(withCollection("y.clients", "{project_id: 1, _id: hashed}", "abcab"), big, noClients, func(s *Situation) {
				s.Surveyed = func(_ topology.Namespace, id string) topology.Figure {
					return topology.Figure{Known: true, Value: map[bool]int64{true: 300 * mib}[id == oid(2).Hex()], Method: "sample", At: now}
				}
			}),
			rank: Info,
			says: "unsplit",
			plan: "split-project",
		},
		{
			name: "small projects",
			rule: ClientsUnsplit,
			changes: with(
				withCollection("y.clients", "{project_id: 1, _id: hashed}", "abcab"),
				big,
				clients(2, 10),
				clients(1, 1),
				clients(3, 1),
				clients(4, 1),
			),
		},
		{name: "clients were not counted", rule: ClientsUnsplit, changes: with(big, noClients), unsure: true, says: "noProjectSizes"},
		{name: "no projects", rule: ClientsUnsplit, changes: with(big, noProjects), unsure: true, says: "noProjects"},
		{name: "no sizes", rule: ClientsUnsplit, changes: with(noSizes("y.clients")), unsure: true, says: "noSizes"},

		{name: "large and unsharded", rule: BigUnsharded, changes: with(withSize("y.users", "a", 5*gib, 9, 0)), rank: Warn, says: "unsharded",
			plan: "move-primary"},
		{name: "large and unsharded, from 8.0 on", rule: BigUnsharded, changes: with(withSize("y.users", "a", 5*gib, 9, 0),
			func(s *Situation) { s.Table.ServerInfo.Version = "8.0.4" }), rank: Warn, says: "unsharded", plan: "move-collection"},
		{name: "large and unsharded, and no other shard takes it", rule: BigUnsharded, changes: with(withSize("y.users", "a", 5*gib, 9, 0),
			drainShard("b"), drainShard("c")), rank: Warn, says: "unsharded"},
		{name: "much of a small shard", rule: BigUnsharded, changes: with(withSize("y.users", "a", 300*mib, 9, 0)),
			rank: Info, says: "unsharded", plan: "move-primary"},
		{name: "small", rule: BigUnsharded, changes: with(withSize("y.users", "a", 100*mib, 9, 0))},
		{name: "not listed", rule: BigUnsharded, changes: with(func(s *Situation) { s.Table.Unsharded = nil }), unsure: true, says: "unlisted"},
		{name: "size not known", rule: BigUnsharded, changes: with(noSizes("y.users")), unsure: true, says: "noSize"},

		{
			name:    "bodies are large",
			rule:    SnapshotBodies,
			changes: with(withSize("y.snapshot_bodies", "a", 3*gib, 9, 0)),
			rank:    Warn,
			says:    "bodies",
		},
		{name: "bodies are small", rule: SnapshotBodies, changes: with(withSize("y.snapshot_bodies", "a", 3*mib, 9, 0))},
		{name: "size not known", rule: SnapshotBodies, changes: with(noSizes("y.snapshot_bodies")), unsure: true, says: "noSize"},

		{name: "all disks fill up", rule: AddShards, changes: with(setDisks(70, 75, 72)), rank: Warn, says: "full"},
		{name: "all, and one almost full", rule: AddShards, changes: with(setDisks(92, 60, 60)), rank: Critical, says: "full"},
		{name: "one fills up", rule: AddShards, changes: with(setDisks(20, 85, 30)), rank: Warn, says: "full.alone"},
		{name: "one almost full", rule: AddShards, changes: with(setDisks(20, 90, 30)), rank: Critical, says: "full.alone"},
		{name: "room everywhere", rule: AddShards, changes: with(setDisks(69, 70, 69))},
		{name: "one fills up and one is not known", rule: AddShards, changes: with(setDisks(-1, 85, 30)), rank: Warn, says: "full.unknownRest"},
		{name: "all that are known fill up", rule: AddShards, changes: with(setDisks(-1, 95, 95)), rank: Critical, says: "full.unknownRest"},
		{name: "one is not known", rule: AddShards, changes: with(setDisks(-1, 75, 75)), unsure: true, says: "noDisk"},
		{name: "disks unread", rule: AddShards, changes: with(withoutPart(topology.PartDisks)), unsure: true, says: "denied"},
		{name: "a read that gave none", rule: AddShards, changes: with(func(s *Situation) { s.Table.Disks = nil }), unsure: true, says: "noDisk"},

		{name: "many orphans", rule: Orphans, changes: with(withSize("y.changes", "b", gib, 1_000_000, 200_000)), rank: Info, says: "orphans"},
		{name: "very many", rule: Orphans, changes: with(withSize("y.changes", "b", gib, 1_000_000, 500_000)), rank: Warn, says: "orphans"},
		{name: "a small part", rule: Orphans, changes: with(withSize("y.changes", "b", gib, 100_000_000, 200_000))},
		{name: "orphans are not reported", rule: Orphans, changes: with(noOrphans), unsure: true, says: "noOrphans"},
		{name: "a release that does not count them", rule: Orphans, changes: with(noOrphans, version("5.0.7")), unsure: true,
			says: "orphans.release"},

		{
			name:    "another key",
			rule:    Drift,
			changes: with(withCollection("y.versionvectors", "{project_id: 1}", "abc")),
			rank:    Warn,
			says:    "drift.different",
		},
		{name: "as the layout", rule: Drift},
		{name: "not listed", rule: Drift, changes: with(func(s *Situation) {
			s.Table.Unsharded = nil
			var left []*topology.Collection
			for _, col := range s.Table.Collections {
				if col.NS != "y.schemas" {
					left = append(left, col)
				}
			}
			s.Table.Collections = left
		}), unsure: true, says: "unlisted"},

		{
			name:    "zone of no project",
			rule:    ZoneUnknown,
			changes: with(addZone("pin-"+oid(99).Hex(), "b", 3, 4)),
			rank:    Info,
			says:    "zone.unknown",
			plan:    "zone-remove-range",
		},
		{name: "of somebody", rule: ZoneUnknown, changes: with(addZone(pin3, "a", 3, 4))},
		{name: "of no project at all", rule: ZoneUnknown, changes: with(addZone("pin-board", "a", 3, 4))},
		{name: "no projects", rule: ZoneUnknown, changes: with(addZone(pin3, "a", 3, 4), noProjects), unsure: true, says: "noProjects"},

		{
			name:    "of a dropped collection",
			rule:    ZoneDropped,
			changes: with(addZone("eu", "a", 1, 2), func(s *Situation) { s.Table.Zones[0].NS = "y.gone" }),
			rank:    Info,
			says:    "zone.dropped",
			plan:    "zone-remove-range",
		},
		{
			name:    "of one not sharded",
			rule:    ZoneDropped,
			changes: with(addZone("eu", "a", 1, 2), func(s *Situation) { s.Table.Zones[0].NS = "y.users" }),
			rank:    Info,
			says:    "zone.unsharded",
			plan:    "zone-remove-range",
		},
		{name: "of one that is there", rule: ZoneDropped, changes: with(addZone("eu", "a", 1, 2))},
		{name: "zones unread", rule: ZoneDropped, changes: with(withoutPart(topology.PartZones)), unsure: true, says: "denied"},

		{name: "no ranges", rule: ZoneEmpty, changes: with(assignZone("eu", "b")), rank: Info, says: "zone.empty", plan: "zone-remove-shard"},
		{name: "ranges", rule: ZoneEmpty, changes: with(addZone("eu", "b", 1, 2))},
		{name: "zones unread", rule: ZoneEmpty, changes: with(withoutPart(topology.PartZones)), unsure: true, says: "denied"},
	})
}

// ruleCase is a situation and the expected result of a rule.
type ruleCase struct {
	name    string
	rule    Rule
	changes []change
	rank    Severity // "": does not fire
	says    string   // code of the problem's text, or of the uncertainty
	plan    string   // kind of the first plan; "" = none
	unsure  bool
}

func runCases(t *testing.T, cases []ruleCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(string(c.rule)+" "+c.name, func(t *testing.T) {
			items, unsure, passed := evaluateRule(healthy(c.changes...), c.rule)
			switch {
			case c.unsure:
				if len(unsure) == 0 || unsure[0].Why.Code != c.says || unsure[0].Why.Pattern == "" || strings.Contains(unsure[0].Why.At(now), "{") ||
					passed {
					t.Fatalf("items %v, unsure %v, passed %v; want unsure %s", items, unsure, passed, c.says)
				}
			case c.rank == "":
				if !passed {
					t.Fatalf("items %v, unsure %v; want none", items, unsure)
				}
			default:
				if len(items) == 0 || passed {
					t.Fatalf("the rule does not fire; unsure %v", unsure)
				}
				checkItem(t, items[0], c.rank, c.says, c.plan)
			}
		})
	}
}

func checkItem(t *testing.T, i Problem, rank Severity, says, kind string) {
	t.Helper()
	if i.Severity != rank || i.Text.Code != says {
		t.Errorf("%s %s, want %s %s", i.Severity, i.Text.Code, rank, says)
	}
	first := ""
	if len(i.Remedy.Plans) > 0 {
		first = i.Remedy.Plans[0].Kind
	}
	if first != kind {
		t.Errorf("first plan %q, want %q (%v)", first, kind, i.Remedy)
	}
	if i.Why.Code == "" || i.Subject == "" || len(i.Evidence) == 0 || i.ID != idOf(i.Rule, i.Subject) {
		t.Errorf("lacks why, subject, evidence or id: %+v", i)
	}
	if len(i.Remedy.Plans) == 0 && i.Remedy.WhyNot.Code == "" {
		t.Errorf("neither a plan nor a reason for its absence: %+v", i.Remedy)
	}
	for _, m := range messagesOf(i) {
		if text := m.At(now); text == "" || m.Pattern == "" ||
			strings.ContainsAny(text, "{}") && !strings.ContainsAny(fmt.Sprint(m.Args()), "{}") {
			t.Errorf("%s: not a whole sentence: %q", m.Code, text)
		}
	}
	for _, e := range i.Evidence {
		if e.Name.Code == "" || e.Unit == "" || e.Known && (e.Method == "" || e.At.IsZero()) || !e.Known && e.Reason == "" {
			t.Errorf("evidence without name, method, time or reason: %+v", e)
		}
	}
}

// messagesOf returns all messages of a problem.
func messagesOf(p Problem) []message.Message {
	out := []message.Message{p.Text, p.Why}
	if !p.Remedy.WhyNot.IsZero() {
		out = append(out, p.Remedy.WhyNot)
	}
	for _, e := range p.Evidence {
		out = append(out, e.Name)
	}
	for _, x := range p.Remedy.Plans {
		out = append(out, x.Text)
	}
	for _, c := range p.Remedy.Commands {
		out = append(out, c.Explanation)
	}
	return out
}
