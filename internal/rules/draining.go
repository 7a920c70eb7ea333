package rules

import (
	"time"

	"shardboard/internal/balance"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// lately is the time in which a shard that empties should have given something.
const lately = 30 * time.Minute

// drainingStuck: a shard that is to be emptied and is not.
func drainingStuck(l *look) {
	if l.unread(topology.PartShards) {
		return
	}
	for _, s := range l.Table.Shards {
		if !s.Draining {
			continue
		}
		p, stuck, known := l.drains(s)
		if !known {
			l.cannot(s.Name, "noEvents", "over", lately.String())
		}
		if stuck {
			l.add(p)
		}
	}
}

// draining: a shard that is being emptied and is, or of which that is not known.
func draining(l *look) {
	if l.unread(topology.PartShards) {
		return
	}
	for _, s := range l.Table.Shards {
		if !s.Draining {
			continue
		}
		p, stuck, _ := l.drains(s)
		if stuck {
			continue
		}
		p.Severity, p.Why, p.Text = Info, say("draining.going"), say("draining", "shard", s.Name, "n", itoa(int(p.Weight)))
		p.Remedy = Remedy{WhyNot: say("draining.itself"), Commands: []Command{check(admin("removeShard: %s", sanitize.Quoted(s.Name)), "draining.progress")}}
		l.add(p)
	}
}

// drains is how a shard is being emptied. The weight is the chunks left.
func (l *look) drains(s topology.Shard) (p Problem, stuck, known bool) {
	chunks := 0
	for _, c := range l.sharded() {
		chunks += c.Chunks.CountByShard()[s.Name]
	}
	var primary []string
	for _, d := range l.Table.Databases {
		if d.Primary == s.Name && d.Name != "config" && d.Name != "admin" {
			primary = append(primary, d.Name)
		}
	}
	blocked, why := l.blockedOn(s.Name)
	moved, enough := l.movedFrom(s.Name)
	p = Problem{Subject: s.Name, Shard: s.Name, Severity: Critical, Why: say("draining.nobody"), Weight: float64(chunks),
		Evidence: []Evidence{l.counted("draining.chunks", chunks), l.counted("draining.databases", len(primary)), l.counted("draining.blocked", blocked)}}
	switch {
	case l.switchedOff():
		p.Text = say("draining.balancerOff", "shard", s.Name)
		p.Remedy.Plans = []Plan{plan("balancer-on", say("balancer-on"))}
		p.Remedy.Commands = []Command{do("sh.startBalancer()", "off.start")}
	case chunks > 0 && blocked > 0 && blocked == chunks:
		p.Text = say("draining.blocked", "shard", s.Name, "n", itoa(blocked))
		p.Because = why
		p.Remedy.WhyNot = say("draining.blockers")
		p.Remedy.Commands = []Command{check("sh.status()", "draining.look")}
	case chunks == 0 && len(primary) > 0:
		p.Text = say("draining.primary", "shard", s.Name, "n", itoa(len(primary)))
		p.Remedy = l.movePrimary(s.Name, primary)
	case chunks > 0 && enough && moved == 0:
		p.Text = say("draining.quiet", "shard", s.Name, "n", itoa(chunks), "over", lately.String())
		p.Remedy.WhyNot = say("draining.unclear")
		p.Remedy.Commands = []Command{check(admin("removeShard: %s", sanitize.Quoted(s.Name)), "draining.progress"), check("sh.isBalancerRunning()", "draining.round")}
	default:
		return p, false, enough || chunks == 0
	}
	return p, true, true
}

// movePrimary is for databases that drain does not take along.
func (l *look) movePrimary(from string, dbs []string) Remedy {
	r := Remedy{WhyNot: say("noAction")}
	to := ""
	for _, s := range l.Table.Shards {
		if s.Name != from && !s.Draining {
			to = s.Name
			break
		}
	}
	if to == "" {
		return Remedy{WhyNot: say("draining.nowhere")}
	}
	for _, db := range dbs[:min(len(dbs), 5)] {
		r.Commands = append(r.Commands,
			check("db.getSiblingDB("+sanitize.Quoted(db)+").stats()", "draining.stats"),
			do(admin("movePrimary: %s, to: %s", sanitize.Quoted(db), sanitize.Quoted(to)), "draining.movePrimary"))
	}
	return r
}

// blockedOn counts the chunks of a shard that some rule of the balancer keeps
// there, and gives the first such rule.
func (l *look) blockedOn(shard string) (n int, why Message) {
	for _, c := range l.sharded() {
		p := l.plan(c)
		for i := range c.Chunks.Len() {
			if c.Chunks.Owner(i) != shard {
				continue
			}
			e := p.Explain(i)
			if e.Decision != balance.Stays {
				break // what holds for one holds for most: one that may go is enough
			}
			n++
			if v := blocker(e); why.Code == "" && v.Code != "" {
				why = v
			}
			if n >= 1000 {
				return n, why
			}
		}
	}
	return n, why
}

// blocker is the first rule that keeps a chunk.
func blocker(e balance.Explanation) Message {
	for _, v := range e.Verdicts {
		if v.Outcome == balance.Blocks {
			return Message{Code: v.Code, Args: v.Args}
		}
	}
	return Message{}
}

// movedFrom counts committed migrations from a shard lately; enough is false
// when the entries held do not reach back so far.
func (l *look) movedFrom(shard string) (n int, enough bool) {
	h := l.Table.Health[topology.PartEvents]
	if h.At.IsZero() {
		return 0, false
	}
	for _, e := range l.Table.Events {
		if l.Now.Sub(e.Time) > lately {
			return n, true
		}
		if from, _ := e.Details.Lookup("from").StringValueOK(); e.What == "moveChunk.commit" && from == shard {
			n++
		}
	}
	return n, len(l.Table.Events) < 1000
}
