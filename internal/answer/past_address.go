package answer

import (
	"net/url"
	"time"
)

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
