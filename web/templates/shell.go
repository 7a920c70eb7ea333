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
		{[]string{"/"}, T("keys.find")},
		{[]string{"g", "o"}, T("nav.overview")},
		{[]string{"g", "l"}, T("nav.locate")},
		{[]string{"g", "p"}, T("nav.projects")},
		{[]string{"g", "c"}, T("nav.collections")},
		{[]string{"g", "z"}, T("nav.zones")},
		{[]string{"g", "h"}, T("nav.heat")},
		{[]string{"g", "a"}, T("nav.activity")},
		{[]string{"j", "k"}, T("keys.rows")},
		{[]string{"[", "]"}, T("keys.pages")},
		{[]string{",", ".", "n"}, T("keys.time")},
		{[]string{"y"}, T("keys.copy")},
		{[]string{"t"}, T("keys.theme")},
		{[]string{"?"}, T("keys.help")},
	}
}
