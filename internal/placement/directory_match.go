package placement

import "strings"

// Matches are projects that match a search, best first.
type Matches struct {
	Items []Project
	More  int // matches beyond the items
}

// Search lists the projects that a text may mean, ranked like Match. A text without words lists all.
func (d *Directory) Search(text string) []Project {
	words := strings.Fields(strings.ToLower(text))
	if len(words) == 0 {
		return d.projects
	}
	return d.Match(words, len(d.projects)).Items
}

// Match lists up to most projects whose name contains each word, or whose id or public key begins with the only
// word. Words are in lower case; the case of names does not matter. What the words name in full comes first, then
// what begins with them, then the rest, each by name. It reads every name once, in memory.
func (d *Directory) Match(words []string, most int) Matches {
	if len(words) == 0 {
		return Matches{}
	}
	whole := strings.Join(words, " ")
	var ranks [matchRanks][]int
	for i := range d.projects {
		if rank := d.rank(i, whole, words); rank < matchRanks {
			ranks[rank] = append(ranks[rank], i)
		}
	}
	var out Matches
	for _, hits := range ranks {
		room := min(len(hits), most-len(out.Items))
		for _, i := range hits[:room] {
			out.Items = append(out.Items, d.projects[i])
		}
		out.More += len(hits) - room
	}
	return out
}

// How well words match a project, best first; matchRanks is no match.
const (
	matchWhole = iota
	matchBeginning
	matchParts
	matchRanks
)

func (d *Directory) rank(i int, whole string, words []string) int {
	name, ref, is := d.folded[i], false, false
	if len(words) == 1 {
		ref, is = d.refBegins(i, whole)
	}
	switch {
	case name == whole || is:
		return matchWhole
	case strings.HasPrefix(name, whole) || ref:
		return matchBeginning
	case containsAll(name, words):
		return matchParts
	}
	return matchRanks
}

// leastOfID is how many characters of an id or a key have to be given to find it.
const leastOfID = 4

// refBegins tells whether a project's id or public key begins with a word, and whether it is the word.
func (d *Directory) refBegins(i int, word string) (begins, is bool) {
	if len(word) < leastOfID {
		return false, false
	}
	for _, ref := range []string{d.projects[i].PublicKey, d.projects[i].ID.Hex()} {
		if len(ref) >= len(word) && strings.EqualFold(ref[:len(word)], word) {
			return true, len(ref) == len(word)
		}
	}
	return false, false
}

func containsAll(name string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(name, w) {
			return false
		}
	}
	return true
}
