package rules

import (
	"cmp"
	"slices"
	"strings"

	"shardboard/internal/balance"
	"shardboard/internal/topology"
)

// maxItems bounds the problems of one rule, so that a cluster with thousands of
// one kind still has a list that can be read.
const maxItems = 50

var rules = []struct {
	rule Rule
	look func(*look)
}{
	{Unreadable, unreadable},
	{DrainingStuck, drainingStuck},
	{BalancerOff, balancerOff},
	{BalancingPaused, balancingPaused},
	{ZonesStuck, zonesStuck},
	{ZoneNoShard, zoneNoShard},
	{ZoneViolated, zoneViolated},
	{PinViolated, pinViolated},
	{PinExpired, pinExpired},
	{MigrationsFailing, migrationsFailing},
	{MigrationsBlocked, migrationsBlocked},
	{HotShard, hotShard},
	{HotChunk, hotChunk},
	{HotDocument, hotDocument},
	{HotProject, hotProject},
	{MonotonicKey, monotonicKey},
	{Imbalance, imbalance},
	{Uneven, uneven},
	{Jumbo, jumbo},
	{ClientsUnsplit, clientsUnsplit},
	{BigUnsharded, bigUnsharded},
	{SnapshotBodies, snapshotBodies},
	{AddShards, addShards},
	{Orphans, orphans},
	{Drift, drift},
	{Draining, draining},
	{BalancingOff, balancingOff},
	{Resharding, resharding},
	{RouterSilent, routerSilent},
	{RouterVersions, routerVersions},
	{ZoneCut, zoneCut},
	{ZoneUnknown, zoneUnknown},
	{ZoneDropped, zoneDropped},
	{ZoneEmpty, zoneEmpty},
}

// Rules are the names of all rules in the order in which they look.
func Rules() []Rule {
	out := make([]Rule, len(rules))
	for i, r := range rules {
		out[i] = r.rule
	}
	return out
}

// Evaluate is what all rules find in a situation. Before the table was loaded no
// rule but the one on failed reads can decide.
func Evaluate(s Situation) Report {
	r := Report{At: s.Now}
	for _, rule := range rules {
		l := &look{Situation: s, report: &r, rule: rule.rule}
		if s.Table == nil || !s.Table.Loaded && (rule.rule != Unreadable || !l.failedBeforeLoad()) {
			l.cannot("", "notLoaded")
			continue
		}
		l.plans = map[topology.Namespace]*balance.Plan{}
		items, unsure := len(r.Items), len(r.Unsure)
		rule.look(l)
		slices.SortStableFunc(r.Items[items:], byRank)
		r.Items = r.Items[:min(len(r.Items), items+maxItems)]
		r.Unsure = r.Unsure[:min(len(r.Unsure), unsure+maxItems)]
		if len(r.Items) == items && len(r.Unsure) == unsure {
			r.Passed = append(r.Passed, rule.rule)
		}
	}
	slices.SortStableFunc(r.Items, byRank)
	return r
}

func byRank(a, b Problem) int {
	return cmp.Or(cmp.Compare(b.Severity.Level(), a.Severity.Level()), cmp.Compare(b.Weight, a.Weight), strings.Compare(a.Subject, b.Subject))
}
