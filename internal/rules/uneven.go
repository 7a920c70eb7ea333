package rules

import (
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// UnevenShare is how far the fullest shard may be above the mean of all shards
// before the cluster's data counts as uneven: a half.
const UnevenShare = 0.5

// UnevenBytes is how much more than the mean the fullest shard must have: a few chunks
// more or less make large shares of little data.
func UnevenBytes(b topology.Balancer) float64 {
	return float64(unevenChunks * max(b.ChunkBytes, 64<<20))
}

// Uneven finds a shard that holds far more than its share of all data. The balancer looks at one
// collection at a time, so this does not predict what it will do. Uneven collections that it
// leaves are listed by Imbalance.
const Uneven Rule = "uneven"

var uneven = rule{id: Uneven, name: "Uneven data", find: findUneven,
	playbooks: []Playbook{PlaybookFullShard}}

func findUneven(ev *evaluation) {
	if len(ev.Table.Shards) < 2 {
		return
	}
	if ev.unread(topology.PartSizes) {
		return
	}
	var total, top int64
	fullest, stay := "", 0.0 // a shard that drains is to hold nothing
	figures := ev.bytesOn()
	for i, s := range ev.Table.Shards {
		f := figures[i]
		if !f.Known {
			ev.cannot("", unknownSizes())
			return
		}
		total += f.Value
		if s.Draining {
			continue
		}
		if stay++; f.Value > top {
			top, fullest = f.Value, s.Name
		}
	}
	mean := float64(total) / stay
	if stay < 2 || total == 0 || float64(top)/mean-1 <= UnevenShare || float64(top)-mean < UnevenBytes(ev.Table.Balancer) {
		return
	}
	p := Problem{
		Subject:  "cluster",
		Shard:    fullest,
		Severity: Info,
		Why:      message.New("uneven.whole", "The shard with the most data fills up first."),
		Weight:   float64(top) / mean,
		Text: message.New("uneven",
			"{shard} holds {share} of the data; an even share is {shareEven}.",
			message.Shard("shard", fullest), message.Share("share", float64(top)/float64(total)),
			message.Share("shareEven", 1/stay)),
		Remedy: Remedy{WhyNot: message.New("uneven.balancer",
			"The balancer evens out one collection at a time. Imbalance that remains is listed as its own problem.")},
	}
	if ev.switchedOff() {
		p.Remedy.WhyNot = message.New("uneven.off", "Turn the balancer on first.")
	}
	for i, s := range ev.Table.Shards[:min(len(figures), 12)] {
		p.Evidence = append(p.Evidence, figure(message.New("uneven.on",
			"Data on {shard}",
			message.Shard("shard", s.Name)), "bytes", figures[i]))
	}
	ev.add(p)
}

// bytesOn is all data on each shard that is known; unknown while none of it is.
func (ev *evaluation) bytesOn() []topology.Figure {
	out := make([]topology.Figure, len(ev.Table.Shards))
	for i := range out {
		out[i] = topology.Figure{Reason: "notLoaded", Exact: true}
	}
	for ns := range ev.Table.Sizes {
		if topology.IsServerDatabase(ns.Database()) {
			continue
		}
		sizeOn := ev.Table.SizesOf(ns)
		for i, s := range ev.Table.Shards {
			f, sum := &sizeOn(s.Name).Bytes, &out[i]
			if !f.Known {
				sum.Exact = false
				continue
			}
			sum.Known, sum.Reason, sum.Value, sum.Exact, sum.Method = true, "", sum.Value+f.Value, sum.Exact && f.Exact, f.Method
			if sum.At.IsZero() || f.At.Before(sum.At) {
				sum.At = f.At
			}
		}
	}
	return out
}
