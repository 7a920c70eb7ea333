package advice

import (
	"time"

	"shardboard/internal/balance"
	"shardboard/internal/hostile"
	"shardboard/internal/topology"
)

// offShort is how long the balancer may be off before that is more than
// somebody's maintenance.
const offShort = time.Hour

// balancerOff: the switch, or a mode in which nothing is moved.
func balancerOff(l *look) {
	if l.unread(topology.PartSettings) {
		return
	}
	b := l.Table.Balancer
	if !b.Known {
		l.cannot("", "unread", "part", string(topology.PartSettings))
		return
	}
	code := "off"
	switch {
	case !b.Enabled():
	case b.Mode == "autoSplitOnly":
		code = "splitsOnly"
	default:
		return
	}
	i := Item{Subject: "balancer", Rank: Warn, Why: say("off.long"), Text: say(code)}
	since := Evidence{Name: say("off.since"), Unit: "time", Reason: "notObserved"}
	switch {
	case never(l.Off.At):
		i.Why = say("off.unknown")
	default:
		since.Known, since.Reason, since.Time, since.Exact, since.AtLeast, since.Method, since.At = true, "", l.Off.At, !l.Off.AtLeast, l.Off.AtLeast, l.Off.Method, l.Now
		switch off := l.Now.Sub(l.Off.At); {
		case off < time.Minute: // a span of seconds says nothing
		case l.Off.AtLeast:
			i.Text = say(code+".sinceAtLeast", "since", at(l.Off.At))
		default:
			i.Text = say(code+".since", "since", at(l.Off.At))
		}
		i.Weight = l.Now.Sub(l.Off.At).Hours()
		if l.Now.Sub(l.Off.At) < offShort && !l.Off.AtLeast {
			i.Rank, i.Why = Info, say("off.short")
		}
	}
	i.Evidence = append(i.Evidence, since, l.text("off.mode", b.Mode, topology.PartSettings))
	waiting := 0
	for _, s := range l.Table.Shards {
		if s.Draining {
			waiting++
		}
	}
	if waiting > 0 {
		i.Rank, i.Why = Critical, say("off.draining")
		i.Evidence = append(i.Evidence, l.counted("off.drainingShards", waiting))
	}
	if wrong := l.wronglyPlaced(); wrong > 0 {
		i.Evidence = append(i.Evidence, l.counted("off.zoneWrong", wrong))
	}
	i.Remedy = Remedy{
		Plans: []Plan{plan("balancer-on", say("balancer-on"))},
		Commands: []Command{
			check(`db.getSiblingDB("config").actionlog.find({what: /^balancer/}).sort({time: -1}).limit(3)`, "off.whoStopped"),
			do("sh.startBalancer()", "off.start"),
		},
	}
	l.add(i)
}

// wronglyPlaced counts chunks outside their zone.
func (l *look) wronglyPlaced() int {
	n := 0
	for _, z := range l.Table.Zones {
		n += len(l.outside(z))
	}
	return n
}

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
		i := Item{Subject: s.Name, Shard: s.Name, Rank: Critical, Why: say("draining.nobody"), Weight: float64(chunks),
			Evidence: []Evidence{l.counted("draining.chunks", chunks), l.counted("draining.databases", len(primary)), l.counted("draining.blocked", blocked)}}
		switch b := l.Table.Balancer; {
		case b.Known && (!b.Enabled() || b.Mode == "autoSplitOnly"):
			i.Text = say("draining.balancerOff", "shard", s.Name)
			i.Remedy.Plans = []Plan{plan("balancer-on", say("balancer-on"))}
			i.Remedy.Commands = []Command{do("sh.startBalancer()", "off.start")}
		case chunks > 0 && blocked > 0 && blocked == chunks:
			i.Text = say("draining.blocked", "shard", s.Name, "n", itoa(blocked))
			i.Because = why
			i.Remedy.WhyNot = say("draining.blockers")
			i.Remedy.Commands = []Command{check("sh.status()", "draining.look")}
		case chunks == 0 && len(primary) > 0:
			i.Text = say("draining.primary", "shard", s.Name, "n", itoa(len(primary)))
			i.Remedy = l.movePrimary(s.Name, primary)
		case chunks > 0 && enough && moved == 0:
			i.Text = say("draining.quiet", "shard", s.Name, "n", itoa(chunks), "over", lately.String())
			i.Remedy.WhyNot = say("draining.unclear")
			i.Remedy.Commands = []Command{check(admin("removeShard: %s", hostile.Quoted(s.Name)), "draining.progress"), check("sh.isBalancerRunning()", "draining.round")}
		case !enough && chunks > 0:
			l.cannot(s.Name, "noEvents", "over", lately.String())
			continue
		default:
			continue // it empties
		}
		l.add(i)
	}
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
			check("db.getSiblingDB("+hostile.Quoted(db)+").stats()", "draining.stats"),
			do(admin("movePrimary: %s, to: %s", hostile.Quoted(db), hostile.Quoted(to)), "draining.movePrimary"))
	}
	return r
}

// blockedOn counts the chunks of a shard that some rule of the balancer keeps
// there, and gives the first such rule.
func (l *look) blockedOn(shard string) (n int, why Said) {
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
func blocker(e balance.Explanation) Said {
	for _, v := range e.Verdicts {
		if v.Outcome == balance.Blocks {
			return Said{Code: v.Code, Args: v.Args}
		}
	}
	return Said{}
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
