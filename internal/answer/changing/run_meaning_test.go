package changing_test

import (
	"strings"
	"testing"

	"shardboard/internal/actions/engine"
	"shardboard/internal/answer/changing"
	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
)

func TestTheLeadOfARunAgreesWithItsSteps(t *testing.T) {
	running := api.Run{State: string(engine.Running), Open: true, Steps: []api.RunStep{{State: string(engine.Succeeded), Try: 1},
		{State: string(engine.Deferred), Try: 1}, {State: string(engine.Running), Try: 2},
		{State: string(engine.Planned), Try: 1}}}
	if text := changing.RunStepsText(running); text != "Step 2 of 3" || strings.Contains(changing.RunMeaningText(running), "Step") {
		t.Errorf("%s: %s", text, changing.RunMeaningText(running))
	}
	ended := api.Run{Steps: []api.RunStep{{State: string(engine.Succeeded)}, {State: string(engine.Deferred)},
		{State: string(engine.Planned)}}}
	if text := changing.RunStepsText(ended); text != "1 of 2 steps proven" {
		t.Error(text)
	}
	running.StopBy = "user:bert"
	expect.Lacks(t, changing.RunMeaningText(running), "sent", "more is sent after a stop")
}
