package rules

import (
	"cmp"
	"slices"
	"strings"

	"shardboard/internal/balance"
	"shardboard/internal/topology"
)

// maxItems bounds what one rule says: a cluster with more troubles of one kind
// has one trouble.
const maxItems = 50

var rules = []struct {
	rule Rule
	look func(*look)
}{
	{DrainingStuck, drainingStuck},
	{BalancerOff, balancerOff},
	{ZoneNoShard, zoneNoShard},
	{PinViolated, pinViolated},
	{PinExpired, pinExpired},
	{HotProject, hotProject},
	{MonotonicKey, monotonicKey},
	{Imbalance, imbalance},
	{Jumbo, jumbo},
	{ClientsUnsplit, clientsUnsplit},
	{BigUnsharded, bigUnsharded},
	{SnapshotBodies, snapshotBodies},
	{AddShards, addShards},
	{Orphans, orphans},
	{Drift, drift},
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

// Evaluate is what all rules find in a situation. A table that was never loaded makes
// every rule unsure.
func Evaluate(s Situation) Report {
	r := Report{At: s.Now}
	for _, rule := range rules {
		l := &look{Situation: s, report: &r, rule: rule.rule}
		if s.Table == nil || !s.Table.Loaded {
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
