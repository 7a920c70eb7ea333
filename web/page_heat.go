package web

import (
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/heat"
	"shardboard/internal/heat/keyvis"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// heatQuery is what the page of heat is asked for.
type heatQuery struct {
	ns     topology.Namespace
	window time.Duration
	span   time.Duration
	by     keyvis.By
	// internal lists the server's own collections too, whose writes nothing counts.
	internal bool
}

// heatWindows and heatSpans are the choices of the page.
func heatWindows() []time.Duration {
	return []time.Duration{10 * time.Second, time.Minute, defaultWindow, 15 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour}
}

func heatSpans() []time.Duration {
	return []time.Duration{time.Hour, mapSpan, 24 * time.Hour, 7 * 24 * time.Hour, keyvis.Reach}
}

func heatQueryOf(q url.Values) (heatQuery, error) {
	out := heatQuery{ns: topology.Namespace(q.Get("ns")), by: keyvis.By(q.Get("by")), span: mapSpan}
	var err error
	if out.window, err = windowOf(q); err != nil {
		return out, err
	}
	if out.internal, err = internalOf(q); err != nil {
		return out, err
	}
	switch out.by {
	case "":
		out.by = keyvis.ByKey
	case keyvis.ByKey, keyvis.ByProject:
	default:
		return out, fault.New(fault.Invalid, "by is key or project; %q is not.", sanitize.Truncate(string(out.by), 40))
	}
	if text := q.Get("span"); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil || !slices.Contains(heatSpans(), d) {
			return out, fault.New(fault.Invalid, "span is one of the page's choices, such as 6h; %q is not.", sanitize.Truncate(text, 40))
		}
		out.span = d
	}
	return out, nil
}

// address is the page's own, with the defaults left out.
func (q heatQuery) address() string {
	v := url.Values{}
	if q.ns != "" {
		v.Set("ns", string(q.ns))
	}
	if q.window != defaultWindow {
		v.Set("window", short(q.window))
	}
	if q.span != mapSpan {
		v.Set("span", short(q.span))
	}
	if q.by != keyvis.ByKey {
		v.Set("by", string(q.by))
	}
	if q.internal {
		v.Set(internalParam, "1")
	}
	if len(v) == 0 {
		return "/heat"
	}
	return "/heat?" + v.Encode()
}

// pageHeat answers "where is it hot?".
func (s *Site) pageHeat(w http.ResponseWriter, r *http.Request) error {
	q, err := heatQueryOf(r.URL.Query())
	if err != nil {
		return err
	}
	v := s.viewFor(r)
	m, err := s.heatView(v, q)
	if err != nil {
		return err
	}
	if s.offers(r, v.Table) == nil { // plans are not for this person, or for nobody
		for i := range m.Chunks {
			if m.Chunks[i].PlanURL != "" {
				m.Chunks[i].PlanURL, m.Chunks[i].PlanText = "", ""
			}
		}
	}
	obey(m.Chunks, s.tries(v))
	return writePage(w, r, http.StatusOK, templates.HeatPage(s.shell(r, v, "heat", words.T("nav.heat")), m))
}

// heatView chooses the collection and what there is to say of it.
func (s *Site) heatView(v View, q heatQuery) (templates.Heat, error) {
	state := func(code, title, detail string) (templates.Heat, error) {
		return templates.Heat{Windows: windowLinks(q), State: templates.State{Code: code, Title: title, Detail: detail}}, nil
	}
	if s.deps.Heat == nil {
		return state("empty", words.T("heat.off"), words.T("heat.off.detail"))
	}
	if !v.Table.Loaded {
		return state("loading", words.T("heat.begin"), words.T("heat.begin.detail.newRows"))
	}
	all := heat.Cover(v.Table, s.deps.Profile)
	at := slices.IndexFunc(all, func(c heat.Coverage) bool { return c.Not == "" && (q.ns == "" || q.ns == c.NS) })
	switch not := slices.IndexFunc(all, func(c heat.Coverage) bool { return c.Not != "" && q.ns == c.NS }); {
	case at >= 0:
		q.ns = all[at].NS
	case not >= 0:
		return templates.Heat{}, writesNotCounted(all[not], true)
	case q.ns != "":
		return templates.Heat{}, writesNotCounted(heat.Coverage{NS: q.ns}, false)
	default:
		m, _ := state("empty", words.T("heat.noprofile"), words.T("heat.noprofile.txt"))
		uncounted(&m, v.Table, q, all)
		return m, nil
	}
	window := s.deps.Heat.Window(q.ns, q.window)
	health, known := s.deps.Heat.Health(q.ns)
	if window.Seconds == 0 {
		m, _ := state("loading", words.T("heat.begin"), words.T("heat.begin.detail."+all[at].Method.String()))
		if known && health.Err != nil {
			m.State = failedCount(health)
			m.State.Detail = fault.Text(health.Err)
		}
		m.Collections = collectionLinks(q, all)
		uncounted(&m, v.Table, q, all)
		m.Map = s.heatPicture(v, q, all[at].Method) // it may know of the time before a restart
		return m, nil
	}
	writes := sync.OnceValue(func() map[string]float64 { return s.shardWrites(v, q) })
	m := heatPage(v, s.deps.Profile, window, q, s.deps.Heat.Load(q.ns), writes)
	m.Collections = collectionLinks(q, all)
	uncounted(&m, v.Table, q, all)
	if known {
		m.Notes = append(m.Notes, healthNotes(health, window)...)
	}
	m.Map = s.heatPicture(v, q, window.Method)
	return m, nil
}

// failedCount is a state whose detail is still to be said.
func failedCount(h heat.Health) templates.State {
	if fault.Of(h.Err) == fault.Forbidden {
		return templates.State{Code: "denied", Title: words.T("heat.denied")}
	}
	return templates.State{Code: "failed", Title: words.T("heat.failed")}
}

func healthNotes(h heat.Health, w heat.Window) []templates.State {
	var out []templates.State
	if h.Err != nil {
		note := failedCount(h)
		note.Detail = words.T("heat.since", "error", fault.Text(h.Err), "at", format.Clock(w.To))
		out = append(out, note)
	}
	if h.Sampled {
		out = append(out, templates.State{Code: "partial", Title: words.T("heat.under.load"), Detail: words.T("heat.under.detail")})
	}
	return out
}

func windowLinks(q heatQuery) (out []templates.HeatLink) {
	for _, d := range heatWindows() {
		to := q
		to.window = d
		out = append(out, templates.HeatLink{Text: format.Span(d), URL: to.address(), Current: d == q.window})
	}
	return out
}

// short is a duration without its empty parts: 6h and not 6h0m0s.
func short(d time.Duration) string {
	switch {
	case d%time.Hour == 0:
		return templates.Units(d.Hours(), 1) + "h"
	case d%time.Minute == 0:
		return templates.Units(d.Minutes(), 1) + "m"
	}
	return d.String()
}
