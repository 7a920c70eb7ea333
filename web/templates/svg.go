package templates

import (
	"math"
	"strconv"
	"strings"
)

// Percent is a fraction as an SVG length.
func Percent(f float64) string {
	if math.IsNaN(f) || f < 0 {
		f = 0
	}
	return Trim(min(f, 1)*100) + "%"
}

// Units is a fraction of an SVG of the given width, without needless digits.
func Units(f, width float64) string { return Trim(f * width) }

// Trim writes a number with at most two digits after the point.
func Trim(v float64) string {
	s := strconv.FormatFloat(v, 'f', 2, 64)
	s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	if s == "" || s == "-0" {
		return "0"
	}
	return s
}
