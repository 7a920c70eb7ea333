package main

import (
	"context"
	"strings"
	"testing"

	"shardboard/internal/api"
	"shardboard/internal/fault"
)

func TestAPlanIsShownBeforeItIsApprovedAndOnlyYesApproves(t *testing.T) {
	p := api.Plan{ID: "plan", Hash: "hash", Summary: api.Plain("Move a chunk."), Approval: api.PlanApproval{Needed: true, State: "asked",
		Because: []api.Sentence{api.Plain("It moves up to 12\u2009GB.\x1b[31m")}}}
	for text, kind := range map[string]fault.Kind{"yes": 0, "y": fault.Conflict, "": fault.Conflict, "YES": fault.Conflict} {
		var out strings.Builder
		err := askToApprove(&env{ctx: context.Background(), stderr: &out}, p, func() (string, error) { return text, nil })
		if (err == nil) != (text == "yes") || err != nil && fault.Of(err) != kind {
			t.Errorf("%q: %v", text, err)
		}
		for _, want := range []string{"Move a chunk.", "Waits for the approval", "It moves up to 12 GB", "shardboard approve plan --hash hash"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("no %q in %s", want, out.String())
			}
		}
		if strings.Contains(out.String(), "\x1b") {
			t.Errorf("%q", out.String())
		}
	}
	if err := askToApprove(&env{ctx: context.Background()}, p, nil); fault.Of(err) != fault.Invalid {
		t.Errorf("without a terminal: %v", err)
	}
}
