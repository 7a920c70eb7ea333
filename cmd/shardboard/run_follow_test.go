package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"shardboard/internal/api"
)

func TestAFollowedRunIsPrintedInOrder(t *testing.T) {
	var out bytes.Buffer
	f := follower{env: &env{stdout: &out}}
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	run := api.Run{ID: "r1", Plan: "p1", Summary: api.Plain("Move it."), State: "planned", Open: true, StartedAt: &at,
		Steps: []api.RunStep{{Op: "move", State: "planned"}}}
	f.progress(run)
	run.State, run.Steps[0].State = "running", "running"
	f.progress(run)
	run.State, run.Steps[0].State, run.Open, run.EndedAt = "succeeded", "succeeded", false, &at
	run.Steps[0].Events = []api.StepEvent{
		{What: "moveChunk.commit", From: "a", To: "b", At: &at, Counts: map[string]int64{"clonedBytes": 700, "cloned": 7}},
	}
	f.progress(run)
	text := out.String()
	if strings.Contains(text, "not yet") || strings.Contains(text, "Not started yet") || strings.Contains(text, "not begun") {
		t.Errorf("the output repeats states that are over:\n%s", text)
	}
	rest := text
	for _, part := range []string{"run r1\n", "Move it.", "started 2026", "1  running", "run r1: Running", "1  proven",
		"logged 2026", "Moved a chunk, a → b. The server counted: cloned 7, clonedBytes 700", "run r1: Done and proven", "ended 2026"} {
		_, after, found := strings.Cut(rest, part)
		if !found {
			t.Fatalf("%q is missing, or in the wrong place:\n%s", part, text)
		}
		rest = after
	}
}
