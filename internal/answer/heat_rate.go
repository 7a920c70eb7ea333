package answer

import (
	"math"
	"strconv"

	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/heat"
)

// HeatRateText is the rate of a line with its uncertainty.
func HeatRateText(l api.Heat) string {
	r := heat.Rate{PerSecond: l.WritesPerSecond, AtLeast: l.AtLeast}
	if l.PlusMinus != nil {
		r.PlusMinus = *l.PlusMinus
	}
	return RateText(r)
}

// RateText is a rate with its uncertainty.
func RateText(r heat.Rate) string {
	text := PerSecond(r.PerSecond)
	if r.AtLeast {
		return "≥\u202f" + text
	}
	if r.PlusMinus > 0 {
		return text + "\u202f±\u202f" + PerSecond(r.PlusMinus)
	}
	return text
}

// PerSecond writes a small number with about three digits: 1 234, 12.3, 0.042.
func PerSecond(f float64) string {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0) || f < 0:
		return format.Unknown
	case f >= 100 || f == 0:
		return format.Count(int64(math.Round(f)))
	case f >= 10:
		return strconv.FormatFloat(f, 'f', 1, 64)
	case f >= 0.1:
		return strconv.FormatFloat(f, 'f', 2, 64)
	case f >= 0.0005:
		return strconv.FormatFloat(f, 'f', 3, 64)
	}
	return "<\u202f0.001"
}
