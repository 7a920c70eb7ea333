package rules

import (
	"strconv"
	"time"

	"shardboard/internal/heat"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// SlowReads finds shards on which reads take much longer than on the others.
const SlowReads Rule = "slow-reads"

// Reads are slow on a shard from this mean time on, and so many times that of the other shards, counted at this rate on
// either side. From slowReadsMuch on everything that waits for them is slow too.
const (
	slowReadsFrom  = 20 * time.Millisecond
	slowReadsTimes = 5
	slowReadsRate  = 5.0 // a second
	slowReadsMuch  = 100 * time.Millisecond
)

var slowReads = rule{id: SlowReads, name: "Slow reads", page: PageHeat, find: findSlowReads,
	noPlaybook: "what reads is known to the servers' logs only; the problem has the commands that show it"}

// Loads are the reads and writes of each shard for each collection between the last two reads of the servers' counters.
type Loads map[topology.Namespace]map[string]heat.Load

// LoadsOf are those that a collector has read.
func LoadsOf(c *heat.Collector, t *topology.Table) Loads {
	out := Loads{}
	for _, x := range t.Collections {
		if by := c.Load(x.NS); len(by) > 0 {
			out[x.NS] = by
		}
	}
	return out
}

func findSlowReads(ev *evaluation) {
	switch {
	case ev.Past:
		ev.cannot("", message.New("notKept", "Not kept in history: it can be checked for the present only."))
		return
	case !ev.Counting:
		ev.cannot("", message.New("notCounting", "Writes are not counted here."))
		return
	case len(ev.Loads) == 0:
		ev.cannot("", message.New("slowReads.unread", "The servers' counters of reads have not been read twice yet."))
		return
	case len(ev.Table.Shards) < 2:
		return
	}
	for _, s := range ev.Table.Shards {
		here, others, most, share := ev.readsOf(s.Name)
		if here.ReadsPerSecond < slowReadsRate || others.ReadsPerSecond < slowReadsRate || here.ReadLatency < slowReadsFrom ||
			here.ReadLatency < slowReadsTimes*others.ReadLatency {
			continue
		}
		p := Problem{
			Subject: s.Name, Shard: s.Name, NS: most, Severity: Info, Weight: float64(here.ReadLatency) / float64(time.Millisecond),
			Why: message.New("slowReads.some", "Programs wait for this shard longer than for the others."),
			Text: message.New("slowReads", "Reads take {millis} ms on {shard}, elsewhere {others} ms; {share} of them are in {ns}.",
				message.Count("millis", here.ReadLatency.Round(time.Millisecond).Milliseconds()), message.Shard("shard", s.Name),
				message.Rate("others", millis(others.ReadLatency)), message.Share("share", share), message.Namespace("ns", most)),
			Evidence: []Evidence{
				loadRate(message.New("slowReads.rate", "Reads on {shard}", message.Shard("shard", s.Name)), here.ReadsPerSecond, here),
				loadText(message.New("slowReads.here", "Mean time of a read on {shard}", message.Shard("shard", s.Name)), here.ReadLatency, here),
				loadText(message.New("slowReads.elsewhere", "Mean time of a read on the other shards"), others.ReadLatency, others),
				{Name: message.New("slowReads.project", "Project that reads"), Unit: "text", Method: "collStats", Reason: "readsByCollection"},
			},
			Remedy: Remedy{
				WhyNot: message.New("slowReads.why", "Servers count reads by collection, so it is not known which project reads, and no plan is "+
					"known to help. Look at what is slow on this shard's primary."),
				Commands: []Command{{Text: `db.getSiblingDB("admin").aggregate([{$currentOp: {allUsers: true}}, {$match: {shard: ` + strconv.Quote(s.Name) +
					`, secs_running: {$gte: 1}}}])`, Check: true,
					Explanation: message.New("slowReads.ops", "Lists the operations that have run for a second or longer on {shard}.",
						message.Shard("shard", s.Name))}},
			},
		}
		if here.ReadLatency >= slowReadsMuch {
			p.Severity, p.Why = Warn, message.New("slowReads.much", "Reads of this shard are slow enough to be felt by people.")
		}
		ev.add(p)
	}
}

// readsOf are the reads of a shard and of all others together, with the collection that most of them are in and its
// share. Only collections of which both are known count.
func (ev *evaluation) readsOf(shard string) (here, others heat.Load, most topology.Namespace, share float64) {
	var hereParts, otherParts []heat.Load
	busiest := 0.0
	for _, c := range ev.sharded() {
		own := ev.Loads[c.NS][shard]
		if !own.Known {
			continue
		}
		hereParts = append(hereParts, own)
		if own.ReadsPerSecond > busiest {
			busiest, most = own.ReadsPerSecond, c.NS
		}
		for _, s := range ev.Table.Shards {
			if l := ev.Loads[c.NS][s.Name]; s.Name != shard && l.Known {
				otherParts = append(otherParts, l)
			}
		}
	}
	here, others = heat.Together(hereParts), heat.Together(otherParts)
	if here.ReadsPerSecond > 0 {
		share = busiest / here.ReadsPerSecond
	}
	return here, others, most, share
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func loadRate(name message.Message, perSecond float64, l heat.Load) Evidence {
	return Evidence{Name: name, Unit: "rate", Known: true, Value: perSecond, Exact: true, Method: "collStats", At: l.To, Over: l.Over}
}

func loadText(name message.Message, took time.Duration, l heat.Load) Evidence {
	return Evidence{Name: name, Unit: "text", Known: true, Exact: true, Method: "collStats", At: l.To, Over: l.Over,
		Text: message.Words("value", message.New("", "{n} ms", message.Rate("n", millis(took))).String())}
}
