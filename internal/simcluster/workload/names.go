package workload

import (
	"fmt"
	"hash/fnv"
)

// What people call their projects: a team or product, what it is for, and sometimes the environment.
// Yorkie takes 2 to 30 characters of a-z, 0-9 and - . _ ~.
var (
	teams = []string{"atlas", "birchwood", "comet", "delta-labs", "ember", "fjord", "grove", "harbor", "iris", "juniper",
		"kite", "lumen", "maple", "nova", "orbit", "pixel", "quartz", "riverside", "sable", "tundra"}
	purposes     = []string{"board", "docs", "editor", "forms", "maps", "notes", "pad", "plans", "sheets", "slides", "tasks", "wiki"}
	environments = []string{"", "", "-staging", "", "_dev", "", ".eu", "", "-production", "-v2", ""}
)

const longestName = 30 // of a project

// projectName is the name of the i-th project; no two have the same.
func projectName(i int) string {
	n := len(teams)
	base := teams[i%n] + "-" + purposes[(i/n+i%n)%len(purposes)]
	if round := i / (n * len(purposes)); round > 0 {
		return fmt.Sprintf("%s-%d", base, round+1)
	}
	name := base + environments[i%len(environments)]
	if long := base + "-customer-success"; i%7 == 5 && len(long) <= longestName {
		return long
	}
	return name
}

// Forms of document keys: the project and i, or a text that the application chose. Each has the number,
// so no two documents of a project have the same key.
var (
	keyForms = []string{
		"%[1]s-%05[2]d", "meeting-notes-%05[2]d", "page.en.%05[2]d", "%016[3]x-%[2]d", "board~sprint_%[2]d", "%[1]s-%05[2]d",
	}
	// Yorkie did not check keys before 2023, and its admin API does not do it today.
	freeForms = []string{
		"Team/Design review %[2]d", "회의록/2022-%[2]d", "設計メモ %[2]d", "Протокол встречи №%[2]d", "Réunion d’équipe %[2]d",
		"workspaces/%[1]s/pages/%016[3]x/blocks/%[2]d",
	}
)

// freeOneIn is how many documents there are to one with a free key.
const freeOneIn = 12

// documentKey is the key of a project's i-th document. One that is written now has a key that a client
// may attach to.
func documentKey(p *project, i int, now bool) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(p.name))
	form := keyForms[h.Sum64()%uint64(len(keyForms))] // a project has one application
	_, _ = fmt.Fprint(h, i)
	sum := h.Sum64()
	if !now && sum%freeOneIn == 0 {
		form = freeForms[sum/freeOneIn%uint64(len(freeForms))]
	}
	return fmt.Sprintf(form, p.name, i, sum)
}
