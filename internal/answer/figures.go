package answer

import (
	"cmp"
	"math"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/topology"
)

// Sum adds figures of which some may be unknown. What is missing makes the
// total an estimate; nothing known at all makes it unknown.
type Sum struct {
	Value   int64
	Known   int
	missing int
	approx  bool
	method  string
	oldest  time.Time
	reason  string
}

// Add adds a figure, known or not.
func (s *Sum) Add(f topology.Figure) {
	if !f.Known {
		s.missing++
		s.reason = f.Reason
		return
	}
	s.Known++
	if s.Value += f.Value; s.Value < f.Value && f.Value > 0 { // too large a sum for its type
		s.Value, s.approx = math.MaxInt64, true
	}
	s.approx = s.approx || !f.Exact
	s.method = f.Method
	if s.oldest.IsZero() || f.At.Before(s.oldest) {
		s.oldest = f.At
	}
}

// plus adds another sum.
func (s *Sum) plus(o Sum) {
	known, missing := s.Known+o.Known, s.missing+o.missing
	if o.Known > 0 {
		s.Add(topology.Figure{Known: true, Exact: !o.approx, Value: o.Value, Method: o.method, At: o.oldest})
	}
	s.Known, s.missing, s.reason = known, missing, cmp.Or(o.reason, s.reason)
}

// Figure is the sum.
func (s *Sum) Figure() topology.Figure {
	if s.Known == 0 {
		return topology.Figure{Reason: cmp.Or(s.reason, "notLoaded")}
	}
	f := topology.Figure{Known: true, Value: s.Value, Exact: !s.approx && s.missing == 0, Method: s.method, At: s.oldest}
	if s.missing > 0 {
		f.Method = "partial"
	}
	return f
}

// Total adds up the figures of an answer.
func Total(figures []api.Figure) api.Figure {
	var all Sum
	for _, f := range figures {
		one := topology.Figure{Reason: f.Reason}
		if f.Value != nil {
			one = topology.Figure{Known: true, Value: *f.Value, Exact: f.Exact, Method: f.Method, At: f.At}
		}
		all.Add(one)
	}
	return FigureOf(all.Figure())
}

// Share is a/b, negative when unknown.
func Share(a, b int64) float64 {
	if b <= 0 {
		return -1
	}
	return float64(a) / float64(b)
}

// SizeOf is one collection over all shards.
func SizeOf(t *topology.Table, ns topology.Namespace) (bytes, documents, orphans topology.Figure) {
	var b, d, o Sum
	if len(t.Sizes[ns].Shards) == 0 {
		one := t.SizeOn(ns, "")
		return one.Bytes, one.Documents, one.Orphans
	}
	for _, s := range t.Sizes[ns].Shards {
		b.Add(s.Bytes)
		d.Add(s.Documents)
		o.Add(s.Orphans)
	}
	return b.Figure(), d.Figure(), o.Figure()
}

// FigureOf is a figure of the routing table as an answer has it.
func FigureOf(f topology.Figure) api.Figure {
	if !f.Known {
		return api.Figure{Reason: f.Reason}
	}
	return api.Figure{Value: &f.Value, Exact: f.Exact, PlusMinus: f.PlusMinus, Method: f.Method, At: f.At}
}

// ApproxText writes a figure in plain text, with how exact it is: "about 1.2 GiB
// (± 20 MiB)". One that is not known says why.
func ApproxText(f api.Figure, write func(int64) string) string {
	text := ValueOrReason(f, write)
	switch {
	case f.Value == nil || f.Exact || *f.Value == 0:
		return text
	case f.PlusMinus > 0:
		return "about " + text + " (± " + write(f.PlusMinus) + ")"
	}
	return "about " + text
}

// WithInterval writes a figure with its interval where that can be written: "1 min ± 12 s".
func WithInterval(f api.Figure, write func(int64) string) string {
	text := ValueOrReason(f, write)
	if f.Value == nil || f.PlusMinus == 0 || write(f.PlusMinus) == write(1) {
		return text
	}
	return text + " ± " + write(f.PlusMinus)
}

// ValueOrReason writes the value of a figure, or why it is not known.
func ValueOrReason(f api.Figure, write func(int64) string) string {
	if f.Value == nil {
		return topology.ReasonText(f.Reason)
	}
	return write(*f.Value)
}

// MeanMillis is a mean time, which is known where there was an operation.
func MeanMillis(perSecond float64, mean time.Duration) *float64 {
	if perSecond <= 0 {
		return nil
	}
	ms := float64(mean) / float64(time.Millisecond)
	return &ms
}

// BySize compares collections as all pages list them: the largest first, then those of unknown size.
func BySize(a, b api.Figure) int { return cmp.Compare(KnownOrNegative(b), KnownOrNegative(a)) }

// KnownOrNegative is a figure's value; -1 if it is not known.
func KnownOrNegative(f api.Figure) int64 {
	if f.Value == nil {
		return -1
	}
	return *f.Value
}
