package heat

import (
	"fmt"
	"net/http"
	"slices"
	"sync"

	"shardboard/internal/answer"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/heat"
	"shardboard/web/site"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// pageHeat answers "where is it hot?".
func PageHeat(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	q, err := answer.HeatQueryOf(r.URL.Query())
	if err != nil {
		return err
	}
	v := s.ViewFor(r)
	m, err := heatView(s, v, q)
	if err != nil {
		return err
	}
	if s.Offers(r, v.Table) == nil { // plans are not for this person, or for nobody
		for i := range m.Chunks {
			if m.Chunks[i].PlanURL != "" {
				m.Chunks[i].PlanURL, m.Chunks[i].PlanText = "", ""
			}
		}
	}
	site.Obey(m.Chunks, s.Tries(v))
	return site.WritePage(w, r, http.StatusOK, HeatPage(s.Shell(r, v, "heat", "Heat"), m))
}

// heatView chooses the collection and what there is to say of it.
func heatView(s *site.Site, v answer.View, q answer.HeatQuery) (Heat, error) {
	state := func(code, title, detail string) (Heat, error) {
		return Heat{Windows: windowLinks(q), State: templates.State{Code: code, Title: title, Detail: detail}}, nil
	}
	if s.Deps.Heat == nil {
		return state("empty", "Writes are not counted here", "This shardboard runs without a heat collector.")
	}
	if !v.Table.Loaded {
		return state("loading", "Counting has just begun", "The first 10 s are counted in a moment; rates appear then.")
	}
	all := heat.Cover(v.Table, s.Deps.Profile)
	at := slices.IndexFunc(all, func(c heat.Coverage) bool { return c.Not == "" && (q.Ns == "" || q.Ns == c.NS) })
	switch not := slices.IndexFunc(all, func(c heat.Coverage) bool { return c.Not != "" && q.Ns == c.NS }); {
	case at >= 0:
		q.Ns = all[at].NS
	case not >= 0:
		return Heat{}, answer.WritesNotCounted(all[not], true)
	case q.Ns != "":
		return Heat{}, answer.WritesNotCounted(heat.Coverage{NS: q.Ns}, false)
	default:
		m, _ := state("empty", "No collection whose writes can be counted", "Counting needs a collection to which every write adds a row with a new ObjectID, such as Yorkie's changes; a profile file names others (writes: appended).")
		uncounted(&m, v.Table, q, all)
		return m, nil
	}
	window := s.Deps.Heat.Window(q.Ns, q.Window)
	health, known := s.Deps.Heat.Health(q.Ns)
	if window.Seconds == 0 {
		m, _ := state("loading", "Counting has just begun", words.T("heat.begin.detail."+all[at].Method.String()))
		if known && health.Err != nil {
			m.State = failedCount(health)
			m.State.Detail = fault.Text(health.Err)
		}
		m.Collections = collectionLinks(q, all)
		uncounted(&m, v.Table, q, all)
		m.Map = heatPicture(s, v, q, all[at].Method) // it may know of the time before a restart
		return m, nil
	}
	writes := sync.OnceValue(func() map[string]float64 { return shardWrites(s, v, q) })
	m := heatPage(v, s.Deps.Profile, window, q, s.Deps.Heat.Load(q.Ns), writes)
	m.Collections = collectionLinks(q, all)
	uncounted(&m, v.Table, q, all)
	if known {
		m.Notes = append(m.Notes, healthNotes(health, window)...)
	}
	m.Map = heatPicture(s, v, q, window.Method)
	return m, nil
}

// failedCount is a state whose detail is still to be said.
func failedCount(h heat.Health) templates.State {
	if fault.Of(h.Err) == fault.Forbidden {
		return templates.State{Code: "denied", Title: "Writes may not be counted"}
	}
	return templates.State{Code: "failed", Title: "Writes could not be counted"}
}

func healthNotes(h heat.Health, w heat.Window) []templates.State {
	var out []templates.State
	if h.Err != nil {
		note := failedCount(h)
		note.Detail = fmt.Sprintf("%s What is shown ends at %s.", fault.Text(h.Err), format.Clock(w.To))
		out = append(out, note)
	}
	if h.Sampled {
		out = append(out, templates.State{Code: "partial", Title: "Counted from slices of time", Detail: "There is much load: of every 10 s one is counted, and figures have an interval."})
	}
	return out
}

func windowLinks(q answer.HeatQuery) (out []HeatLink) {
	for _, d := range answer.HeatWindows() {
		to := q
		to.Window = d
		out = append(out, HeatLink{Text: format.Span(d), URL: to.Address(), Current: d == q.Window})
	}
	return out
}
