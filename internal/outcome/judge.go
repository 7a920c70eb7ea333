package outcome

import "math"

// Verdict is what a comparison comes to.
type Verdict string

// The verdicts. "" is none: see State.
const (
	Helped   Verdict = "helped"   // the hottest took measurably less of all writes after
	NoChange Verdict = "noChange" // no difference that is more than chance makes
	Worse    Verdict = "worse"    // it took measurably more
)

// The least difference that counts, however many rows there are: a tenth of the
// greater share, and one percentage point. Writers come and go, and chance in the
// rows is not the only chance there is.
const (
	leastPart  = 0.1
	leastPoint = 0.01
)

// judge compares the share that the hottest had of n rows before with that of m
// rows after. The difference counts when it is more than half of its 95 % interval,
// 1.96·√(p(1−p)/n + q(1−q)/m) as for independent binomial counts, and at least the
// least difference. With fewer than leastRows rows in a window there is no verdict.
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
