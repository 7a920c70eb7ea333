package storybook

import (
	"testing"

	"shardboard/internal/fixture/expect"
	"shardboard/web/webtest"
)

// The scenes show what their names promise.
func TestIncidentScenesShowTheCardInItsStates(t *testing.T) {
	for name, want := range map[string][]string{
		"advice-incident":         {"Hot project", "Hot shard:", "Expected: ", "Open the plan"},
		"advice-incident-taken":   {"Hot project", "Taken by anna at 11:54"},
		"advice-incident-blocked": {"Hot project", "Not possible now:", "A run moves a chunk from this shard"},
		"overview-incident-taken": {"Taken by anna at 11:54"},
		"overview-incident":       {"Expected: ", "Last hour, by minute"},
		"heat-incident":           {"With it: ", "Expected: ", "Last hour, by minute"},
		"project-incident":        {"With it: ", "Expected: ", "Last hour, by minute"},
		"shard-incident":          {"With it: ", "Expected: ", "Last hour, by minute"},
	} {
		found := false
		for _, sc := range All() {
			if sc.Name != name {
				continue
			}
			found = true
			text := webtest.ParseHTML(t, sc.Open(t)).Find("main").Text()
			expect.ContainsAll(t, text, want, "%s", name)
		}
		expect.That(t, found, "there is no scene %s", name)
	}
}
