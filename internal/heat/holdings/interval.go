package holdings

import (
	"math"

	"shardboard/internal/heat/survey"
)

const (
	missProbability = 0.05 // probability that the truth is outside an interval
	ruleOfThree     = 3    // −ln(0.05), rounded up: something not seen in n rows is less than 3/n of all
)

// weightedSum is a sum of sampled rows with weights.
type weightedSum struct {
	hits    int64
	sum     float64 // sum of the weights: the estimate
	squares float64 // sum of the squared weights: the estimate's variance, each row being rare
}

// add adds sampled rows: their number, the sum of their weights and of the squares of these.
func (w *weightedSum) add(hits int64, sum, squares float64) {
	w.hits += hits
	w.sum += sum
	w.squares += squares
}

// interval contains the truth in 95 of 100 cases. Sampled rows are a Poisson process with weighted
// events; the interval is that of Fay and Feuer (1997), exact for equal weights and otherwise
// rather too wide. top is the largest possible weight of a row.
func (w weightedSum) interval(top float64) (low, high float64) {
	if w.hits == 0 {
		return 0, ruleOfThree * top
	}
	low = w.squares / (2 * w.sum) * chiSquare(missProbability/2, 2*w.sum*w.sum/w.squares)
	s, v := w.sum+top, w.squares+top*top
	return low, v / (2 * s) * chiSquare(1-missProbability/2, 2*s*s/v)
}

// estimate is the sum with its interval. all is the sum over every sampled row if the total is
// known, else zero: something with more than half of all is measured by its complement, which is
// more precise.
func (w weightedSum) estimate(top float64, all weightedSum, total int64) survey.Estimate {
	value := w.sum
	low, high := w.interval(top)
	if total > 0 && w.sum > all.sum/2 {
		rest := weightedSum{hits: all.hits - w.hits, sum: max(0, all.sum-w.sum), squares: max(0, all.squares-w.squares)}
		if rest.hits == 0 {
			rest.sum, rest.squares = 0, 0
		}
		less, more := rest.interval(top)
		low, high = max(low, float64(total)-more), min(high, float64(total)-less)
		value = float64(total) - rest.sum
	}
	e := survey.Estimate{Value: int64(math.Round(value)), Low: int64(math.Floor(low)), High: int64(math.Ceil(high))}
	if total > 0 {
		e.High = min(e.High, total)
	}
	e.Low, e.High = min(e.Low, e.Value), max(e.High, e.Value)
	return e
}
