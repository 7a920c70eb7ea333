package web

import (
	"sync"

	"shardboard/internal/format"
	"shardboard/internal/rules"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// newestEvents is how many changelog lines the overview shows.
const newestEvents = 8

// overviewView answers "is it balanced, what is wrong?".
func overviewView(v View) templates.Overview {
	m, found := templates.Overview{}, v.problems()
	s := found.Summary()
	m.Level, m.Verdict = headline(v, s)
	if !v.Table.Loaded {
		m.State = partState(v, topology.PartRouting)
		m.Balancer = balancerView(v)
		m.EventsWhy = partState(v, topology.PartEvents)
		m.Unsure = m.State
		listProblems(&m, v, found)
		return m
	}
	load := loadOf(v.Table)
	m.Measures = load.measures()
	m.Shards = load.rows(v)
	listProblems(&m, v, found)
	_, m.Detail = load.verdict()
	m.Detail += ". " + load.size()
	for _, p := range []topology.Part{topology.PartRouting, topology.PartShards, topology.PartSizes} {
		if s := partState(v, p); s.Code != "" {
			m.Notes = append(m.Notes, s)
			if p == topology.PartRouting {
				break // the rest comes from the same cluster
			}
		}
	}
	if s := load.partial(); s.Code != "" && len(m.Notes) == 0 {
		m.Notes = append(m.Notes, s)
	}
	m.Balancer = balancerView(v)
	m.Moving = inFlightView(v, v.Table.Moves.List, flightsBrief)
	m.EventsWhy = partState(v, topology.PartEvents)
	var hidden int
	m.Events, hidden = newest(v, newestEvents)
	m.Folded = foldedNote("entries", "/", hidden, v.Internal)
	if v.Internal {
		m.LiveURL = switched("/", true)
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
func newest(v View, n int) (out []templates.EventRow, hidden int) {
	r := refsOf(v.Table)
	reasons := sync.OnceValue(v.reasons)
	for _, e := range v.Table.Events {
		x := readEvent(e)
		switch {
		case !x.outcome():
		case !v.Internal && e.Internal():
			hidden++
		case len(out) == n:
		default:
			if x.failed {
				x = x.because(reasons())
			}
			out = append(out, eventRow(v, r, x))
		}
	}
	return out, hidden
}

// balancerView is what the balancer is set to and doing.
func balancerView(v View) templates.Balancer {
	b := v.Table.Balancer
	out := templates.Balancer{Level: "unknown", Word: words.T("balancer.unknown"), State: partState(v, topology.PartSettings)}
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
			Figure: templates.Figure{Text: topology.ReasonText("notPermitted"), Title: partState(v, topology.PartBalancer).Detail}})
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
func listProblems(m *templates.Overview, v View, found rules.View) {
	s := found.Summary()
	m.Attention = problemList(v, found.Items[:min(len(found.Items), shownProblems)])
	if more := len(found.Items) - len(m.Attention); more > 0 {
		m.More = words.Plural("problems.more", int64(more), "n", format.Count(int64(more)))
	}
	m.Unchecked, m.Dismissed = uncheckedText(s), dismissedText(s)
	m.AllGood = problemCounts(s)
}
