package logbook

import (
	"net/url"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
)

// LastParam chooses the time that a page is about: up to now. Links keep it from page to page.
const LastParam = "last"

// LogSpans are the spans of time that end now, by the code in an address.
var LogSpans = [...]struct {
	Code, Text string
	Long       time.Duration
}{{"1h", "Last hour", time.Hour}, {"6h", "Last 6 hours", 6 * time.Hour}, {"1d", "Last day", 24 * time.Hour},
	{"7d", "Last week", 7 * 24 * time.Hour}, {"35d", "Last 35 days", 35 * 24 * time.Hour}}

// ParseLast reads ?last=; 0 without it.
func ParseLast(in url.Values) (time.Duration, error) {
	t := LogTime{Last: in.Get(LastParam)}
	if t.Last != "" && t.long() == 0 {
		return 0, fault.New(fault.Invalid, "last must be 1h, 6h, 1d, 7d or 35d, not %q.", sanitize.Truncate(t.Last, 40))
	}
	return t.long(), nil
}

// LastOf is the code of a span; "" if it has none.
func LastOf(d time.Duration) string {
	for _, s := range LogSpans {
		if s.Long == d {
			return s.Code
		}
	}
	return ""
}

// LogTime chooses a part of the changelog by time, to the minute. The zero value is all that is
// remembered. Times are UTC.
type LogTime struct {
	Last     string    // code of LogSpans; "" for From and To
	From, To time.Time // zero: open
}

// ParseLogTime reads the parameters of an address. Times in the future are nothing wrong: there is
// nothing yet.
func ParseLogTime(in url.Values) (LogTime, error) {
	t := LogTime{Last: in.Get(LastParam)}
	if _, err := ParseLast(in); err != nil {
		return LogTime{}, err
	}
	var err error
	if t.From, err = answer.TimeParameter(in, "from", time.Time{}); err != nil {
		return t, err
	}
	if t.To, err = answer.TimeParameter(in, "to", time.Time{}); err != nil {
		return t, err
	}
	t.From, t.To = t.From.Truncate(time.Minute), WholeMinute(t.To)
	switch {
	case t.Last != "" && !(t.From.IsZero() && t.To.IsZero()):
		return LogTime{}, fault.New(fault.Invalid, "Give either last, or from and to.")
	case !t.From.IsZero() && !t.To.IsZero() && !t.From.Before(t.To):
		return LogTime{}, fault.New(fault.Invalid, "from must be before to.")
	}
	return t, nil
}

func (t LogTime) long() time.Duration {
	for _, s := range LogSpans {
		if s.Code == t.Last {
			return s.Long
		}
	}
	return 0
}

// WholeMinute is the end of the minute that a time is in; the zero time stays.
func WholeMinute(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.Add(time.Minute - 1).Truncate(time.Minute)
}

// Timed tells whether a time is asked for.
func (t LogTime) Timed() bool { return t != LogTime{} }

// Span is the time that is asked for: [from, to), where an open begin is that of history.
func (t LogTime) Span(now time.Time) (from, to time.Time) {
	if t.Last != "" {
		return now.Add(-t.long()).Truncate(time.Minute), WholeMinute(now.Add(1))
	}
	if to = t.To; to.IsZero() || to.After(now) {
		to = WholeMinute(now.Add(1))
	}
	return t.From, to
}

func (t LogTime) set(u url.Values) {
	answer.SetParameter(u, "last", t.Last)
	if !t.From.IsZero() {
		u.Set("from", t.From.UTC().Format(minuteTime))
	}
	if !t.To.IsZero() {
		u.Set("to", t.To.UTC().Format(minuteTime))
	}
}

const minuteTime = "2006-01-02T15:04"

// MinuteField is a time as the value of a form's field, to the minute in UTC; "" for none.
func MinuteField(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(minuteTime)
}
