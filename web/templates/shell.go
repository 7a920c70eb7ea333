package templates

import "strings"

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
func current(is bool) string {
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
		{[]string{"/"}, t("keys.find")},
		{[]string{"g", "o"}, t("nav.overview")},
		{[]string{"g", "l"}, t("nav.locate")},
		{[]string{"g", "p"}, t("nav.projects")},
		{[]string{"g", "c"}, t("nav.collections")},
		{[]string{"g", "z"}, t("nav.zones")},
		{[]string{"g", "h"}, t("nav.heat")},
		{[]string{"g", "a"}, t("nav.activity")},
		{[]string{"j", "k"}, t("keys.rows")},
		{[]string{"[", "]"}, t("keys.pages")},
		{[]string{",", ".", "n"}, t("keys.time")},
		{[]string{"y"}, t("keys.copy")},
		{[]string{"t"}, t("keys.theme")},
		{[]string{"?"}, t("keys.help")},
	}
}
