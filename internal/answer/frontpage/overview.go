// Package frontpage answers what the first page shows, and the banners of every page.
package frontpage

import (
	"sync"

	"shardboard/internal/answer"
	"shardboard/internal/answer/logbook"
	"shardboard/internal/answer/problems"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/history"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// Overview answers whether the cluster is balanced and what is wrong.
func Overview(v answer.View) api.Overview {
	load := v.Load()
	out := api.Overview{Cluster: problems.ClusterWith(v, load), Loaded: v.Table.Loaded, Settings: answer.PartState(v, topology.PartSettings)}
	s := problems.Problems(v).Summary()
	open := out.Problems.Items
	out.Listed = open[:min(len(open), problems.ShownProblems)]
	if more := int64(len(open) - len(out.Listed)); more > 0 {
		out.More = format.Count(more) + message.Plural(more, " more problem", " more problems")
	}
	out.Unchecked, out.NotAvailable, out.Dismissed = problems.UncheckedText(s), problems.NotAvailableText(v, s), problems.DismissedText(s)
	if !out.Loaded {
		if out.State = answer.WhyNotReached(v.Table); out.State.Code == "" {
			out.State = answer.PartState(v, topology.PartRouting)
		}
		return out
	}
	out.ByShard, out.Balance, out.Size = answer.ShardsWith(v, load), load.Balance(), load.SizeText()
	for _, p := range []topology.Part{topology.PartRouting, topology.PartShards, topology.PartSizes} {
		if s := answer.PartState(v, p); s.Code != "" {
			out.Doubts = append(out.Doubts, s)
			if p == topology.PartRouting {
				break // the rest comes from the same cluster
			}
		}
	}
	if s := load.Partial(); s.Code != "" && len(out.Doubts) == 0 {
		out.Doubts = append(out.Doubts, s)
	}
	out.Doubts = append(out.Doubts, answer.ConnectionNotes(v)...)
	return out
}

// newestEvents is how many changelog entries the overview shows.
const newestEvents = 8

// NewestEvents are the latest entries that say what came of something: the steps
// of a migration that succeeded are left to the activity page. hidden is how many
// of the server's own collections were left out, of all that are known.
func NewestEvents(v answer.View) (list []api.Event, hidden int) {
	reasons := sync.OnceValue(func() map[string]history.Reason { return logbook.Reasons(v) })
	for _, e := range v.Table.Events {
		x := logbook.ReadEvent(e)
		switch {
		case !x.Outcome():
		case !v.Internal && e.Internal():
			hidden++
		case len(list) == newestEvents:
		default:
			if x.Failed {
				x = x.Because(reasons())
			}
			list = append(list, logbook.EventOf(v, x))
		}
	}
	return list, hidden
}
