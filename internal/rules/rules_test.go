package rules

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/heat"
	"shardboard/internal/message"
	"shardboard/internal/placement"
	"shardboard/internal/store"
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
	return writes(Writes{NS: "y.changes", Over: Window, Seconds: 900, To: now,
		Total:    heat.Rate{PerSecond: perSecond / share},
		Projects: []heat.Line{projectLine(project, perSecond, share)}})
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

// heldUp has cursors of these ages, oldest first, that hold up the deletion of y.changes on b.
func heldUp(unsure bool, ages ...time.Duration) change {
	return func(s *Situation) {
		h := topology.HeldDeletion{NS: "y.changes", Shard: "b", Since: now.Add(-time.Minute), Unsure: unsure, Count: len(ages)}
		for i, age := range ages {
			h.Cursors = append(h.Cursors, topology.OpenCursor{Shard: "b", NS: "y.changes", ID: int64(i), App: "report-job", Client: "10.0.0.7",
				Opened: now.Add(-age), Session: topology.SessionID{ID: strings.Repeat(string(rune('a'+i)), 16)}})
		}
		s.Table.Deletions = topology.Deletions{Held: []topology.HeldDeletion{h}, At: now}
	}
}

var pin3 = "pin-" + oid(3).Hex()

// TestEachRuleFiresPassesOrIsUnsure has for each rule cases in which it fires, almost
// fires and passes, and lacks data.
func TestEachRuleFiresPassesOrIsUnsure(t *testing.T) {
	big := withSize("y.clients", "a", 4*gib, 1000, 0)
	runCases(t, []ruleCase{
		fires("drains with the balancer off", DrainingStuck, Critical, "draining.balancerOff", "balancer-on", drainShard("b"), off),
		fires("drains, all chunks jumbo", DrainingStuck, Critical, "draining.blocked", "", drainShard("b"), func(s *Situation) {
			for _, col := range s.Table.Collections {
				key := col.Key.String()
				addCollection(s, string(col.NS), key, "aBc")
			}
		}),
		fires("drained but for databases", DrainingStuck, Critical, "draining.primary", "move-primary",
			drainShard("a"), func(s *Situation) {
				for _, col := range append([]*topology.Collection(nil), s.Table.Collections...) {
					addCollection(s, string(col.NS), col.Key.String(), "bcb")
				}
			}),
		fires("drained but for unsharded collections", DrainingStuck, Critical, "draining.unsharded", "move-collection",
			drainShard("b"), emptied("b"), tracked("y.users", "B")),
		fires("drained but for those, and the balancer is off", DrainingStuck, Critical, "draining.unsharded", "move-collection",
			drainShard("b"), emptied("b"), tracked("y.users", "B"), tracked("y.invites", "b"), off),
		passes("emptied with the balancer off", DrainingStuck, drainShard("b"), emptied("b"), off),
		fires("emptied with the balancer off", Draining, Info, "draining.empty", "remove-shard", drainShard("b"), emptied("b"), off),
		fires("drains, and the server's own chunks are left", Draining, Info, "draining", "",
			drainShard("b"), emptied("b"), withCollection("config.system.sessions", "{_id: 1}", "abc"), movedAway("b")),
		fires("drains and nothing moves", DrainingStuck, Critical, "draining.quiet", "", drainShard("b")),
		lacks("drains, the log unread", DrainingStuck, "noEvents", drainShard("b"), withoutPart(topology.PartEvents)),
		lacks("shards unread", DrainingStuck, "denied", withoutPart(topology.PartShards)),

		fires("off for an unknown time", BalancerOff, Warn, "off", "balancer-on", off),
		fires("off for days", BalancerOff, Warn, "off.since", "balancer-on",
			off, func(s *Situation) { s.Off = SettingSince{At: now.Add(-72 * time.Hour), Method: "history"} }),
		fires("off for a while at least", BalancerOff, Warn, "off.sinceAtLeast", "balancer-on",
			off, func(s *Situation) { s.Off = SettingSince{At: now.Add(-time.Minute), AtLeast: true, Method: "watched"} }),
		fires("off for minutes", BalancerOff, Info, "off.since", "balancer-on",
			off, func(s *Situation) { s.Off = SettingSince{At: now.Add(-5 * time.Minute), Method: "watched"} }),
		fires("off while a shard drains", BalancerOff, Critical, "off", "balancer-on", off, drainShard("c")),
		fires("splits only", BalancerOff, Warn, "splitsOnly", "balancer-on",
			balancer(func(b *topology.Balancer) { b.Mode = "autoSplitOnly" })),
		passes("a window is not off", BalancerOff,
			balancer(func(b *topology.Balancer) { b.WindowStart, b.WindowStop = "01:00", "05:00" })),
		fires("a value is refused", BalancerOff, Warn, "balancer.refused", "balancer-window",
			balancer(func(b *topology.Balancer) {
				b.Refused = []topology.RefusedSetting{{Doc: "balancer", Field: "activeWindow", Value: `{"start":"25:00"}`, Why: "No."}}
			})),
		fires("a value is refused and the balancer off", BalancerOff, Warn, "off", "balancer-on", off,
			balancer(func(b *topology.Balancer) { b.Refused = []topology.RefusedSetting{{Doc: "chunksize", Field: "value"}} })),
		fires("rows of somebody else", ForgedRows, Critical, "forged", "",
			func(s *Situation) {
				s.Unsealed = []store.Unsealed{{Table: "sessions", ID: "x", At: s.Now}, {Table: "sessions", ID: "y", At: s.Now}}
			}),
		passes("no such rows", ForgedRows),
		fires("something is not read", SettingsUnread, Info, "settingsUnread", "",
			balancer(func(b *topology.Balancer) { b.Unread = []string{"balancer.color"} })),
		passes("all is read", SettingsUnread),
		fires("merging is off for the cluster", AutoMergeOff, Info, "autoMergeOff.cluster", "",
			balancer(func(b *topology.Balancer) { b.AutoMergeOff = true })),
		passes("with the balancer", AutoMergeOff, off, balancer(func(b *topology.Balancer) { b.AutoMergeOff = true })),
		lacks("settings unread", BalancerOff, "unread", balancer(func(b *topology.Balancer) { b.Known = false })),

		fires("a cursor holds up a deletion", DeletionHeld, Warn, "held", "", heldUp(false, time.Hour, 2*time.Minute)),
		fires("one may do so", DeletionHeld, Info, "held.unsure", "", heldUp(true, time.Hour)),
		passes("the cursors are young", DeletionHeld, heldUp(false, 9*time.Minute, 2*time.Minute)),
		passes("nothing waits", DeletionHeld),
		lacks("cursors may not be read", DeletionHeld, "held.denied", func(s *Situation) {
			s.Table.Deletions = topology.Deletions{Reason: "notPermitted", Privilege: "inprog on the cluster"}
		}),

		fires("no shard in the zone", ZoneNoShard, Critical, "zone.noshard", "zone-add-shard", addZone("eu", "", 1, 2)),
		passes("somebody does", ZoneNoShard, addZone("eu", "b", 1, 2)),
		lacks("zones unread", ZoneNoShard, "denied", withoutPart(topology.PartZones)),

		fires("pinned elsewhere", PinViolated, Info, "pin.violated", "pin",
			withCollection("y.documents", "{project_id: 1}", "abcabc"), addZone(pin3, "b", 3, 4)),
		fires("pinned elsewhere, balancer off", PinViolated, Warn, "pin.violated", "pin",
			off, withCollection("y.documents", "{project_id: 1}", "abcabc"), addZone(pin3, "b", 3, 4)),
		passes("pinned and there", PinViolated,
			withCollection("y.documents", "{project_id: 1}", "abcabc"), addZone(pin3, "a", 3, 4)),
		lacks("zones unread", PinViolated, "denied", withoutPart(topology.PartZones)),

		fires("expired", PinExpired, Info, "pin.expired", "unpin", addZone(pin3, "a", 3, 4), func(s *Situation) {
			s.Pins = map[string]Pin{oid(3).Hex(): {Expires: now.Add(-time.Hour), Owner: "anna"}}
		}),
		passes("not yet", PinExpired,
			addZone(pin3, "a", 3, 4), func(s *Situation) { s.Pins = map[string]Pin{oid(3).Hex(): {Expires: now.Add(time.Hour)}} }),
		passes("never", PinExpired, addZone(pin3, "a", 3, 4), func(s *Situation) { s.Pins = map[string]Pin{oid(3).Hex(): {}} }),
		lacks("made by hand", PinExpired, "notOurs", addZone(pin3, "a", 3, 4)),
		lacks("no plans", PinExpired, "noPlans", addZone(pin3, "a", 3, 4), func(s *Situation) { s.Pins = nil }),

		fires("hot, alone in its chunk", HotProject, Info, "hot", "isolate",
			withCollection("y.documents", "{project_id: 1}", "abcabc"), busyProject(3, 30, 0.7)),
		fires("hot, with neighbours", HotProject, Warn, "hot", "split-project", busyProject(3, 300, 0.7)),
		fires("hot, its writes elsewhere", HotProject, Warn, "hot.on", "split-project", busyProject(3, 300, 0.7), func(s *Situation) {
			on := projectLine(3, 280, 0.65)
			on.Shard = "b"
			s.Writes[0].ProjectShards = []heat.Line{on}
		}),
		fires("hot, its writes spread", HotProject, Warn, "hot.spread", "split-project", busyProject(3, 300, 0.7), func(s *Situation) {
			on := projectLine(3, 110, 0.25)
			on.Shard = "b"
			s.Writes[0].ProjectShards = []heat.Line{on}
		}),
		passes("half of very little", HotProject, busyProject(3, 0.5, 0.9)),
		passes("much and not most", HotProject, busyProject(3, 500, 0.3)),
		passes("the key is longer already", HotProject,
			withCollection("y.documents", "{project_id: 1, _id: 1}", "abc"), busyProject(3, 300, 0.9)),
		lacks("writes are not counted", HotProject, "notCounting", func(s *Situation) { s.Counting = false }),
		lacks("nothing counted yet", HotProject, "countedNothing", writes()),
		lacks("counted for a minute", HotProject, "tooShort",
			writes(Writes{NS: "y.changes", Seconds: 40, Projects: []heat.Line{projectLine(3, 50, 0.9)}})),

		lacks("one collection cannot be counted", HotProject, "countedPart",
			writes(Writes{NS: "y.changes", Failed: true}, Writes{NS: "y.snapshots", Over: Window, Seconds: 900,
				Total: heat.Rate{PerSecond: 60}, Projects: []heat.Line{projectLine(3, 50, 0.9)}})),
		fires("hot in the busiest collection, not in the others", HotProject, Warn, "hot", "split-project",
			busyProject(3, 300, 0.7), func(s *Situation) {
				s.Writes = append(s.Writes, Writes{NS: "y.snapshots", Over: Window, Seconds: 900,
					Total: heat.Rate{PerSecond: 1}, Projects: []heat.Line{projectLine(4, 1, 1)}})
			}),

		lacks("of no profile", MonotonicKey, "unprofiled", withCollection("y.logs", "{at: 1}", "abc")),
		lacks("nothing else than of no profile", HotShard, "noneCountable", func(s *Situation) {
			withCollection("z.logs", "{at: 1}", "abc")(s)
			s.Table.Collections = s.Table.Collections[len(s.Table.Collections)-1:]
		}),
		fires("grows", MonotonicKey, Warn, "growing", "reshard",
			withCollection("y.changes", "{doc_id: 1}", "abc"), writes(Writes{NS: "y.changes", Seconds: 900, Over: Window, To: now,
				Growing: heat.Growing{Is: true, Field: "doc_id", Share: 0.99, Shard: "c"}})),
		passes("does not grow", MonotonicKey, withCollection("y.changes", "{doc_id: 1}", "abc")),
		lacks("writes are not counted", MonotonicKey, "notCounting",
			withCollection("y.changes", "{doc_id: 1}", "abc"), func(s *Situation) { s.Counting = false }),

		fires("left alone", Imbalance, Warn, "imbalance", "balance-collection",
			withSize("y.changes", "a", 40*gib, 9, 0), func(s *Situation) { s.Table.Collection("y.changes").NoBalance = true }),
		fires("small beside the rest", Imbalance, Info, "imbalance", "balance-collection", withSize("y.changes", "a", 40*gib, 9, 0),
			withSize("y.documents", "a", 400*gib, 9, 0), withSize("y.documents", "b", 400*gib, 9, 0), withSize("y.documents", "c", 400*gib, 9, 0),
			func(s *Situation) { s.Table.Collection("y.changes").NoBalance = true }),
		fires("counts chunks", Imbalance, Warn, "imbalance.counts", "split",
			version("5.0.7"), withSize("y.changes", "a", 40*gib, 9, 0)),
		passes("it repairs that", Imbalance, withSize("y.changes", "a", 40*gib, 9, 0)),
		passes("off is another rule's", Imbalance, off, withSize("y.changes", "a", 40*gib, 9, 0)),
		passes("a few chunks' worth", Imbalance,
			withSize("y.changes", "a", 300*mib, 9, 0), func(s *Situation) { s.Table.Collection("y.changes").NoBalance = true }),
		lacks("sizes not known", Imbalance, "noSizes", noSizes("y.changes")),

		fires("jumbo", Jumbo, Warn, "jumbo", "split", withCollection("y.changes", "{doc_id: hashed}", "aBc")),
		fires("jumbo on a draining shard", Jumbo, Critical, "jumbo", "split",
			withCollection("y.changes", "{doc_id: hashed}", "aBc"), drainShard("b")),
		fires("jumbo of one project", Jumbo, Warn, "jumbo", "clear-jumbo",
			withCollection("y.documents", "{project_id: 1}", "abCab")),
		passes("none is", Jumbo),

		fires("a large project in one chunk", ClientsUnsplit, Warn, "unsplit", "split-project",
			withCollection("y.clients", "{project_id: 1, _id: hashed}", "abcab"), big, clients(2, 2900)),
		fires("surveyed", ClientsUnsplit, Info, "unsplit", "split-project",
			withCollection("y.clients", "{project_id: 1, _id: hashed}", "abcab"), big, noClients, func(s *Situation) {
				s.Surveyed = func(_ topology.Namespace, id string) topology.Figure {
					return topology.Figure{Known: true, Value: map[bool]int64{true: 300 * mib}[id == oid(2).Hex()], Method: "sample", At: now}
				}
			}),
		passes("small projects", ClientsUnsplit,
			withCollection("y.clients", "{project_id: 1, _id: hashed}", "abcab"), big, clients(2, 10), clients(1, 1), clients(3, 1), clients(4, 1)),
		lacks("clients were not counted", ClientsUnsplit, "noProjectSizes", big, noClients),
		lacks("no projects", ClientsUnsplit, "noProjects", big, noProjects),
		lacks("no sizes", ClientsUnsplit, "noSizes", noSizes("y.clients")),

		fires("large and unsharded", BigUnsharded, Warn, "unsharded", "move-primary", withSize("y.users", "a", 5*gib, 9, 0)),
		fires("large and unsharded, from 8.0 on", BigUnsharded, Warn, "unsharded", "move-collection",
			withSize("y.users", "a", 5*gib, 9, 0), func(s *Situation) { s.Table.ServerInfo.Version = "8.0.4" }),
		fires("large and unsharded, and off the primary shard", BigUnsharded, Warn, "unsharded", "move-collection",
			tracked("y.users", "b"), withSize("y.users", "b", 5*gib, 9, 0)),
		fires("large and unsharded, and no other shard takes it", BigUnsharded, Warn, "unsharded", "",
			withSize("y.users", "a", 5*gib, 9, 0), drainShard("b"), drainShard("c")),
		fires("much of a small shard", BigUnsharded, Info, "unsharded", "move-primary", withSize("y.users", "a", 300*mib, 9, 0)),
		passes("small", BigUnsharded, withSize("y.users", "a", 100*mib, 9, 0)),
		lacks("not listed", BigUnsharded, "unlisted", func(s *Situation) { s.Table.Unsharded = nil }),
		lacks("size not known", BigUnsharded, "noSize", noSizes("y.users")),

		fires("bodies are large", SnapshotBodies, Warn, "bodies", "", withSize("y.snapshot_bodies", "a", 3*gib, 9, 0)),
		fires("bodies are large, and off the primary shard", SnapshotBodies, Warn, "bodies", "",
			tracked("y.snapshot_bodies", "b"), withSize("y.snapshot_bodies", "b", 3*gib, 9, 0)),
		passes("bodies are small", SnapshotBodies, withSize("y.snapshot_bodies", "a", 3*mib, 9, 0)),
		lacks("size not known", SnapshotBodies, "noSize", noSizes("y.snapshot_bodies")),

		fires("all disks fill up", AddShards, Warn, "full", "", setDisks(70, 75, 72)),
		fires("all are on one disk", AddShards, Warn, "full.one", "", func(s *Situation) { oneMachine(s); setDisks(74, 74, 74)(s) }),
		passes("one disk is room enough", AddShards, func(s *Situation) { oneMachine(s); setDisks(69, 69, 69)(s) }),
		fires("two on one disk fill up", AddShards, Critical, "full.alone", "", func(s *Situation) { oneMachine(s); setDisks(95, 95, 30)(s) }),
		fires("all, and one almost full", AddShards, Critical, "full", "", setDisks(92, 60, 60)),
		fires("one fills up", AddShards, Warn, "full.alone", "", setDisks(20, 85, 30)),
		fires("one almost full", AddShards, Critical, "full.alone", "", setDisks(20, 90, 30)),
		passes("room everywhere", AddShards, setDisks(69, 70, 69)),
		fires("one fills up and one is not known", AddShards, Warn, "full.unknownRest", "", setDisks(-1, 85, 30)),
		fires("all that are known fill up", AddShards, Critical, "full.unknownRest", "", setDisks(-1, 95, 95)),
		lacks("one is not known", AddShards, "noDisk", setDisks(-1, 75, 75)),
		lacks("disks unread", AddShards, "denied", withoutPart(topology.PartDisks)),
		lacks("a read that gave none", AddShards, "noDisk", func(s *Situation) { s.Table.Disks = nil }),

		fires("many orphans", Orphans, Info, "orphans", "", withSize("y.changes", "b", gib, 1_000_000, 200_000)),
		fires("very many", Orphans, Warn, "orphans", "", withSize("y.changes", "b", gib, 1_000_000, 500_000)),
		passes("a small part", Orphans, withSize("y.changes", "b", gib, 100_000_000, 200_000)),
		lacks("orphans are not reported", Orphans, "noOrphans", noOrphans),
		lacks("a release that does not count them", Orphans, "orphans.release", noOrphans, version("5.0.7")),

		fires("another key", Drift, Warn, "drift.different", "reshard", withCollection("y.versionvectors", "{project_id: 1}", "abc")),
		fires("a shorter key", Drift, Info, "drift.different", "refine-key", withCollection("y.clients", "{project_id: 1}", "abc")),
		passes("as the layout", Drift),
		lacks("not listed", Drift, "unlisted", func(s *Situation) {
			s.Table.Unsharded = nil
			var left []*topology.Collection
			for _, col := range s.Table.Collections {
				if col.NS != "y.schemas" {
					left = append(left, col)
				}
			}
			s.Table.Collections = left
		}),

		fires("zone of no project", ZoneUnknown, Info, "zone.unknown", "zone-remove-range",
			addZone("pin-"+oid(99).Hex(), "b", 3, 4)),
		passes("of somebody", ZoneUnknown, addZone(pin3, "a", 3, 4)),
		passes("of no project at all", ZoneUnknown, addZone("pin-board", "a", 3, 4)),
		lacks("no projects", ZoneUnknown, "noProjects", addZone(pin3, "a", 3, 4), noProjects),

		fires("of a dropped collection", ZoneDropped, Info, "zone.dropped", "zone-remove-range",
			addZone("eu", "a", 1, 2), func(s *Situation) { s.Table.Zones[0].NS = "y.gone" }),
		fires("of one not sharded", ZoneDropped, Info, "zone.unsharded", "zone-remove-range",
			addZone("eu", "a", 1, 2), func(s *Situation) { s.Table.Zones[0].NS = "y.users" }),
		passes("of one that is there", ZoneDropped, addZone("eu", "a", 1, 2)),
		lacks("zones unread", ZoneDropped, "denied", withoutPart(topology.PartZones)),

		fires("no ranges", ZoneEmpty, Info, "zone.empty", "zone-remove-shard", assignZone("eu", "b")),
		passes("ranges", ZoneEmpty, addZone("eu", "b", 1, 2)),
		lacks("zones unread", ZoneEmpty, "denied", withoutPart(topology.PartZones)),
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

func fires(name string, r Rule, rank Severity, says, plan string, c ...change) ruleCase {
	return ruleCase{name: name, rule: r, changes: c, rank: rank, says: says, plan: plan}
}

func passes(name string, r Rule, c ...change) ruleCase {
	return ruleCase{name: name, rule: r, changes: c}
}

// lacks is a situation in which the rule lacks data.
func lacks(name string, r Rule, says string, c ...change) ruleCase {
	return ruleCase{name: name, rule: r, changes: c, says: says, unsure: true}
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
				must.That(t, passed, "items %v, unsure %v; want none", items, unsure)
			default:
				must.That(t, len(items) != 0 && !passed, "the rule does not fire; unsure %v", unsure)
				checkItem(t, items[0], c.rank, c.says, c.plan)
			}
		})
	}
}

func checkItem(t *testing.T, i Problem, rank Severity, says, kind string) {
	t.Helper()
	expect.That(t, i.Severity == rank && i.Text.Code == says, "%s %s, want %s %s", i.Severity, i.Text.Code, rank, says)
	first := ""
	if len(i.Remedy.Plans) > 0 {
		first = i.Remedy.Plans[0].Kind
	}
	expect.That(t, first == kind, "first plan %q, want %q (%v)", first, kind, i.Remedy)
	expect.That(t, i.Why.Code != "" && i.Subject != "" && len(i.Evidence) != 0 && i.ID == idOf(i.Rule, i.Subject),
		"lacks why, subject, evidence or id: %+v", i)
	expect.That(t, len(i.Remedy.Plans) != 0 || i.Remedy.WhyNot.Code != "",
		"neither a plan nor a reason for its absence: %+v", i.Remedy)
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

// One entry that is hours late hides no other from the counts of the last hour.
func TestOneLateEntryHidesNoMove(t *testing.T) {
	move := func(id, shard string, ago time.Duration) topology.Event {
		return topology.Event{ID: id, Shard: shard, What: "moveChunk.commit", NS: "y.documents", Time: now.Add(-ago),
			Details: commitDetails(t, id)}
	}
	log := []topology.Event{move("1", "a", time.Minute), move("2", "b", 3*time.Hour),
		move("3", "a", 3*time.Minute), move("4", "c", 5*time.Minute)}
	for _, events := range [][]topology.Event{log, topology.CorrectTimes(log)} {
		table := &topology.Table{Events: events}
		want := 3 // the late one is not in the hour by its own clock
		if !events[1].Written.IsZero() {
			want = 4
		}
		expect.Equal(t, MovesLately(table, now).Moves, want, "moves")
	}
}

func commitDetails(t *testing.T, id string) bson.Raw {
	t.Helper()
	raw := must.Get(bson.Marshal(bson.D{{Key: "min", Value: bson.D{{Key: "p", Value: id}}},
		{Key: "max", Value: bson.D{{Key: "p", Value: id + "x"}}},
		{Key: "from", Value: "a"}, {Key: "to", Value: "b"}}))
	return raw
}
