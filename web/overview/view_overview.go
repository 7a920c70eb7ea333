package overview

import (
	"fmt"
	"sync"

	"shardboard/internal/answer"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/rules"
	"shardboard/internal/topology"
	"shardboard/web/parts"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// overviewView answers "is it balanced, what is wrong?".
func OverviewView(v answer.View) Overview {
	m, found := Overview{}, v.Problems()
	s := found.Summary()
	m.Level, m.Verdict = answer.Headline(v, s)
	if !v.Table.Loaded {
		m.State = parts.PartState(v, topology.PartRouting)
		m.Balancer = balancerView(v)
		m.EventsWhy = parts.PartState(v, topology.PartEvents)
		m.Unsure = m.State
		listProblems(&m, v, found)
		return m
	}
	load := parts.LoadOf(v.Table)
	m.Measures = load.Measures()
	m.Shards = load.Rows(v)
	listProblems(&m, v, found)
	_, m.Detail = load.Verdict()
	m.Detail += ". " + load.Size()
	for _, p := range []topology.Part{topology.PartRouting, topology.PartShards, topology.PartSizes} {
		if s := parts.PartState(v, p); s.Code != "" {
			m.Notes = append(m.Notes, s)
			if p == topology.PartRouting {
				break // the rest comes from the same cluster
			}
		}
	}
	if s := load.Partial(); s.Code != "" && len(m.Notes) == 0 {
		m.Notes = append(m.Notes, s)
	}
	m.Balancer = balancerView(v)
	m.Moving = parts.InFlightView(v, v.Table.Moves.List, answer.FlightsBrief)
	m.EventsWhy = parts.PartState(v, topology.PartEvents)
	var hidden int
	m.Events, hidden = newest(v, answer.NewestEvents)
	m.Folded = parts.FoldedNote("entries", "/", hidden, v.Internal)
	if v.Internal {
		m.LiveURL = answer.Switched("/", true)
	}
	if len(m.Events) == 0 && m.EventsWhy.Code == "" {
		m.EventsWhy = templates.State{Code: "empty", Title: "Nothing has happened yet"}
		if hidden > 0 {
			m.EventsWhy.Title = "Nothing is logged but entries of internal collections."
		}
	}
	return m
}

// newest are the latest entries that say what came of something: the steps of
// a migration that went well are left to the activity page. hidden is how many
// of the server's own collections were left out, of all that are known.
func newest(v answer.View, n int) (out []templates.EventRow, hidden int) {
	r := parts.RefsOf(v.Table)
	reasons := sync.OnceValue(v.Reasons)
	for _, e := range v.Table.Events {
		x := answer.ReadEvent(e)
		switch {
		case !x.Outcome():
		case !v.Internal && e.Internal():
			hidden++
		case len(out) == n:
		default:
			if x.Failed {
				x = x.Because(reasons())
			}
			out = append(out, parts.EventRow(v, r, x))
		}
	}
	return out, hidden
}

// balancerView is what the balancer is set to and doing.
func balancerView(v answer.View) Balancer {
	b := v.Table.Balancer
	out := Balancer{Level: "unknown", Word: "unknown", State: parts.PartState(v, topology.PartSettings)}
	if !b.Known {
		return out
	}
	fact := func(key, text, title string) {
		out.Facts = append(out.Facts, templates.Fact{Name: words.T(key), Figure: templates.Figure{Known: true, Text: text, Title: title}})
	}
	switch {
	case !b.Enabled():
		out.Level, out.Word = "off", "off"
	case b.Mode == "autoSplitOnly":
		out.Level, out.Word = "off", "splits only"
	default:
		out.Level, out.Word = "ok", "on"
	}
	if b.WindowStart != "" {
		fact("balancer.window", b.WindowStart+"–"+b.WindowStop, "In the config servers' local time")
	} else {
		fact("balancer.window", "always", "")
	}
	size := format.Bytes(b.ChunkBytes)
	if b.ChunkDefault {
		size = size + " (default)"
	}
	fact("balancer.chunksize", size, "")
	switch {
	case v.Past != nil: // whether a round ran is not a setting, and not in history
		out.Facts = append(out.Facts, templates.Fact{Name: "Now",
			Figure: templates.Figure{Text: topology.ReasonText("notKept"), Title: "History keeps what was set and where data was, not what the balancer was doing or how full disks were."}})
	case !b.StatusKnown:
		out.Facts = append(out.Facts, templates.Fact{Name: "Now",
			Figure: templates.Figure{Text: topology.ReasonText("notPermitted"), Title: parts.PartState(v, topology.PartBalancer).Detail}})
	case b.InRound:
		fact("balancer.round", "in a round, "+format.Count(b.Rounds)+" since its start", "")
	default:
		fact("balancer.round", "between rounds, "+format.Count(b.Rounds)+" since its start", "")
	}
	n := func(n int) string { return format.Count(int64(n)) }
	lately := rules.MovesLately(v.Table, v.Now) // as the rule on failing migrations counts them
	text := fmt.Sprintf("%s moved, %s failed", n(lately.Moves), n(lately.Failed))
	if in := lately.Internal; in.Moves+in.Failed > 0 {
		text = fmt.Sprintf("%s; %s more moves of internal collections, %s failed", text, n(in.Moves), n(in.Failed))
	}
	fact("balancer.hour", text, "")
	return out
}

// listProblems fills in the list of problems and what it leaves out.
func listProblems(m *Overview, v answer.View, found rules.View) {
	s := found.Summary()
	m.Attention = parts.ProblemList(v, found.Items[:min(len(found.Items), answer.ShownProblems)])
	if more := len(found.Items) - len(m.Attention); more > 0 {
		m.More = message.Plural(int64(more), format.Count(int64(more))+" more problem", format.Count(int64(more))+" more problems")
	}
	m.Unchecked, m.Dismissed = answer.UncheckedText(s), answer.DismissedText(s)
	m.AllGood = answer.ProblemCounts(s)
}
