package rules

import (
	"cmp"
	"slices"
	"sync"

	"shardboard/internal/balance"
	"shardboard/internal/heat"
	"shardboard/internal/message"
	"shardboard/internal/natural"
	"shardboard/internal/topology"
)

// maxItems bounds the problems of one rule, so that a cluster with thousands of
// one kind still has a list that can be read.
const maxItems = 50

// Evaluate is what all rules find in a situation. Before the table was read, which a saved one was not, no
// rule but the one on failed reads can decide.
func Evaluate(s Situation) Report {
	r := Report{At: s.Now}
	cover := sync.OnceValue(func() []heat.Coverage { return heat.Cover(s.Table, s.Profile) })
	for _, rule := range all {
		ev := &evaluation{Situation: s, report: &r, rule: rule.id, cover: cover}
		if s.Table == nil || !s.Table.IsRead() && (rule.id != Unreadable || !ev.failedBeforeLoad()) {
			ev.cannot("", message.New("notLoaded", "The routing table is not loaded yet."))
			continue
		}
		ev.plans = map[topology.Namespace]*balance.Plan{}
		items, unsure := len(r.Items), len(r.Unsure)
		switch {
		case slices.ContainsFunc(rule.needs, ev.unread):
		case rule.ofWrites && !ev.countable():
		case rule.ofWrites && s.Minutes != nil:
			ev.findByMinute(rule)
		default:
			rule.find(ev)
		}
		slices.SortStableFunc(r.Items[items:], byRank)
		r.Items = append(r.Items[:items], gathered(rule, slices.Clone(r.Items[items:]))...)
		r.Items = r.Items[:min(len(r.Items), items+maxItems)]
		r.Unsure = r.Unsure[:min(len(r.Unsure), unsure+maxItems)]
		if len(r.Items) == items && len(r.Unsure) == unsure {
			r.Passed = append(r.Passed, rule.id)
		}
	}
	slices.SortStableFunc(r.Items, byRank)
	return r
}

func byRank(a, b Problem) int {
	return cmp.Or(cmp.Compare(b.Severity.Level(), a.Severity.Level()), cmp.Compare(b.Weight, a.Weight), natural.Compare(a.Subject, b.Subject))
}
