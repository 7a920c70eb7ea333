package survey

import (
	"time"

	"shardboard/internal/topology"
)

// lingering is how long the rows of a chunk stay where it was: the delay of
// their clean-up (orphanCleanupDelaySecs, 900 s by default) and a minute for it.
const lingering = topology.OrphanDelay + time.Minute

// total is what the statistics say of a collection, orphans taken off.
type total struct {
	rows, bytes, orphans topology.Figure
	byShard              map[string]int64 // rows
	loose                float64          // by how much more the rows can be, as a factor: 1 when orphans are reported
}

// totals adds up the shards' statistics; figures are unknown when those of a
// shard are. Releases before 6.0 do not report orphans: there the rows that
// recent migrations left behind are taken off as the changelog counts them,
// which is an estimate.
func totals(t *topology.Table, ns topology.Namespace) total {
	out := total{byShard: map[string]int64{}, loose: 1}
	shards := t.Sizes[ns].Shards
	if len(shards) == 0 {
		s := t.SizeOn(ns, "")
		out.rows, out.bytes, out.orphans = s.Documents, s.Bytes, s.Orphans
		return out
	}
	var rows, bytes, orphans figures
	all, taken := int64(0), int64(0)
	for name, s := range shards {
		if s.Documents.Known && !s.Orphans.Known {
			if left := min(leftBehind(t, ns, name), s.Documents.Value); left > 0 {
				s.Bytes.Value -= s.Bytes.Value * left / s.Documents.Value
				s.Documents.Value -= left
				s.Orphans = topology.Figure{Known: true, Value: left, Method: "changelog", At: s.Documents.At}
				taken += left
			}
		}
		rows.add(s.Documents)
		bytes.add(s.Bytes)
		orphans.add(s.Orphans)
		if s.Documents.Known {
			out.byShard[name] = s.Documents.Value
			all += s.Documents.Value
		}
	}
	out.rows, out.bytes, out.orphans = rows.sum, bytes.sum, orphans.sum
	if taken > 0 {
		// The others may have orphans too, of which nothing tells.
		out.orphans = topology.Figure{Known: true, Value: taken, Method: "changelog", At: out.rows.At}
		out.loose = float64(all+taken) / float64(max(all, 1))
	}
	return out
}

// leftBehind is how many rows migrations away from a shard have left there that
// are not cleaned up yet.
func leftBehind(t *topology.Table, ns topology.Namespace, shard string) (n int64) {
	read := t.Sizes[ns].At
	for _, e := range t.Events {
		if e.Time.After(read) || read.Sub(e.Time) > lingering {
			continue
		}
		if g, ok := topology.GivenAway(e); ok && g.NS == ns && g.Shard == shard {
			n += g.Documents
		}
	}
	return n
}

// figures adds figures; one that is unknown makes the sum unknown.
type figures struct {
	sum topology.Figure
	any bool
}

func (f *figures) add(one topology.Figure) {
	switch {
	case !f.any:
		f.sum = one
	case !f.sum.Known:
	case !one.Known:
		f.sum = topology.Figure{Reason: one.Reason}
	default:
		f.sum.Value += one.Value
		f.sum.Exact = f.sum.Exact && one.Exact
		if one.At.Before(f.sum.At) {
			f.sum.At = one.At
		}
	}
	f.any = true
}
