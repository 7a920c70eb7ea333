package outcome

import "math"

// Verdict is the result of a comparison.
type Verdict string

// The verdicts. "" is no verdict: see State.
const (
	Helped   Verdict = "helped"   // the share of the hottest is measurably smaller after the run, and would not be without it
	NoChange Verdict = "noChange" // the difference can be chance
	Worse    Verdict = "worse"    // it is measurably larger
	NotThis  Verdict = "notThis"  // it is smaller, but what the run moved does not explain it
	Unclear  Verdict = "unclear"  // it is smaller, and would be without the run too, though less
)

// The smallest difference that counts, with any number of rows: a tenth of the larger share, and
// one percentage point. Writers come and go, so the sampling error of rows is not the only
// randomness.
const (
	leastPart  = 0.1
	leastPoint = 0.01
)

// judge compares the hottest's share of n rows before with its share of m rows after. The
// difference counts when it exceeds half of its 95 % interval, 1.96·√(p(1−p)/n + q(1−q)/m) as for
// independent binomial counts, and the smallest difference that counts. With fewer than leastRows
// rows in a window there is no verdict.
func judge(p float64, n int64, q float64, m int64) (v Verdict, plusMinus float64) {
	if n < leastRows || m < leastRows {
		return "", 0
	}
	plusMinus = 1.96 * math.Sqrt(p*(1-p)/float64(n)+q*(1-q)/float64(m))
	d := math.Abs(q - p)
	switch {
	case d <= plusMinus || d < max(leastPoint, leastPart*max(p, q)):
		return NoChange, plusMinus
	case q < p:
		return Helped, plusMinus
	}
	return Worse, plusMinus
}
