package rules

import (
	"strconv"
	"strings"

	"shardboard/internal/balance"
	"shardboard/internal/message"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// unevenBy is how many times the mean the fullest shard holds, and unevenChunks
// how many chunk sizes it is above the emptiest, for data to be uneven.
const (
	unevenBy     = 1.4
	unevenChunks = 3
)

// Imbalance finds collections that are spread unevenly and that the balancer leaves so.
const Imbalance Rule = "imbalance"

var imbalance = rule{id: Imbalance, name: "Lasting imbalance", find: findImbalance,
	playbooks: []Playbook{PlaybookBalancerDoesNothing}}

func findImbalance(ev *evaluation) {
	if ev.switchedOff() || len(ev.Table.Shards) < 2 {
		return // BalancerOff lists it; one shard cannot be uneven
	}
	for _, c := range ev.sharded() {
		most, least, mean, ok := ev.extremes(c)
		if !ok {
			if c.Chunks.Len() > 1 {
				ev.cannot(string(c.NS), unknownSizes())
			}
			continue
		}
		size := ev.chunkBytes(c)
		if size <= 0 {
			ev.cannot(string(c.NS), unknownChunkSize())
			continue
		}
		if float64(most.value.Value) < unevenBy*mean || most.value.Value-least.value.Value < unevenChunks*size {
			continue
		}
		p := ev.plan(c)
		if moves := p.Moves(); len(moves) > 0 && p.Explain(moves[0].Chunk).Decision != balance.Stays {
			continue // the balancer repairs that
		}
		e := ev.fullest(c, p, most.shard)
		if e.Decision == balance.Moves || e.Decision == balance.Waiting {
			continue
		}
		if e.Decision == balance.Undecided {
			ev.cannot(string(c.NS), message.New("undecided",
				"The balancer's rules need something that is not known here."))
			continue
		}
		ev.leftUneven(c, most, least, mean, blocker(e))
	}
}

// onShard is how much one shard holds.
type onShard struct {
	shard string
	value topology.Figure
}

// extremes are the shards with most and least of a collection, among those that
// may hold any of it; not ok when one of them is not known.
func (ev *evaluation) extremes(c *topology.Collection) (most, least onShard, mean float64, ok bool) {
	var total float64
	n := 0
	for _, s := range ev.Table.Shards {
		if s.Draining {
			continue
		}
		f := ev.Table.SizeOn(c.NS, s.Name).Bytes
		if !f.Known {
			return most, least, 0, false
		}
		if n == 0 || f.Value > most.value.Value {
			most = onShard{s.Name, f}
		}
		if n == 0 || f.Value < least.value.Value {
			least = onShard{s.Name, f}
		}
		total += float64(f.Value)
		n++
	}
	if n < 2 {
		return most, least, 0, false
	}
	return most, least, total / float64(n), true
}

// heldOnAverage is how many bytes a shard holds of all sharded collections together; not known where one of them is
// not.
func (ev *evaluation) heldOnAverage() (bytes float64, known bool) {
	for _, c := range ev.sharded() {
		for _, s := range ev.Table.Shards {
			f := ev.Table.SizeOn(c.NS, s.Name).Bytes
			if !f.Known {
				return 0, false
			}
			bytes += float64(f.Value)
		}
	}
	return bytes / float64(len(ev.Table.Shards)), true
}

// fullest explains what the balancer does with the first chunk of the fullest shard
// that is not jumbo, or with its first one when all are.
func (ev *evaluation) fullest(c *topology.Collection, p *balance.Plan, shard string) balance.Explanation {
	first := -1
	for i, ch := range c.Chunks.All() {
		if ch.Shard != shard {
			continue
		}
		if !ch.Jumbo {
			return p.Explain(i)
		}
		if first < 0 {
			first = i
		}
	}
	if first < 0 {
		return balance.Explanation{Decision: balance.Stays}
	}
	return p.Explain(first)
}

func (ev *evaluation) leftUneven(c *topology.Collection, most, least onShard, mean float64, why balance.Verdict) {
	ns := string(c.NS)
	counts := c.Chunks.CountByShard()
	p := Problem{
		Subject:  ns,
		NS:       c.NS,
		Shard:    most.shard,
		Severity: Warn,
		Why:      message.New("imbalance.stays", "No rule of the balancer asks for a move."),
		Weight:   float64(most.value.Value) / max(mean, 1),
		Text: message.New("imbalance",
			"{shard} holds {times} times the mean of {ns}, and the balancer does not change that.",
			message.Namespace("ns", ns), message.Shard("shard", most.shard),
			message.Words("times", strconv.FormatFloat(float64(most.value.Value)/max(mean, 1), 'f', 1, 64))),
		Because: why,
		Evidence: []Evidence{
			figure(message.New("imbalance.most",
				"On {shard}, the fullest",
				message.Shard("shard", most.shard)), "bytes", most.value),
			figure(message.New("imbalance.least",
				"On {shard}, the emptiest",
				message.Shard("shard", least.shard)), "bytes", least.value),
			ev.counted(message.New("imbalance.chunks",
				"Chunks on {shard}",
				message.Shard("shard", most.shard)), counts[most.shard]),
			ev.counted(message.New("imbalance.chunks",
				"Chunks on {shard}",
				message.Shard("shard", least.shard)), counts[least.shard]),
		},
	}
	if all, known := ev.heldOnAverage(); known {
		if share := (float64(most.value.Value) - mean) / max(all, 1); share < ev.bound(BoundImbalances) {
			p.Severity = Info
			p.Why = message.New("imbalance.small", "What {shard} holds more than the mean is {share} of what a shard holds of everything.",
				message.Shard("shard", most.shard), message.Share("share", share))
		}
	}
	switch {
	case c.NoBalance:
		p.Remedy = balanceCollection(ns)
	case strings.HasPrefix(why.Code, string(balance.RuleThreshold)+".count"):
		// Up to 6.0.2 the balancer compares numbers of chunks, not sizes.
		p.Text = message.New("imbalance.counts",
			"{shard} holds {times} times the mean of {ns}, and the balancer does not change that: "+
				"this release counts chunks and ignores their size.", p.Text.Facts...)
		if ch, ok := ev.firstOn(c, most.shard); ok && !ev.single(c, ch) {
			p.Remedy.Plans = []Plan{splitInTwo(c, ch)}
		} else {
			p.Remedy.WhyNot = message.New("imbalance.single",
				"Each of its chunks holds one shard-key value, so no split divides them. A longer key would help.")
		}
	case strings.HasPrefix(why.Code, string(balance.RuleJumbo)):
		p.Remedy.WhyNot = message.New("imbalance.jumbo", "Its chunks are flagged jumbo. See that problem.")
	case strings.HasPrefix(why.Code, string(balance.RuleMigrations)):
		p.Remedy = ev.allowMoves(ns)
	default:
		p.Remedy.WhyNot = message.New("imbalance.rule",
			"The rule above keeps the chunks where they are. The command below shows whether the cluster agrees.")
		p.Remedy.Commands = []Command{
			readCommand(admin("balancerCollectionStatus: %s", sanitize.Quoted(ns)),
				"imbalance.status", "balancerCompliant should be false if the cluster agrees"),
		}
	}
	ev.add(p)
}

func (ev *evaluation) firstOn(c *topology.Collection, shard string) (topology.Chunk, bool) {
	for _, ch := range c.Chunks.All() {
		if ch.Shard == shard && !ch.Jumbo {
			return ch, true
		}
	}
	return topology.Chunk{}, false
}
