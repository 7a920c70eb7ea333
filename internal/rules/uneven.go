package rules

import (
	"shardboard/internal/topology"
)

// UnevenShare is how far the fullest shard may be above the mean of all shards
// before the cluster's data counts as uneven: a half.
const UnevenShare = 0.5

// uneven: one shard holds far more than its share of all data. The balancer looks
// at one collection at a time, so this says nothing of what it will do; what it
// leaves as it is, is an imbalance.
func uneven(l *look) {
	if len(l.Table.Shards) < 2 {
		return
	}
	if l.unread(topology.PartSizes) {
		return
	}
	var total, top int64
	fullest := ""
	var figures []topology.Figure
	for _, s := range l.Table.Shards {
		f := l.bytesOn(s.Name)
		if !f.Known {
			l.cannot("", "noSizes")
			return
		}
		figures = append(figures, f)
		if total += f.Value; f.Value > top {
			top, fullest = f.Value, s.Name
		}
	}
	mean := float64(total) / float64(len(l.Table.Shards))
	size := l.Table.Balancer.ChunkBytes
	if total == 0 || float64(top)/mean-1 <= UnevenShare || float64(top)-mean < float64(unevenChunks*max(size, 64<<20)) {
		return
	}
	p := Problem{Subject: "cluster", Shard: fullest, Severity: Info, Why: say("uneven.whole"), Weight: float64(top) / mean,
		Text:   say("uneven", "shard", fullest, "share", f64(float64(top)/float64(total)), "shareEven", f64(1/float64(len(figures)))),
		Remedy: Remedy{WhyNot: say("uneven.balancer")}}
	if l.switchedOff() {
		p.Remedy.WhyNot = say("uneven.off")
	}
	for i, s := range l.Table.Shards[:min(len(figures), 12)] {
		p.Evidence = append(p.Evidence, figure(say("uneven.on", "shard", s.Name), "bytes", figures[i]))
	}
	l.add(p)
}

// bytesOn is all data on a shard that is known; unknown while none of it is.
func (l *look) bytesOn(shard string) topology.Figure {
	out := topology.Figure{Reason: "notLoaded", Exact: true}
	for ns := range l.Table.Sizes {
		if db := ns.Database(); db == "config" || db == "admin" {
			continue
		}
		f := l.Table.SizeOn(ns, shard).Bytes
		if !f.Known {
			out.Exact = false
			continue
		}
		out.Known, out.Reason, out.Value, out.Exact, out.Method = true, "", out.Value+f.Value, out.Exact && f.Exact, f.Method
		if out.At.IsZero() || f.At.Before(out.At) {
			out.At = f.At
		}
	}
	return out
}
