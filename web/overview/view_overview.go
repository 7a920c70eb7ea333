package overview

import (
	"sync"

	"shardboard/internal/answer"
	"shardboard/internal/format"
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
		m.EventsWhy = templates.State{Code: "empty", Title: words.T("events.none")}
		if hidden > 0 {
			m.EventsWhy.Title = words.T("internal.only")
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
	out := Balancer{Level: "unknown", Word: words.T("balancer.unknown"), State: parts.PartState(v, topology.PartSettings)}
	if !b.Known {
		return out
	}
	fact := func(key, text, title string) {
		out.Facts = append(out.Facts, templates.Fact{Name: words.T(key), Figure: templates.Figure{Known: true, Text: text, Title: title}})
	}
	switch {
	case !b.Enabled():
		out.Level, out.Word = "off", words.T("balancer.off")
	case b.Mode == "autoSplitOnly":
		out.Level, out.Word = "off", words.T("balancer.splitonly")
	default:
		out.Level, out.Word = "ok", words.T("balancer.on")
	}
	if b.WindowStart != "" {
		fact("balancer.window", b.WindowStart+"–"+b.WindowStop, words.T("balancer.window.title"))
	} else {
		fact("balancer.window", words.T("balancer.always"), "")
	}
	size := format.Bytes(b.ChunkBytes)
	if b.ChunkDefault {
		size = words.T("balancer.default", "size", size)
	}
	fact("balancer.chunksize", size, "")
	switch {
	case v.Past != nil: // whether a round ran is not a setting, and not in history
		out.Facts = append(out.Facts, templates.Fact{Name: words.T("balancer.round"),
			Figure: templates.Figure{Text: topology.ReasonText("notKept"), Title: words.T("reason.title.notKept")}})
	case !b.StatusKnown:
		out.Facts = append(out.Facts, templates.Fact{Name: words.T("balancer.round"),
			Figure: templates.Figure{Text: topology.ReasonText("notPermitted"), Title: parts.PartState(v, topology.PartBalancer).Detail}})
	case b.InRound:
		fact("balancer.round", words.T("balancer.inround", "n", format.Count(b.Rounds)), "")
	default:
		fact("balancer.round", words.T("balancer.idle", "n", format.Count(b.Rounds)), "")
	}
	n := func(n int) string { return format.Count(int64(n)) }
	lately := rules.MovesLately(v.Table, v.Now) // as the rule on failing migrations counts them
	text := words.T("balancer.hour.text", "moves", n(lately.Moves), "failed", n(lately.Failed))
	if in := lately.Internal; in.Moves+in.Failed > 0 {
		text = words.T("internal.hour", "text", text, "moves", n(in.Moves), "failed", n(in.Failed))
	}
	fact("balancer.hour", text, "")
	return out
}

// listProblems fills in the list of problems and what it leaves out.
func listProblems(m *Overview, v answer.View, found rules.View) {
	s := found.Summary()
	m.Attention = parts.ProblemList(v, found.Items[:min(len(found.Items), answer.ShownProblems)])
	if more := len(found.Items) - len(m.Attention); more > 0 {
		m.More = words.Plural("problems.more", int64(more), "n", format.Count(int64(more)))
	}
	m.Unchecked, m.Dismissed = answer.UncheckedText(s), answer.DismissedText(s)
	m.AllGood = answer.ProblemCounts(s)
}
