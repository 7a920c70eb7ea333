package rules

import (
	"slices"

	"shardboard/internal/topology"
)

// Rule names one rule; alerts and silences go by these names.
type Rule string

// rule is a rule with everything that the rest of the program asks of it. Its
// sentences are written where their facts are found.
type rule struct {
	id   Rule
	name string // for people, on pages and in alerts
	page Page
	find func(*evaluation)

	needs    []topology.Part // of the table: while one was never read, nothing is found, and that is listed
	ofWrites bool            // judged by what was counted of writes, minute by minute

	alone int // how many problems of a severity are listed one by one; 0: fewAlone

	playbooks  []Playbook // what to do, step by step, the most likely first
	noPlaybook string     // why there is none
}

// Page is a page that shows more of what a rule finds.
type Page string

// The pages that rules lead to. The zero value is none.
const (
	PageZones            Page = "zones"
	PageLayout           Page = "layout"
	PageHeat             Page = "heat"
	PageFailedMigrations Page = "failed moves"
	PageRuns             Page = "runs"
	PageMetadata         Page = "metadata check"
)

// Rules are the names of all rules in the order in which they are evaluated.
func Rules() []Rule {
	out := make([]Rule, len(all))
	for i, r := range all {
		out[i] = r.id
	}
	return out
}

// Name is the rule's name for people. A rule of another release, as an old alert
// may have, is shown by its id.
func (r Rule) Name() string {
	if d, ok := r.definition(); ok {
		return d.name
	}
	return string(r)
}

// Page is the page that shows more of what the rule finds; "" if there is none.
func (r Rule) Page() Page {
	d, _ := r.definition()
	return d.page
}

// OfWrites tells whether the rule judges what was counted of writes.
func (r Rule) OfWrites() bool {
	d, _ := r.definition()
	return d.ofWrites
}

func (r Rule) definition() (rule, bool) {
	i := slices.IndexFunc(all, func(d rule) bool { return d.id == r })
	if i < 0 {
		return rule{}, false
	}
	return all[i], true
}
