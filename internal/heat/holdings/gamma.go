package holdings

import "math"

// lowerGamma is the regularized lower incomplete gamma function P(a, x), by its
// series or its continued fraction (Abramowitz and Stegun, 6.5.29 and 6.5.31).
func lowerGamma(a, x float64) float64 {
	if x <= 0 {
		return 0
	}
	log, _ := math.Lgamma(a)
	front := math.Exp(a*math.Log(x) - x - log)
	if x < a+1 {
		sum, term := 1/a, 1/a
		for n := 1.0; n < 10_000; n++ {
			term *= x / (a + n)
			sum += term
			if term < sum*1e-14 {
				break
			}
		}
		return front * sum
	}
	const tiny = 1e-300
	b := x + 1 - a
	c, d := 1/tiny, 1/b
	h := d
	for n := 1.0; n < 10_000; n++ {
		an := -n * (n - a)
		b += 2
		d = an*d + b
		if math.Abs(d) < tiny {
			d = tiny
		}
		c = b + an/c
		if math.Abs(c) < tiny {
			c = tiny
		}
		d = 1 / d
		step := d * c
		h *= step
		if math.Abs(step-1) < 1e-14 {
			break
		}
	}
	return 1 - front*h
}

// chiSquare is the quantile p of the chi-square distribution with the given degrees of freedom. For
// many degrees its cube root is nearly normal (Wilson and Hilferty 1931); otherwise Newton's method
// between bounds inverts the distribution.
func chiSquare(p, freedom float64) float64 {
	if freedom <= 0 {
		return 0
	}
	z := math.Sqrt2 * math.Erfinv(2*p-1)
	k := 2 / (9 * freedom)
	start := freedom * math.Pow(max(1-k+z*math.Sqrt(k), 1e-3), 3)
	if freedom > 1000 {
		return start
	}
	a, x := freedom/2, start/2
	low, high := 0.0, freedom+20*math.Sqrt(freedom)+60
	log, _ := math.Lgamma(a)
	for range 60 {
		off := lowerGamma(a, x) - p
		if math.Abs(off) < 1e-10 {
			break
		}
		if off > 0 {
			high = x
		} else {
			low = x
		}
		next := x - off/math.Exp((a-1)*math.Log(x)-x-log)
		if !(next > low && next < high) {
			next = (low + high) / 2
		}
		x = next
	}
	return 2 * x
}
