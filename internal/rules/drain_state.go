package rules

import (
	"time"

	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// lately is the time in which a draining shard should have lost a chunk.
const lately = 30 * time.Minute

// drainState is how far a shard is drained, judged by the same remains that the shard's page and the plans show. The
// weight is the number of chunks left.
// known is false when the changelog does not show whether chunks moved.
func (ev *evaluation) drainState(s topology.Shard) (p Problem, stuck, known bool) {
	left := ev.Table.RemainsOn(s.Name)
	chunks, primary := left.Chunks, left.Databases
	blocked, why := ev.blockedOn(s.Name)
	moved, enough := ev.movedFrom(s.Name)
	p = Problem{
		Subject:  s.Name,
		Shard:    s.Name,
		Severity: Critical,
		Why:      message.New("draining.nobody", "Draining does not continue by itself."),
		Weight:   float64(chunks),
		Evidence: []Evidence{
			ev.counted(message.New("draining.chunks", "Chunks left"), chunks),
			ev.counted(message.New("draining.databases", "Databases with it as primary"), len(primary)),
			ev.counted(message.New("draining.unshardedLeft", "Unsharded collections left"), len(left.Unsharded)),
			ev.counted(message.New("draining.blocked", "Chunks that cannot move"), blocked),
		},
	}
	switch {
	case left.NeedsSomebody() && len(left.Unsharded) > 0 && chunks == 0:
		p.Text = unshardedStays(s.Name, left.Unsharded)
		p.Remedy = ev.emptyByHand(s.Name, left)
	case left.NeedsSomebody() && chunks == 0:
		p.Text = message.New("draining.primary",
			"{shard} has no chunks left but is still a primary shard. Databases that draining does not move: {n}.",
			message.Shard("shard", s.Name), message.Count("n", len(primary)))
		p.Remedy = ev.emptyByHand(s.Name, left)
	case ev.switchedOff() && !left.Empty():
		p.Text = message.New("draining.balancerOff",
			"{shard} is draining, but the balancer, which moves its chunks, {idle}.",
			message.Shard("shard", s.Name), ev.idle())
		p.Remedy = ev.idleRemedy()
	case chunks > 0 && blocked > 0 && blocked == chunks:
		p.Text = message.New("draining.blocked",
			message.Plural(blocked, "{shard} is draining, but its last chunk cannot move.",
				"{shard} is draining, but none of its {n} remaining chunks can move."),
			message.Shard("shard", s.Name), message.Count("n", blocked))
		p.Because = why
		p.Remedy.WhyNot = message.New("draining.blockers",
			"Remove first what blocks the chunks: jumbo flags, zones or blocked moves.")
		p.Remedy.Commands = []Command{showStatus()}
	case chunks > 0 && enough && moved == 0:
		p.Text = message.New("draining.quiet",
			message.Plural(chunks, "{shard} is draining, but its last chunk has not left it in {over}.",
				"{shard} is draining, but none of its {n} chunks has left it in {over}."),
			message.Shard("shard", s.Name), message.Count("n", chunks), message.Duration("over", lately))
		p.Remedy.WhyNot = message.New("draining.unclear",
			"Nothing known here blocks it. The command below shows the cluster's own state.")
		p.Remedy.Commands = append(removalProgress(s.Name), balancerRound())
	default:
		return p, false, enough || left.Empty()
	}
	return p, true, true
}

// unshardedStays says which unsharded collections are all that keeps a shard from being empty.
func unshardedStays(shard string, left []topology.Namespace) message.Message {
	return message.New("draining.unsharded", message.Plural(len(left),
		"{shard} is draining, but the unsharded collection {ns} stays on it until moveCollection moves it.",
		"{shard} is draining, but {n} unsharded collections stay on it until moveCollection moves them; the first is {ns}."),
		message.Shard("shard", shard), message.Count("n", len(left)), message.Namespace("ns", left[0]))
}

// emptyByHand is the remedy for unsharded collections and databases, which draining does not move.
func (ev *evaluation) emptyByHand(from string, left topology.Remains) Remedy {
	to := ev.leastData(from)
	if to == "" {
		return Remedy{WhyNot: message.New("draining.nowhere", "No other shard can take what is left on it.")}
	}
	var r Remedy
	for _, ns := range left.Unsharded[:min(len(left.Unsharded), fewPlans)] {
		r.Plans = append(r.Plans, moveCollectionPlan(ns, to))
	}
	for _, db := range left.Databases[:min(len(left.Databases), fewPlans-len(r.Plans))] {
		r.Plans = append(r.Plans, movePrimaryPlan(db, to))
	}
	return r
}

func moveCollectionPlan(ns topology.Namespace, to string) Plan {
	return plan("move-collection", message.New("move-collection", "Move {ns} to {shard}.",
		message.Namespace("ns", ns), message.Shard("shard", to)), "ns", string(ns), "to", to)
}

func movePrimaryPlan(db, to string) Plan {
	return plan("move-primary", message.New("move-primary", "Make {shard} the primary of {db}.",
		message.Shard("shard", to), message.Text("db", db)), "db", db, "to", to)
}

// movedFrom counts recent committed migrations from a shard. enough is false when the
// changelog held does not reach back so far.
func (ev *evaluation) movedFrom(shard string) (n int, enough bool) {
	h := ev.Table.Health[topology.PartEvents]
	if h.At.IsZero() {
		return 0, false
	}
	for _, e := range ev.Table.Events {
		if ev.Now.Sub(e.Time) > lately {
			return n, true
		}
		if from, _ := e.Details.Lookup("from").StringValueOK(); e.What == "moveChunk.commit" && from == shard {
			n++
		}
	}
	return n, len(ev.Table.Events) < 1000
}
