package rules

import (
	"shardboard/internal/balance"
	"shardboard/internal/heat"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// evaluation is one rule at work: the situation, and where its findings go.
type evaluation struct {
	Situation
	report *Report
	rule   Rule
	plans  map[topology.Namespace]*balance.Plan
	data   map[string]int64       // bytes by shard, once they are added up
	cover  func() []heat.Coverage // what is counted, made at the first need
	short  bool                   // Writes are for the figures of a problem that lasts, which a full minute has shown
}

func (ev *evaluation) add(p Problem) {
	p.Rule = ev.rule
	p.ID = idOf(p.Rule, p.Subject)
	ev.report.Items = append(ev.report.Items, p)
}

// cannot records that the rule could not check a subject; "" is everything.
func (ev *evaluation) cannot(subject string, why message.Message) {
	ev.report.Unsure = append(ev.report.Unsure, Unsure{Rule: ev.rule, Subject: subject, Why: why})
}

// notAvailable records that the cluster's MongoDB release does not tell what the rule checks.
func (ev *evaluation) notAvailable(why message.Message) {
	ev.report.Unsure = append(ev.report.Unsure, Unsure{Rule: ev.rule, Why: why, Never: true})
}

// unread returns true when a part of the table was never read, and records that the
// rule could not check it.
func (ev *evaluation) unread(p topology.Part) bool {
	h, listed := ev.Table.Health[p]
	if !h.At.IsZero() || !listed && len(ev.Table.Health) == 0 {
		return false
	}
	if h.Denied {
		ev.cannot("", message.New("denied", "Not permitted: {part}. The cluster user lacks {privilege}.",
			partNamed(p), message.Text("privilege", h.Privilege)))
	} else {
		ev.cannot("", unreadPart(p))
	}
	return true
}

// plan is the balancer's view of a collection, made once.
func (ev *evaluation) plan(c *topology.Collection) *balance.Plan {
	if ev.plans[c.NS] == nil {
		ev.plans[c.NS] = balance.PlanOf(balance.Situation{Table: ev.Table}, c)
	}
	return ev.plans[c.NS]
}

// sharded are the collections that people shard.
func (ev *evaluation) sharded() []*topology.Collection {
	var out []*topology.Collection
	for _, c := range ev.Table.Collections {
		if db := c.NS.Database(); db != "config" && db != "admin" && !c.Unsplittable && !c.Temporary && c.Chunks != nil && c.Chunks.Len() > 0 {
			out = append(out, c)
		}
	}
	return out
}

func (ev *evaluation) release() balance.Release {
	return balance.ReleaseOf(ev.Table.ServerInfo.Version)
}

// chunkBytes is the chunk size that holds for a collection; 0 when not known.
func (ev *evaluation) chunkBytes(c *topology.Collection) int64 {
	if c != nil && c.MaxChunkBytes > 0 {
		return c.MaxChunkBytes
	}
	return ev.Table.Balancer.ChunkBytes
}
