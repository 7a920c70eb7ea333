package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/only"
	"shardboard/internal/fixture/refused"
)

// splitsOfChanges are items that split yorkie-meta.changes at hashes, as --plans takes them.
func splitsOfChanges(t *testing.T, at ...string) string {
	t.Helper()
	var items []string
	for _, hash := range at {
		items = append(items, fmt.Sprintf(`{"kind":"split","args":{"ns":"yorkie-meta.changes","at":{"doc_id":{"$numberLong":%q}}}}`, hash))
	}
	return "[" + strings.Join(items, ",") + "]"
}

func TestABatchIsPlannedRunAndUndoneOnTheCommandLine(t *testing.T) {
	only.Long(t, "starts a server")
	server := startServer(t)
	moveToNowhere := `{"kind":"move","args":{"ns":"yorkie-meta.changes","bounds":[{"doc_id":{"$numberLong":"1"}},{"doc_id":{"$numberLong":"2"}}],` +
		`"to":"shard-rs-1"}}`
	plans := strings.Replace(splitsOfChanges(t, "1", "2", "3"), "[", "["+moveToNowhere+",", 1)
	batch := []string{"plan", "batch", "--plans", plans, "--reason", "hot"}
	if code, _, errs := shardboard(t, append(batch, "--server", server)...); code == 0 || !strings.Contains(errs, "Item 1") {
		t.Errorf("planned with an item that cannot be: exit %d, %s", code, errs)
	}
	batch = append(batch, "--leaveOutBlocked")
	code, out, errs := shardboard(t, append(batch, "--server", server)...)
	if code != 0 || !strings.Contains(out, "Item 1 of the request is left out") || !strings.Contains(out, "3 changes as one batch: split.") {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
	p := runForJSON[api.Plan](t, server, batch...)
	args := []string{"run", p.ID, "--hash", p.Hash, "--wait"}
	if p.Confirm != nil {
		args = append(args, "--confirm", *p.Confirm)
	}
	run := runForJSON[api.Run](t, server, args...)
	must.That(t, run.State == "succeeded" && run.Batch != nil && run.Batch.Done == 3, "%s: %+v", run.State, run.Batch)
	items := runForJSON[api.List[api.BatchItem]](t, server, "runs", "items", run.ID)
	expect.That(t, len(items.Items) == 3 && items.Items[2].State == "succeeded" && items.Items[2].Run != "", "%+v", items)
	code, out, errs = shardboard(t, "runs", "items", run.ID, "--limit", "2", "--server", server)
	expect.That(t, code == 0 && strings.Count(out, "\n") == 3 && strings.Contains(out, "Split the chunk"),
		"exit %d\n%s%s", code, out, errs)
	code, out, errs = shardboard(t, "runs", "show", run.ID, "--server", server)
	for _, part := range []string{"Batch: 3 of 3 items.", "Health after group 2 of 2: nothing wrong.",
		"Not known: secondaries, replication lag and tickets.", "shardboard runs items " + run.ID} {
		expect.That(t, code == 0 && strings.Contains(out, part), "exit %d, no %q in\n%s%s", code, part, out, errs)
	}
	undo := runForJSON[api.Plan](t, server, "runs", "undo", run.ID)
	expect.That(t, undo.Kind == "batch" && undo.UndoOf == run.ID, "%+v", undo)
	for _, tc := range []struct {
		code int
		says string
		args []string
	}{
		{4, "has ended", []string{"runs", "pause", run.ID}},
		{4, "has ended", []string{"runs", "resume", run.ID}},
		{4, "has ended", []string{"runs", "resume", run.ID, "--retry", "1"}},
		{3, "not a batch", []string{"runs", "items", items.Items[0].Run}},
		{4, "has ended", []string{"runs", "pause", items.Items[0].Run}},
	} {
		says(t, tc.code, tc.says, append(tc.args, "--server", server)...)
	}
}

func TestABatchIsPausedAndResumedOnTheCommandLine(t *testing.T) {
	only.Long(t, "starts a server")
	server := startServer(t)
	chunks := getJSON[api.List[struct {
		Ref   string `json:"ref"`
		Shard string `json:"shard"`
	}]](t, server, "get", "chunks", "yorkie-meta.changes")
	var items []map[string]any
	for _, c := range chunks.Items {
		to := "shard-rs-1"
		if c.Shard == to {
			to = "shard-rs-2"
		}
		if len(items) < 2 {
			items = append(items, map[string]any{"kind": "move", "args": map[string]any{"ns": "yorkie-meta.changes", "chunk": c.Ref, "to": to}})
		}
	}
	plans := must.Get(json.Marshal(items))
	p := runForJSON[api.Plan](t, server, "plan", "batch", "--plans", string(plans), "--chunksPerHour", "1", "--reason", "hot")
	args := []string{"run", p.ID, "--hash", p.Hash}
	if p.Confirm != nil {
		args = append(args, "--confirm", *p.Confirm)
	}
	run := runForJSON[api.Run](t, server, args...)
	for deadline := time.Now().Add(30 * time.Second); run.Batch.Waits == ""; time.Sleep(50 * time.Millisecond) {
		run = runForJSON[api.Run](t, server, "runs", "show", run.ID)
		must.That(t, !time.Now().After(deadline), "%s: %+v", run.State, run.Batch)
	}
	code, out, errs := shardboard(t, "runs", "pause", run.ID, "--server", server)
	for _, part := range []string{"Batch: 1 of 2 items, paused.", "Paused by", "Go on: shardboard runs resume " + run.ID} {
		expect.That(t, code == 0 && strings.Contains(out, part), "exit %d, no %q in\n%s%s", code, part, out, errs)
	}
	code, _, errs = shardboard(t, "runs", "resume", run.ID, "--skip", "2", "--server", server)
	expect.That(t, code == 4 && strings.Contains(errs, "Item 2 does not wait"), "exit %d, %s", code, errs)
	code, out, errs = shardboard(t, "runs", "resume", run.ID, "--server", server)
	expect.That(t, code == 0 && strings.Contains(out, "Batch: 1 of 2 items, about") && !strings.Contains(out, "Go on"),
		"exit %d\n%s%s", code, out, errs)
	run = runForJSON[api.Run](t, server, "runs", "stop", run.ID)
	expect.That(t, run.StopBy != "", "%+v", run)
}

func TestABatchThatWaitsIsPrintedWithWhatToDo(t *testing.T) {
	var out strings.Builder
	printRun(&out, api.Run{ID: "r", Open: true, State: "waiting", Batch: &api.RunBatch{Items: 3, Groups: 2, Paused: true,
		Progress: "Batch: 1 of 3 items, paused: a failed item waits for a decision", Why: "Paused: item 2 has failed.",
		Problems: []api.BatchTrial{{Item: 2, Tries: 2, State: "waits", Why: "no"}},
		Health:   []api.BatchGate{{Group: 1, Findings: []string{"A shard did not answer."}, Unknown: []string{"Not known: latencies."}}},
		Rows:     api.BatchRows{Text: "1 count of rows before and after: 1 the same."}}})
	expect.ContainsAll(t, out.String(), []string{"paused: a failed item waits for a decision.", "item 2  waits (tries: 2)  no",
		"Health after group 1 of 2: A shard did not answer. Not known: latencies.", "1 the same.",
		"Go on: shardboard runs resume r. An item that waits: --retry ITEM or --skip ITEM."}, "the text")
}

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
	expect.LacksAll(t, text, []string{"not yet", "Not started yet", "not begun"}, "the output repeats states that are over")
	rest := text
	for _, part := range []string{"run r1\n", "Move it.", "started 2026", "1  running", "run r1: Running", "1  proven",
		"logged 2026", "Moved a chunk, a → b. The server counted: cloned 7, clonedBytes 700", "run r1: Done and proven", "ended 2026"} {
		_, after, found := strings.Cut(rest, part)
		must.That(t, found, "%q is missing, or in the wrong place:\n%s", part, text)
		rest = after
	}
}

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
		"no effect": {nil, "run r", "Did it help"},
	} {
		var out strings.Builder
		printRun(&out, api.Run{ID: "r", Outcome: x.is})
		text := out.String()
		expect.That(t, strings.Contains(text, x.has) && !strings.Contains(text, x.lacks), "%s: unexpected text: %q", name, text)
	}
}

func TestAPlanIsShownBeforeItIsApprovedAndOnlyYesApproves(t *testing.T) {
	p := api.Plan{ID: "plan", Hash: "hash", Summary: api.Plain("Move a chunk."), Approval: api.PlanApproval{Needed: true, State: "asked",
		Because: []api.Sentence{api.Plain("It moves up to 12\u2009GB.\x1b[31m")}}}
	for text, kind := range map[string]fault.Kind{"yes": 0, "y": fault.Conflict, "": fault.Conflict, "YES": fault.Conflict} {
		var out strings.Builder
		err := askToApprove(&env{ctx: context.Background(), stderr: &out}, p, func() (string, error) { return text, nil })
		expect.That(t, (err == nil) == (text == "yes") && (err == nil || fault.Of(err) == kind), "%q: %v", text, err)
		expect.ContainsAll(t, out.String(), []string{"Move a chunk.", "Waits for the approval", "It moves up to 12 GB",
			"shardboard approve plan --hash hash"}, "the text")
		expect.Lacks(t, out.String(), "\x1b", "the text")
	}
	refused.As(t, askToApprove(&env{ctx: context.Background()}, p, nil), fault.Invalid, "without a terminal")
}
