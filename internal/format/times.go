package format

import (
	"strconv"
	"time"
)

// Span writes a duration as one unit: 4 s, 12 min, 3 h, 5 d.
func Span(d time.Duration) string {
	n, unit := span(d)
	return strconv.Itoa(n) + " " + unit
}

func span(d time.Duration) (int, string) {
	switch d = max(d, 0); {
	case d < time.Minute:
		return int(d / time.Second), "s"
	case d < time.Hour:
		return int(d / time.Minute), "min"
	case d < 48*time.Hour:
		return int(d / time.Hour), "h"
	default:
		return int(d / (24 * time.Hour)), "d"
	}
}

// Ago writes how long ago something was: "5 s ago". A clock up to a minute ahead of ours is "now";
// further ahead says so, because it is a finding.
func Ago(d time.Duration) string {
	switch {
	case d < -time.Minute:
		return Span(-d) + " ahead of our clock"
	case d < time.Second:
		return "just now"
	default:
		return Span(d) + " ago"
	}
}

// Stamp is the full time behind relative words, in UTC.
func Stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Clock is a time of day in UTC, for sentences that must not change with age.
func Clock(t time.Time) string { return t.UTC().Format("15:04:05") + thin + "UTC" }
