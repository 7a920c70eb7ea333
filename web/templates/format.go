package templates

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"shardboard/internal/format"
)

// Ago writes how long before now something was; the zero time is "never".
func Ago(at, now time.Time) Moment {
	if at.IsZero() {
		return Moment{Text: "never"}
	}
	return Moment{At: at, Text: format.Ago(now.Sub(at))}
}

// Cut makes a bound of a text: short for the eye, full for the clipboard.
func Cut(s string, n int) Key { return Key{Short: format.Middle(s, n), Full: s} }

// Percent is a fraction as an SVG length.
func Percent(f float64) string {
	if math.IsNaN(f) || f < 0 {
		f = 0
	}
	return Trim(min(f, 1)*100) + "%"
}

// Units is a fraction of an SVG of the given width, without needless digits.
func Units(f, width float64) string { return Trim(f * width) }

func Trim(v float64) string {
	s := strconv.FormatFloat(v, 'f', 2, 64)
	s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	if s == "" || s == "-0" {
		return "0"
	}
	return s
}

// shardClass is the colour class of a shard.
func ShardClass(color int) string {
	if color < 1 || color > 12 {
		return "s0"
	}
	return fmt.Sprintf("s%d", color)
}
