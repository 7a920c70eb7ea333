package changing

import (
	"slices"
	"strings"

	"shardboard/internal/actions"
	"shardboard/internal/answer"
)

// severalURL is the form of a batch that makes the same change several times, filled in with what is
// given; "" if the kind has no such form.
func severalURL(k actions.Kind, value func(string) string) string {
	list, of := actions.BatchList(k)
	if list == "" {
		return ""
	}
	pairs := []string{"each", string(k)}
	if text := value(of); text != "" {
		pairs = append(pairs, list, text)
	}
	return answer.PlanURL(actions.Batch, append(pairs, sharedPairs(actions.Batch, k, value)...)...)
}

// oneURL is the form of the change that a batch makes several times, filled in with the first item; ""
// if the batch does not say which change that is.
func oneURL(value func(string) string) (url string, kind actions.Kind) {
	kind = actions.Kind(value("each"))
	list, of := actions.BatchList(kind)
	if list == "" {
		return "", ""
	}
	separates := func(r rune) bool { return r == ',' || r == '\n' || list == "chunks" && r == ' ' }
	var pairs []string
	if first := strings.FieldsFunc(value(list), separates); len(first) > 0 {
		pairs = append(pairs, of, strings.TrimSpace(first[0]))
	}
	return answer.PlanURL(kind, append(pairs, sharedPairs(kind, actions.Batch, value)...)...), kind
}

func takes(k actions.Kind, name string) bool {
	return slices.ContainsFunc(actions.Describe(k).Arguments, func(x actions.Argument) bool { return x.Name == name })
}

// askedFor reports whether the form of a batch that makes one kind of change several times asks for an argument: for
// the list, what that kind takes, and what a batch says about itself.
func askedFor(each actions.Kind, name string) bool {
	list, of := actions.BatchList(each)
	switch {
	case list == "" || name == list || takes(each, name) && name != of:
		return true
	case name == "plans" || name == "projects" || name == "chunks":
		return false
	}
	return !slices.ContainsFunc(actions.Descriptions(), func(d actions.Description) bool {
		other, _ := actions.BatchList(d.Kind)
		return other != "" && takes(d.Kind, name)
	})
}

// sharedPairs are the given arguments that two kinds share. What a batch says about itself is none.
func sharedPairs(a, b actions.Kind, value func(string) string) (pairs []string) {
	for _, x := range actions.Arguments() {
		if text := value(x.Name); text != "" && takes(a, x.Name) && takes(b, x.Name) {
			pairs = append(pairs, x.Name, text)
		}
	}
	return pairs
}
