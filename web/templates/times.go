package templates

import (
	"context"
	"time"

	"shardboard/internal/format"
)

// Moment is an instant shown as words, with the full time behind them.
type Moment struct {
	At   time.Time
	Text string
}

// Ago writes how long before now something was; the zero time is "never".
func Ago(at, now time.Time) Moment {
	if at.IsZero() {
		return Moment{Text: "never"}
	}
	return Moment{At: at, Text: format.Ago(now.Sub(at))}
}

// countdown is how long it is until a time.
func countdown(at, now time.Time) string {
	if !now.Before(at) {
		return "now"
	}
	return format.Span(at.Sub(now)) + " left"
}

// Since is how long ago a time of an answer was; "never" if there is none.
func Since(at *time.Time, now time.Time) Moment {
	if at == nil {
		return Moment{Text: "never"}
	}
	return Ago(*at, now)
}

// fragmentKey marks a context in which a live fragment is drawn.
type fragmentKey struct{}

// AsFragment marks ctx for drawing a live fragment. A fragment is drawn once
// for everybody and compared with the one before, so nothing in it may change
// merely because time passes: times are then written as clock times, which the
// page's script turns into "5 s ago" in every browser.
func AsFragment(ctx context.Context) context.Context {
	return context.WithValue(ctx, fragmentKey{}, true)
}

// moment is the text of a time: relative words on a page, a clock time in a
// fragment.
func moment(ctx context.Context, m Moment) string {
	if ctx.Value(fragmentKey{}) != nil {
		return format.Clock(m.At)
	}
	return m.Text
}
