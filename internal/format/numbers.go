// Package format writes numbers, sizes, shares and times as people read them, the
// same on pages, in messages and on the command line. Pure functions without a
// locale: IEC units, UTC, narrow no-break spaces between groups of digits and
// before a unit.
package format

import (
	"math"
	"strconv"
	"strings"
)

// The narrow no-break space groups digits and joins a number to its unit, so
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

// Millis writes a mean time in milliseconds.
func Millis(ms float64) string {
	if ms < 0.1 {
		return "under 0.1 ms"
	}
	return strconv.FormatFloat(ms, 'f', 1, 64) + " ms"
}

// PerSecond writes a measured rate with about three digits, and never a zero for what
// is not zero: 1 234, 12.3, 0.042. The unit is the caller's.
func PerSecond(f float64) string {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0) || f < 0:
		return Unknown
	case f >= 100 || f == 0:
		return Count(int64(math.Round(f)))
	case f >= 10:
		return strconv.FormatFloat(f, 'f', 1, 64)
	case f >= 0.1:
		return strconv.FormatFloat(f, 'f', 2, 64)
	case f >= 0.0005:
		return strconv.FormatFloat(f, 'f', 3, 64)
	}
	return "<" + thin + "0.001"
}

// Rate writes a number per time within a sentence: whole from 100 on, else one digit. The unit is the caller's.
func Rate(f float64) string {
	if f >= 100 {
		return Count(int64(f + 0.5))
	}
	return strconv.FormatFloat(f, 'f', 1, 64)
}
