package answer

import (
	"math"
	"net/url"
	"slices"
	"strconv"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/heat"
	"shardboard/internal/heat/keyvis"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

const DefaultWindow = 5 * time.Minute

// windowOf reads ?window=, a Go duration.
func WindowOf(q url.Values) (time.Duration, error) {
	text := q.Get("window")
	if text == "" {
		return DefaultWindow, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < heat.Shortest || d > heat.Longest {
		return 0, fault.New(fault.Invalid, "window is a duration from 10s to 24h, such as 5m; %q is not.", sanitize.Truncate(text, 40))
	}
	return d, nil
}

// heatLines makes the lines of windows for an answer.
type HeatLines func(v View, w []heat.Window) []api.Heat

// staleAfter is from which age on a newer count should be there.
func StaleAfter(m heat.Method) time.Duration {
	if m == heat.ChangedRows {
		return 2*keyvis.Finest + 3*heat.Tick
	}
	return 3 * heat.Tick
}

// summed is a line of several windows together, those it took nothing in too.
func Summed(sum heat.Sum, windows []heat.Window) api.Heat {
	out := rated(sum.Line.Rate)
	for _, w := range windows {
		if sum.DB != "" && sum.DB != w.NS.Database() {
			continue
		}
		one := RatedIn(w, w.Total)
		switch {
		case out.NS == "":
			out.NS, out.Counts, out.From, out.To, out.CoveredSeconds = one.NS, one.Counts, one.From, one.To, one.CoveredSeconds
		default:
			out.CoveredSeconds = min(out.CoveredSeconds, one.CoveredSeconds)
			if one.From != nil && (out.From == nil || one.From.Before(*out.From)) {
				out.From = one.From
			}
			if one.To != nil && (out.To == nil || one.To.After(*out.To)) {
				out.To = one.To
			}
		}
	}
	for i, p := range sum.Parts {
		if i == 0 {
			out.NS = string(p.NS)
		}
		part := rated(p.Rate)
		out.Parts = append(out.Parts, api.HeatPart{NS: string(p.NS), WritesPerSecond: part.WritesPerSecond, PlusMinus: part.PlusMinus,
			Exact: part.Exact, AtLeast: part.AtLeast, Share: part.Share})
	}
	if len(windows) == 1 {
		out.Parts = nil // the line says it all
	}
	return out
}

// ratedIn is a rate in one window.
func RatedIn(w heat.Window, r heat.Rate) api.Heat {
	out := rated(r)
	out.NS, out.Counts, out.From, out.To, out.CoveredSeconds = string(w.NS), w.Method.String(), api.Time(w.From), api.Time(w.To), w.Seconds
	return out
}

// methodOf says how a collection is counted.
func MethodOf(m heat.Method) api.HeatMethod {
	if m == heat.ChangedRows {
		return api.HeatMethod{Counts: m.String(), Of: "hottestProjects", Projects: heat.HottestProjects, LowerBound: true, EverySeconds: int(keyvis.Finest / time.Second)}
	}
	return api.HeatMethod{Counts: m.String(), Of: "allProjects", EverySeconds: int(heat.Tick / time.Second)}
}

// rated is a rate alone.
func rated(r heat.Rate) api.Heat {
	out := api.Heat{WritesPerSecond: r.PerSecond, Exact: r.Exact, AtLeast: r.AtLeast, Share: r.Share}
	if r.PlusMinus > 0 {
		out.PlusMinus = &r.PlusMinus
	}
	return out
}

func ByShard(lines []heat.Line) map[string]float64 {
	out := make(map[string]float64, len(lines))
	for _, l := range lines {
		out[l.Shard] = l.Rate.PerSecond
	}
	return out
}

func Millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// heatQuery is what the page of heat is asked for.
type HeatQuery struct {
	Ns     topology.Namespace
	Window time.Duration
	Span   time.Duration
	By     keyvis.By
	// internal lists the server's own collections too, whose writes nothing counts.
	Internal bool
}

// heatWindows and heatSpans are the choices of the page.
func HeatWindows() []time.Duration {
	return []time.Duration{10 * time.Second, time.Minute, DefaultWindow, 15 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour}
}

func HeatSpans() []time.Duration {
	return []time.Duration{time.Hour, MapSpan, 24 * time.Hour, 7 * 24 * time.Hour, keyvis.Reach}
}

func HeatQueryOf(q url.Values) (HeatQuery, error) {
	out := HeatQuery{Ns: topology.Namespace(q.Get("ns")), By: keyvis.By(q.Get("by")), Span: MapSpan}
	var err error
	if out.Window, err = WindowOf(q); err != nil {
		return out, err
	}
	if out.Internal, err = InternalOf(q); err != nil {
		return out, err
	}
	switch out.By {
	case "":
		out.By = keyvis.ByKey
	case keyvis.ByKey, keyvis.ByProject:
	default:
		return out, fault.New(fault.Invalid, "by is key or project; %q is not.", sanitize.Truncate(string(out.By), 40))
	}
	if text := q.Get("span"); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil || !slices.Contains(HeatSpans(), d) {
			return out, fault.New(fault.Invalid, "span is one of the page's choices, such as 6h; %q is not.", sanitize.Truncate(text, 40))
		}
		out.Span = d
	}
	return out, nil
}

// shownHot is how many of a kind the page lists.
const ShownHot = 10

// shortest is the shortest time that a method tells of.
func Shortest(m heat.Method) time.Duration {
	if m == heat.ChangedRows {
		return keyvis.Finest
	}
	return heat.Shortest
}

// projectName is a project's name, or its id while the list does not have it.
func ProjectName(v View, ns topology.Namespace, id bson.ObjectID) string {
	if p, ok := v.Dir.In(ns.Database(), id); ok && p.Name != "" {
		return p.Name
	}
	return id.Hex()
}

// rateText is a rate with what is not sure about it.
func RateText(r heat.Rate) string {
	text := PerSecond(r.PerSecond)
	if r.AtLeast {
		return "≥\u202f" + text
	}
	if r.PlusMinus > 0 {
		return text + "\u202f±\u202f" + PerSecond(r.PlusMinus)
	}
	return text
}

func RateTitle(m heat.Method, r heat.Rate) string {
	switch {
	case m == heat.ChangedRows:
		return "at least: rows of the hottest projects by their date; one that changed twice counts once"
	case r.AtLeast:
		return "at least: the reading budget ended before the rows did"
	case r.Exact:
		return "counted: all"
	}
	return "from 1 s in 10; ± is half of the 95 % interval"
}

func HowText(r heat.Rate) string {
	switch {
	case r.AtLeast:
		return "at least"
	case r.Exact:
		return "all"
	}
	return "1 s in 10"
}

// perSecond writes a small number with about three digits: 1 234, 12.3, 0.042.
func PerSecond(f float64) string {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0) || f < 0:
		return format.Unknown
	case f >= 100 || f == 0:
		return format.Count(int64(math.Round(f)))
	case f >= 10:
		return strconv.FormatFloat(f, 'f', 1, 64)
	case f >= 0.1:
		return strconv.FormatFloat(f, 'f', 2, 64)
	case f >= 0.0005:
		return strconv.FormatFloat(f, 'f', 3, 64)
	}
	return "<\u202f0.001"
}

func Two(f float64) string { return strconv.FormatFloat(f, 'f', 2, 64) }
