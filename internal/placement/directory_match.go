package placement

import (
	"cmp"
	"slices"
	"strings"
)

// Matches are projects that match a search, best first.
type Matches struct {
	Items []Project
	More  int // matches beyond the items
}

// Match lists up to most projects whose name contains each word, or whose id or public key
// begins with the only word. Words are in lower case; the case of names does not matter.
// Names that are the words come first, then those that begin with them, then the rest, each
// by name. It reads every name once, in memory.
func (d *Directory) Match(words []string, most int) Matches {
	if len(words) == 0 {
		return Matches{}
	}
	type hit struct{ rank, i int }
	var hits []hit
	whole := strings.Join(words, " ")
	for i, name := range d.folded {
		switch {
		case name == whole:
			hits = append(hits, hit{0, i})
		case strings.HasPrefix(name, whole):
			hits = append(hits, hit{1, i})
		case len(words) == 1 && d.refBegins(i, whole):
			hits = append(hits, hit{1, i})
		case containsAll(name, words):
			hits = append(hits, hit{2, i})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(a.rank, b.rank) })
	out := Matches{More: max(len(hits)-most, 0)}
	for _, h := range hits[:min(len(hits), most)] {
		out.Items = append(out.Items, d.projects[h.i])
	}
	return out
}

// leastOfID is how many characters of an id or a key have to be given to find it.
const leastOfID = 4

func (d *Directory) refBegins(i int, word string) bool {
	if len(word) < leastOfID {
		return false
	}
	p := d.projects[i]
	key := p.PublicKey
	return len(key) >= len(word) && strings.EqualFold(key[:len(word)], word) || strings.HasPrefix(p.ID.Hex(), word)
}

func containsAll(name string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(name, w) {
			return false
		}
	}
	return true
}
