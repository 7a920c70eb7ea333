package logbook

import (
	"net/url"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/answer/param"
	"shardboard/internal/fault"
)

// LastParam chooses the time that a page is about: up to now. Links keep it from page to page.
const LastParam = "last"

// LogSpans are the spans of time that end now, by the code in an address.
var LogSpans = [...]struct {
	Code, Text string
	Long       time.Duration
}{{"1h", "Last hour", time.Hour}, {"6h", "Last 6 hours", 6 * time.Hour}, {"1d", "Last day", 24 * time.Hour},
	{"7d", "Last week", 7 * 24 * time.Hour}, {"35d", "Last 35 days", 35 * 24 * time.Hour}}

// Last is a span of time that ends now, by its code in LogSpans.
func Last(code *string) param.Param {
	var codes []string
	for _, s := range LogSpans {
		codes = append(codes, s.Code)
	}
	return param.OneOf(code, LastParam, "the time up to now", codes...)
}

// LongOf is how long the span with a code is; 0 if there is none.
func LongOf(code string) time.Duration {
	for _, s := range LogSpans {
		if s.Code == code {
			return s.Long
		}
	}
	return 0
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

// Parameters are those of an address. Times in the future are nothing wrong: there is nothing yet.
func (t *LogTime) Parameters() param.List {
	return param.List{
		Last(&t.Last),
		param.Time(&t.From, "from", "RFC 3339 or milliseconds since 1970, to the minute"),
		param.Time(&t.To, "to", "likewise; not included"),
		param.Check(func() error {
			t.From, t.To = t.From.Truncate(time.Minute), WholeMinute(t.To)
			switch {
			case t.Last != "" && !(t.From.IsZero() && t.To.IsZero()):
				return fault.New(fault.Invalid, "Give either last, or from and to.")
			case !t.From.IsZero() && !t.To.IsZero() && !t.From.Before(t.To):
				return fault.New(fault.Invalid, "from must be before to.")
			}
			return nil
		}),
	}
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
		return now.Add(-LongOf(t.Last)).Truncate(time.Minute), WholeMinute(now.Add(1))
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
