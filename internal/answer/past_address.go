package answer

import (
	"net/url"
	"time"

	"shardboard/internal/history"
)

// TimeSpans are how much time the picture can show.
var TimeSpans = [...]struct {
	Code string
	Long time.Duration
}{{"1h", time.Hour}, {"6h", 6 * time.Hour}, {"1d", 24 * time.Hour}, {"7d", 7 * 24 * time.Hour}, {"35d", history.Keep}}

// TimeTicks is how many parts the picture has.
const TimeTicks = 200

// FieldTime is how a form's field of date and time has a value; UTC.
const FieldTime = "2006-01-02T15:04:05"

// AtText is a time as ?at= has it.
func AtText(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.999Z") }

// FullInstant is a time for people, with its date.
func FullInstant(t time.Time) string { return t.UTC().Format("2 Jan 2006 15:04:05 UTC") }

// WithAt is a page's own address at a time; the zero time is now.
func WithAt(page string, at time.Time) string {
	u, err := url.Parse(page)
	if err != nil {
		return "/"
	}
	q := u.Query()
	q.Del("at")
	if !at.IsZero() {
		q.Set("at", AtText(at))
	}
	u.RawQuery = q.Encode()
	return u.String()
}
