package answer

// rangesShown is how many changes of one collection a page lists.
const RangesShown = 200

func Delta(n int64, write func(int64) string) string {
	switch {
	case n > 0:
		return "+" + write(n)
	case n < 0:
		return write(n)
	}
	return "0"
}
