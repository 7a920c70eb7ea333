package placement

import (
	"cmp"
	"slices"
	"strings"
)

// Nearness is how the names of projects are near to a text that is none of them.
type Nearness string

// From the nearest on; only names of the nearest kind that there is are listed.
const (
	NearCase      Nearness = "case"      // the same letters, other upper or lower case
	NearBeginning Nearness = "beginning" // the name begins with the text, in any case
	NearSpelling  Nearness = "spelling"  // a few letters differ
)

// Near is what a text that is no project's name may have meant.
type Near struct {
	Typed    string
	How      Nearness
	Projects []Project
	More     int // beyond the projects
}

// Only is the project that the text stands for when there is no doubt which one: a single one
// has this name in another case, or begins with it. A spelling alone is a guess.
func (n Near) Only() (Project, bool) {
	if len(n.Projects) == 1 && n.More == 0 && n.How != NearSpelling {
		return n.Projects[0], true
	}
	return Project{}, false
}

// nearListed is how many near names are listed.
const nearListed = 8

// Near lists at most nearListed projects with names near to typed, the nearest first, then by name. It
// reads names only, in memory: a text that may be a part of a secret key matches no key.
func (d *Directory) Near(typed string) Near {
	whole := strings.ToLower(typed)
	if whole == "" {
		return Near{}
	}
	var same, begin []int
	for i, name := range d.folded {
		switch {
		case name == whole:
			same = append(same, i)
		case strings.HasPrefix(name, whole):
			begin = append(begin, i)
		}
	}
	switch {
	case len(same) > 0:
		return d.near(typed, NearCase, same)
	case len(begin) > 0:
		return d.near(typed, NearBeginning, begin)
	}
	if ids := d.idsBeginning(whole); len(ids) > 0 {
		return d.near(typed, NearBeginning, ids)
	}
	return d.near(typed, NearSpelling, d.spelledLike(whole))
}

// idsBeginning are the projects whose id begins with half an id that was copied. Ids are no secrets, as keys are.
func (d *Directory) idsBeginning(hex string) (hits []int) {
	if len(hex) < halfID || strings.Trim(hex, "0123456789abcdef") != "" {
		return nil
	}
	for i, p := range d.projects {
		if strings.HasPrefix(p.ID.Hex(), hex) {
			hits = append(hits, i)
		}
	}
	return hits
}

// halfID is how many digits of an id have to be given: those of its time.
const halfID = 8

func (d *Directory) near(typed string, how Nearness, hits []int) Near {
	out := Near{Typed: typed, How: how, More: max(len(hits)-nearListed, 0)}
	for _, i := range hits[:min(len(hits), nearListed)] {
		out.Projects = append(out.Projects, d.projects[i])
	}
	return out
}

// spelledLike lists the names in which at most two letters differ, one in a short text.
func (d *Directory) spelledLike(whole string) []int {
	most := 2
	switch n := len(whole); {
	case n < 3:
		return nil
	case n < 5:
		most = 1
	}
	type hit struct{ distance, i int }
	var hits []hit
	var s speller
	for i, name := range d.folded {
		if n := s.distance(whole, name, most); n <= most {
			hits = append(hits, hit{n, i})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(a.distance, b.distance) })
	out := make([]int, len(hits))
	for i, h := range hits {
		out[i] = h.i
	}
	return out
}
