package templates

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"shardboard/web/words"
)

// The thin no-break space groups digits and joins a number to its unit, so
// that neither ever breaks across lines.
const (
	thin = "\u202f"
	// Unknown stands where a number would be when there is none.
	Unknown = "–"
)

// Count writes a whole number with thin separators: 12 345.
func Count(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if s[0] == '-' {
		sign, s = "−", s[1:]
	}
	if len(s) <= 3 {
		return sign + s
	}
	var b strings.Builder
	b.WriteString(sign)
	head := len(s) % 3
	if head > 0 {
		b.WriteString(s[:head])
	}
	for i := head; i < len(s); i += 3 {
		if i > 0 {
			b.WriteString(thin)
		}
		b.WriteString(s[i : i+3])
	}
	return b.String()
}

// Bytes writes a size in IEC units with three significant digits: 1.24 GiB.
func Bytes(n int64) string {
	units := [...]string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	if n < 0 {
		return "−" + Bytes(-max(n, -math.MaxInt64))
	}
	if n < 1024 {
		return strconv.FormatInt(n, 10) + thin + "B"
	}
	v, u := float64(n), 0
	for v >= 1024 && u < len(units)-1 {
		v, u = v/1024, u+1
	}
	// 1023.97 KiB would round to the odd "1024 KiB".
	if v >= 999.5 && u < len(units)-1 {
		v, u = v/1024, u+1
	}
	return significant(v) + thin + units[u]
}

// significant keeps three significant digits of 0 ≤ v < 1000.
func significant(v float64) string {
	switch {
	case v >= 99.95:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 9.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	default:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
}

// Share writes a fraction as a percentage: whole above 10 %, one digit below,
// and never a zero for what is not zero. NaN and negatives are unknown.
func Share(f float64) string {
	p := f * 100
	switch {
	case math.IsNaN(p) || p < 0:
		return Unknown
	case p == 0:
		return "0" + thin + "%"
	case p < 0.1:
		return "<" + thin + "0.1" + thin + "%"
	case p < 9.95:
		return strconv.FormatFloat(p, 'f', 1, 64) + thin + "%"
	case p > 99.5 && p < 100:
		return strconv.FormatFloat(math.Floor(p*10)/10, 'f', 1, 64) + thin + "%"
	default:
		return strconv.FormatFloat(p, 'f', 0, 64) + thin + "%"
	}
}

// Span writes a duration as one unit: 4 s, 12 min, 3 h, 5 d.
func Span(d time.Duration) string {
	n, unit := span(d)
	return words.T("span."+unit, "n", strconv.Itoa(n))
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

// Ago writes how long before now something was; the zero time is "never".
func Ago(at, now time.Time) Moment {
	if at.IsZero() {
		return Moment{Text: words.T("time.never")}
	}
	return Moment{At: at, Text: AgoText(now.Sub(at))}
}

// AgoText is Ago's sentence. A clock up to a minute ahead of ours is "now";
// further ahead says so, because it is a finding.
func AgoText(d time.Duration) string {
	switch {
	case d < -time.Minute:
		return words.T("time.ahead", "span", Span(-d))
	case d < time.Second:
		return words.T("time.now")
	default:
		return words.T("time.ago", "span", Span(d))
	}
}

// Stamp is the full time behind relative words, in UTC.
func Stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Clock is a time of day in UTC, for sentences that must not change with age.
func Clock(t time.Time) string { return t.UTC().Format("15:04:05") + thin + "UTC" }

// Middle cuts s in the middle to at most n characters, keeping both ends:
// neighbouring keys differ at their ends, not in the middle.
func Middle(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	r := []rune(s)
	tail := (n - 1) / 2
	head := n - 1 - tail
	return string(r[:head]) + "…" + string(r[len(r)-tail:])
}

// Cut makes a bound of a text: short for the eye, full for the clipboard.
func Cut(s string, n int) Key { return Key{Short: Middle(s, n), Full: s} }

// Version writes a chunk version as people say it: major|minor.
func Version(major, minor uint32) string {
	return strconv.FormatUint(uint64(major), 10) + "|" + strconv.FormatUint(uint64(minor), 10)
}

// Percent is a fraction as an SVG length.
func Percent(f float64) string {
	if math.IsNaN(f) || f < 0 {
		f = 0
	}
	return trim(min(f, 1)*100) + "%"
}

// Units is a fraction of an SVG of the given width, without needless digits.
func Units(f, width float64) string { return trim(f * width) }

func trim(v float64) string {
	s := strconv.FormatFloat(v, 'f', 2, 64)
	s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	if s == "" || s == "-0" {
		return "0"
	}
	return s
}

// shardClass is the colour class of a shard.
func shardClass(color int) string {
	if color < 1 || color > 12 {
		return "s0"
	}
	return fmt.Sprintf("s%d", color)
}
