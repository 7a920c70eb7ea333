package holdings

import (
	"math"

	"shardboard/internal/heat/survey"
)

// combine adds independent estimates. The distances to the bounds of their intervals are added as
// squares (MOVER, Zou and Donner 2008), because the estimates do not all err in one direction.
func combine(of []survey.Estimate) survey.Estimate {
	out := survey.Estimate{Exact: true}
	var low, high float64
	for _, e := range of {
		out.Value += e.Value
		out.Exact = out.Exact && e.Exact
		out.AtLeast = out.AtLeast || e.AtLeast
		below, above := float64(e.Value-e.Low), float64(e.High-e.Value)
		low += below * below
		high += above * above
	}
	out.Low = max(0, out.Value-int64(math.Ceil(math.Sqrt(low))))
	out.High = out.Value + int64(math.Ceil(math.Sqrt(high)))
	return out
}

// combineWeights adds the rows and the bytes of several collections or shards.
func combineWeights(of []survey.Weight) survey.Weight {
	rows, bytes := make([]survey.Estimate, len(of)), make([]survey.Estimate, len(of))
	for i, w := range of {
		rows[i], bytes[i] = w.Rows, w.Bytes
	}
	return survey.Weight{Rows: combine(rows), Bytes: combine(bytes)}
}
