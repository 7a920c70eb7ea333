package templates

import (
	"strings"
)

// legendMax is how many shards the navigation lists; the overview has all.
const legendMax = 12

func legend(all []ShardRef) []ShardRef { return all[:min(len(all), legendMax)] }

// topics is the value of the live socket's t parameter: a topic's own commas,
// at signs and percent signs are escaped, because they separate.
func topics(list []string) string {
	safe := strings.NewReplacer("%", "%25", ",", "%2C", "@", "%40")
	out := make([]string, len(list))
	for i, t := range list {
		out[i] = safe.Replace(t)
	}
	return strings.Join(out, ",")
}

// current is the value of aria-current for a navigation entry.
func Current(is bool) string {
	if is {
		return "page"
	}
	return "false"
}

// keyRow is one line of the keyboard help.
type keyRow struct {
	keys  []string
	words string
}

// keyList is what static/js/keys.js listens to, in the order of the help.
func keyList() []keyRow {
	return []keyRow{
		{[]string{"/"}, "To the locate box"},
		{[]string{"g", "o"}, "Overview"},
		{[]string{"g", "l"}, "Locate"},
		{[]string{"g", "p"}, "Projects"},
		{[]string{"g", "c"}, "Collections"},
		{[]string{"g", "z"}, "Zones"},
		{[]string{"g", "h"}, "Heat"},
		{[]string{"g", "a"}, "Activity"},
		{[]string{"j", "k"}, "Next, previous row"},
		{[]string{"[", "]"}, "Previous, next page"},
		{[]string{",", ".", "n"}, "change before, after; now"},
		{[]string{"y"}, "Copy the id or bound of the row"},
		{[]string{"t"}, "Light or dark"},
		{[]string{"?"}, "This list"},
	}
}
