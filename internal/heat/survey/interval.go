package survey

import "math"

const (
	outside     = 0.05 // of 1: how often the truth may be outside an interval
	finest      = 0.01
	usual       = 0.02
	coarsest    = 0.1
	ruleOfThree = 3 // −ln(0.05), rounded up: what was not seen once in n rows is less than 3/n of all
)

// wanted is how many rows give a share within ± precision of the collection,
// one half being the widest case; ± is 1.96 standard deviations of a Poisson
// count.
func wanted(precision float64) int64 {
	if precision == 0 {
		precision = usual
	}
	return int64(math.Ceil(1.96 * 1.96 / 2 / (precision * precision)))
}

// weighted is a sum of what drawn rows stand for.
type weighted struct {
	hits    int64
	sum     float64 // of the weights: the estimate
	squares float64 // of the weights' squares: its variance, each row being rare
}

func (w *weighted) add(hits int64, sum, squares float64) {
	w.hits += hits
	w.sum += sum
	w.squares += squares
}

// interval is where the truth is in 95 of 100 cases. Rows drawn are a Poisson
// process whose events have weights; the interval is that of Fay and Feuer
// (1997), exact when the weights are equal and too wide rather than too narrow
// when they are not. top is the largest weight that a row can have.
func (w weighted) interval(top float64) (low, high float64) {
	if w.hits == 0 {
		return 0, ruleOfThree * top
	}
	low = w.squares / (2 * w.sum) * chiSquare(outside/2, 2*w.sum*w.sum/w.squares)
	s, v := w.sum+top, w.squares+top*top
	return low, v / (2 * s) * chiSquare(1-outside/2, 2*s*s/v)
}

// estimate is the sum with its interval. all is the sum over every drawn row
// where the total is known, else zero: what has more than half is measured by
// what it does not have, which says more.
func (w weighted) estimate(top float64, all weighted, total int64) Estimate {
	value := w.sum
	low, high := w.interval(top)
	if total > 0 && w.sum > all.sum/2 {
		rest := weighted{hits: all.hits - w.hits, sum: max(0, all.sum-w.sum), squares: max(0, all.squares-w.squares)}
		if rest.hits == 0 {
			rest.sum, rest.squares = 0, 0
		}
		less, more := rest.interval(top)
		low, high = max(low, float64(total)-more), min(high, float64(total)-less)
		value = float64(total) - rest.sum
	}
	e := Estimate{Value: int64(math.Round(value)), Low: int64(math.Floor(low)), High: int64(math.Ceil(high))}
	if total > 0 {
		e.High = min(e.High, total)
	}
	e.Low, e.High = min(e.Low, e.Value), max(e.High, e.Value)
	return e
}
