package answer

import (
	"sync"

	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// Overview answers whether the cluster is balanced and what is wrong.
func Overview(v View) api.Overview {
	load := v.Load()
	out := api.Overview{Cluster: cluster(v, load), Loaded: v.Table.Loaded, Settings: PartState(v, topology.PartSettings)}
	s := v.Problems().Summary()
	open := out.Problems.Items
	out.Listed = open[:min(len(open), ShownProblems)]
	if more := int64(len(open) - len(out.Listed)); more > 0 {
		out.More = format.Count(more) + message.Plural(more, " more problem", " more problems")
	}
	out.Unchecked, out.NotAvailable, out.Dismissed = uncheckedText(s), v.notAvailableText(s), dismissedText(s)
	if !out.Loaded {
		if out.State = whyNotReached(v.Table); out.State.Code == "" {
			out.State = PartState(v, topology.PartRouting)
		}
		return out
	}
	out.ByShard, out.Balance, out.Size = shards(v, load), load.Balance(), load.size()
	for _, p := range []topology.Part{topology.PartRouting, topology.PartShards, topology.PartSizes} {
		if s := PartState(v, p); s.Code != "" {
			out.Doubts = append(out.Doubts, s)
			if p == topology.PartRouting {
				break // the rest comes from the same cluster
			}
		}
	}
	if s := load.partial(); s.Code != "" && len(out.Doubts) == 0 {
		out.Doubts = append(out.Doubts, s)
	}
	out.Doubts = append(out.Doubts, connectionNotes(v)...)
	return out
}

// newestEvents is how many changelog entries the overview shows.
const newestEvents = 8

// NewestEvents are the latest entries that say what came of something: the steps
// of a migration that succeeded are left to the activity page. hidden is how many
// of the server's own collections were left out, of all that are known.
func NewestEvents(v View) (list []api.Event, hidden int) {
	reasons := sync.OnceValue(v.Reasons)
	for _, e := range v.Table.Events {
		x := ReadEvent(e)
		switch {
		case !x.Outcome():
		case !v.Internal && e.Internal():
			hidden++
		case len(list) == newestEvents:
		default:
			if x.Failed {
				x = x.Because(reasons())
			}
			list = append(list, EventOf(v, x))
		}
	}
	return list, hidden
}
