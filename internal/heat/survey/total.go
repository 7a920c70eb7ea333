package survey

import (
	"time"

	"shardboard/internal/topology"
)

// orphanLifetime is how long the rows of a moved chunk stay on the donor: the delay of their deletion
// (orphanCleanupDelaySecs, 900 s by default) and a minute for it.
const orphanLifetime = topology.OrphanDelay + time.Minute

// Total is a collection's statistics without orphans.
type Total struct {
	Rows, Bytes, Orphans topology.Figure
	ByShard              map[string]int64 // rows by shard, where known
	BytesByShard         map[string]int64 // bytes by shard, where known
	Loose                float64          // factor by which the rows may be more: 1 when orphans are reported
}

// TotalOf adds up the shards' statistics; a figure is unknown when any shard's is. Releases before
// 6.0 do not report orphans: there the rows left behind by recent migrations are subtracted by the
// changelog's counts, which is an estimate.
func TotalOf(t *topology.Table, ns topology.Namespace) Total {
	out := Total{ByShard: map[string]int64{}, BytesByShard: map[string]int64{}, Loose: 1}
	shards := t.Sizes[ns].Shards
	if len(shards) == 0 {
		s := t.SizeOn(ns, "")
		out.Rows, out.Bytes, out.Orphans = s.Documents, s.Bytes, s.Orphans
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
			out.ByShard[name] = s.Documents.Value
			all += s.Documents.Value
		}
		if s.Bytes.Known {
			out.BytesByShard[name] = s.Bytes.Value
		}
	}
	out.Rows, out.Bytes, out.Orphans = rows.sum, bytes.sum, orphans.sum
	if taken > 0 {
		// Other shards may have orphans too, which nothing reports.
		out.Orphans = topology.Figure{Known: true, Value: taken, Method: "changelog", At: out.Rows.At}
		out.Loose = float64(all+taken) / float64(max(all, 1))
	}
	return out
}

// leftBehind is how many rows of migrations away from a shard are not deleted yet.
func leftBehind(t *topology.Table, ns topology.Namespace, shard string) (n int64) {
	read := t.Sizes[ns].At
	for _, e := range t.Events {
		if e.Time.After(read) || read.Sub(e.Time) > orphanLifetime {
			continue
		}
		if g, ok := topology.GivenAway(e); ok && g.NS == ns && g.Shard == shard {
			n += g.Documents
		}
	}
	return n
}

// figures adds figures; an unknown one makes the sum unknown.
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
