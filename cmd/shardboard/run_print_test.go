package main

import (
	"strings"
	"testing"

	"shardboard/internal/api"
)

func TestAnEndedRunIsPrintedWithItsEffect(t *testing.T) {
	for name, x := range map[string]struct {
		is         *api.RunOutcome
		has, lacks string
	}{
		"measured": {&api.RunOutcome{State: "measured", Verdict: "helped", Text: "a took 60 %.",
			Notes: []api.OutcomeNote{{Text: "a\x1b[31mnote"}}}, "Did it help? Yes. a took 60 %.", "\x1b"},
		"early":     {&api.RunOutcome{State: "tooEarly", Text: "Known at 10:45."}, "Did it help? Too early. Known at 10:45.", "Yes"},
		"running":   {&api.RunOutcome{State: "running", Text: "x"}, "run r", "Did it help"},
		"unchanged": {&api.RunOutcome{State: "unchanged", Text: "x"}, "run r", "Did it help"},
		"not told":  {nil, "run r", "Did it help"},
	} {
		var out strings.Builder
		printRun(&out, api.Run{ID: "r", Outcome: x.is})
		if text := out.String(); !strings.Contains(text, x.has) || strings.Contains(text, x.lacks) {
			t.Errorf("%s: %q", name, text)
		}
	}
}
