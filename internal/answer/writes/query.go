package writes

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/answer/logbook"
	"shardboard/internal/answer/param"
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

// check refuses a part of the picture whose parameters are not given together.
func (s HeatSelected) check(by keyvis.By) error {
	most := 2
	if by == keyvis.ByProject {
		most = selectedProjects
	}
	switch {
	case s.None() && !(s.From.IsZero() && s.To.IsZero()):
		return fault.New(fault.Invalid, "from and to select a part of the picture and need rows.")
	case len(s.Rows) > most:
		return fault.New(fault.Invalid, "rows must name at most %d rows of the picture.", most)
	case !s.None() && (s.From.IsZero() || s.To.IsZero() || !s.From.Before(s.To)):
		return fault.New(fault.Invalid, "rows need from and to, and from must be before to.")
	}
	return nil
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

// Parameters are those of the address of the page.
func (q *HeatQuery) Parameters() param.List {
	q.Span, q.By = DefaultSpan, keyvis.ByKey
	var last string
	return param.List{
		CountedCollection(&q.NS),
		Window(&q.Window),
		answer.ShowInternal(&q.Internal),
		pictureRows(&q.By),
		param.Of("span", "as last, as earlier versions wrote it: 1h, 6h, 24h, 168h or 840h", func(typed string) error {
			d, err := time.ParseDuration(typed)
			if err != nil || !slices.Contains(HeatSpans(), d) {
				return fault.New(fault.Invalid, "span must be one of the page's choices, such as 6h, not %q.", sanitize.Truncate(typed, 40))
			}
			q.Span = d
			return nil
		}),
		logbook.Last(&last),
		param.Of("rows", "keys of the rows to describe, with from and to: the first and the last by key, all by project",
			func(typed string) error {
				q.Selected.Rows = strings.Split(typed, ",")
				return nil
			}),
		param.Time(&q.Selected.From, "from", "RFC 3339 or milliseconds since 1970: begin of what is described"),
		param.Time(&q.Selected.To, "to", "its end"),
		param.Check(func() error {
			q.Span = cmp.Or(logbook.LongOf(last), q.Span)
			return q.Selected.check(q.By)
		}),
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
