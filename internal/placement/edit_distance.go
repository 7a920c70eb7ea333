package placement

// speller measures how differently two texts are spelled. It keeps its rows, so that
// comparing a text with many names allocates once.
type speller struct{ before, above, row []int }

// distance is how many letters have to be added, left out, replaced, or swapped with the
// next one to turn a into b (optimal string alignment): at most most, else most+1. It
// compares bytes, so a letter outside ASCII can count twice. Texts whose lengths differ by
// more than most cost nothing, the others most*2+1 cells a row until a row exceeds most.
func (s *speller) distance(a, b string, most int) int {
	if d := len(a) - len(b); d > most || -d > most {
		return most + 1
	}
	n := len(b) + 1
	if cap(s.row) < n {
		s.before, s.above, s.row = make([]int, n+64), make([]int, n+64), make([]int, n+64)
	}
	before, above, row := s.before[:n], s.above[:n], s.row[:n]
	for j := range above {
		above[j] = j
	}
	for i := 1; i <= len(a); i++ {
		from, to := max(1, i-most), min(len(b), i+most)
		least := most + 1
		row[from-1] = most + 1
		if from == 1 {
			row[0] = i
			least = min(least, i)
		}
		for j := from; j <= to; j++ {
			d := above[j-1]
			if a[i-1] != b[j-1] {
				d++
			}
			d = min(d, row[j-1]+1)
			if j < i+most { // the row above ends there
				d = min(d, above[j]+1)
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, before[j-2]+1)
			}
			row[j], least = d, min(least, d)
		}
		if least > most {
			return most + 1
		}
		before, above, row = above, row, before
	}
	return min(above[len(b)], most+1)
}
