package writes

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/answer/logbook"
	"shardboard/internal/fault"
	"shardboard/internal/heat/keyvis"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// HeatQuery is what the page of heat is asked for.
type HeatQuery struct {
	NS     topology.Namespace
	Window time.Duration // of the lists
	Span   time.Duration // of the picture
	By     keyvis.By
	// Internal lists the server's own collections too, whose writes are not counted.
	Internal bool
	Selected HeatSelected
}

// HeatSelected is a part of the picture: rows by their keys and a time. The zero value selects nothing.
type HeatSelected struct {
	Rows     []string // by key: the first and the last row; by project: all of them
	From, To time.Time
}

// None tells that nothing is selected.
func (s HeatSelected) None() bool { return len(s.Rows) == 0 }

// selectedProjects is how many projects one selection may have.
const selectedProjects = 50

// parseHeatSelected reads ?rows=, ?from= and ?to=, which are given together or not at all.
func parseHeatSelected(q url.Values, by keyvis.By) (out HeatSelected, err error) {
	text := q.Get("rows")
	if text == "" {
		if q.Get("from") != "" || q.Get("to") != "" {
			return out, fault.New(fault.Invalid, "from and to select a part of the picture and need rows.")
		}
		return out, nil
	}
	out.Rows = strings.Split(sanitize.Truncate(text, 4000), ",")
	most := 2
	if by == keyvis.ByProject {
		most = selectedProjects
	}
	if len(out.Rows) > most {
		return out, fault.New(fault.Invalid, "rows must name at most %d rows of the picture.", most)
	}
	if out.From, err = answer.TimeParameter(q, "from", time.Time{}); err != nil {
		return out, err
	}
	if out.To, err = answer.TimeParameter(q, "to", time.Time{}); err != nil {
		return out, err
	}
	if out.From.IsZero() || out.To.IsZero() || !out.From.Before(out.To) {
		return out, fault.New(fault.Invalid, "rows need from and to, and from must be before to.")
	}
	return out, nil
}

// set writes the parameters that parseHeatSelected reads.
func (s HeatSelected) set(v url.Values) {
	if !s.None() {
		v.Set("rows", strings.Join(s.Rows, ","))
		v.Set("from", strconv.FormatInt(s.From.UnixMilli(), 10))
		v.Set("to", strconv.FormatInt(s.To.UnixMilli(), 10))
	}
}

// HeatWindows are the page's choices of a window.
func HeatWindows() []time.Duration {
	return []time.Duration{10 * time.Second, time.Minute, answer.DefaultWindow, 15 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour}
}

// HeatSpans are the page's choices of a span.
func HeatSpans() []time.Duration {
	return []time.Duration{time.Hour, DefaultSpan, 24 * time.Hour, 7 * 24 * time.Hour, keyvis.Reach}
}

// DefaultSpan is what a picture shows when no time is asked for.
const DefaultSpan = 6 * time.Hour

// ParseHeatQuery reads the page's parameters.
func ParseHeatQuery(q url.Values) (HeatQuery, error) {
	out := HeatQuery{NS: topology.Namespace(q.Get("ns")), Span: DefaultSpan}
	var err error
	if out.Window, err = parseWindow(q); err != nil {
		return out, err
	}
	if out.Internal, err = answer.ParseInternal(q); err != nil {
		return out, err
	}
	if out.By, err = parsePictureRows(q); err != nil {
		return out, err
	}
	last, err := logbook.ParseLast(q)
	if err != nil {
		return out, err
	}
	if text := q.Get("span"); last > 0 {
		out.Span = last
	} else if text != "" { // as earlier versions wrote it
		d, err := time.ParseDuration(text)
		if err != nil || !slices.Contains(HeatSpans(), d) {
			return out, fault.New(fault.Invalid, "span must be one of the page's choices, such as 6h, not %q.", sanitize.Truncate(text, 40))
		}
		out.Span = d
	}
	out.Selected, err = parseHeatSelected(q, out.By)
	return out, err
}

// parsePictureRows reads ?by=: key ranges or projects.
func parsePictureRows(q url.Values) (keyvis.By, error) {
	switch by := keyvis.By(q.Get("by")); by {
	case "":
		return keyvis.ByKey, nil
	case keyvis.ByKey, keyvis.ByProject:
		return by, nil
	default:
		return by, fault.New(fault.Invalid, "by must be key or project, not %q.", sanitize.Truncate(string(by), 40))
	}
}

// URL is the page's own, without defaults.
func (q HeatQuery) URL() string {
	v := url.Values{}
	if q.NS != "" {
		v.Set("ns", string(q.NS))
	}
	if q.Window != answer.DefaultWindow {
		v.Set("window", ShortDuration(q.Window))
	}
	if q.Span != DefaultSpan {
		v.Set(logbook.LastParam, logbook.LastOf(q.Span))
	}
	if q.By != keyvis.ByKey {
		v.Set("by", string(q.By))
	}
	if q.Internal {
		v.Set(answer.InternalParam, "1")
	}
	q.Selected.set(v)
	if len(v) == 0 {
		return "/heat"
	}
	return "/heat?" + v.Encode()
}

// ShortDuration is a duration without its empty parts: 6h and not 6h0m0s.
func ShortDuration(d time.Duration) string {
	switch {
	case d%time.Hour == 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d%time.Minute == 0:
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	return d.String()
}

// HeatURL is the page of heat of a collection.
func HeatURL(ns topology.Namespace) string {
	return HeatQuery{NS: ns, Window: answer.DefaultWindow, Span: DefaultSpan, By: "key"}.URL()
}
