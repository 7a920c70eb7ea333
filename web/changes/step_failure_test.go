package changes_test

import (
	"slices"
	"strings"
	"testing"

	"shardboard/internal/actions/engine"
	"shardboard/internal/actions/operation"
	"shardboard/internal/answer/changing"
	"shardboard/internal/fixture/must"
	"shardboard/web/changes"
	"shardboard/web/webtest"
)

// failureOf is what a run's page shows of a failed step.
func failureOf(t *testing.T, s engine.Step) string {
	t.Helper()
	var b strings.Builder
	step := changing.RunOf(webtest.NewStory().View(), engine.Run{Steps: []engine.Step{s}}).Steps[0]
	must.Do(t, changes.StepFailure(step).Render(t.Context(), &b))
	return webtest.ParseHTML(t, b.String()).Text()
}

func TestAStepSaysWhyItsMoveFailed(t *testing.T) {
	table := webtest.CannedTable(1, 250)
	events := webtest.FailedAttempt(t, table, 3, webtest.Epoch, "")
	slices.Reverse(events)
	s := engine.Step{Step: operation.Step{Op: operation.OpMove, NS: webtest.DocumentsNS, Shard: "shard-rs-2"}, Events: events,
		Error: `The cluster refused to move a chunk: "Data transfer error: migrate failed: Location51008: operation was interrupted".`}
	if got := changing.StepEvents(s); got[1].ReasonCode != "copyStopped" || got[1].ReasonFrom != "run" || got[0].ReasonCode != "" ||
		!got[1].Failed {
		t.Errorf("%+v", got)
	}
	if text := failureOf(t, s); !strings.Contains(text, "Location51008") || !strings.Contains(text, "same _id") {
		t.Error(text)
	}
	s.State = engine.Unknown
	if text := failureOf(t, s); strings.Contains(text, "try again") || !strings.Contains(text, "Location51008") {
		t.Errorf("something is to be tried while the outcome is unknown: %s", text)
	}
	split := engine.Step{
		Step:  operation.Step{Op: operation.OpSplitAt, NS: webtest.DocumentsNS},
		Error: `The cluster refused to split: "operation exceeded time limit".`,
	}
	if row := changing.RunOf(webtest.NewStory().View(), engine.Run{Steps: []engine.Step{split}}).Steps[0]; row.Means != "" {
		t.Errorf("words of a move for a split: %q", row.Means)
	}
}
