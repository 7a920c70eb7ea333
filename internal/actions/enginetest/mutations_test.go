package enginetest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// mutation is a planted defect: a text that occurs once in our code, and its
// replacement.
type mutation struct {
	name     string
	file     string // below internal
	old, new string
}

// mutations are defects that would let a run do harm or report something false. The
// tests of this package catch every one of them.
func mutations() []mutation {
	const (
		engine = "actions/engine/"

		concurrentChange = engine + "concurrent_change.go"
		endRun           = engine + "end_run.go"
		execute          = engine + "execute.go"
		finalGoal        = engine + "final_goal.go"
		locks            = engine + "locks.go"
		outcome          = engine + "resolve_outcome.go"
		orphans          = engine + "orphans.go"
		plan             = engine + "plan.go"
		planDifferences  = engine + "plan_differences.go"
		planHash         = engine + "plan_hash.go"
		readFacts        = engine + "read_facts.go"
		replan           = engine + "replan.go"
		restoreBalancing = engine + "restore_balancing.go"
		retry            = engine + "retry.go"
		runStep          = engine + "run_step.go"
		saveRun          = engine + "save_run.go"
		send             = engine + "send.go"
		startRun         = engine + "start_run.go"
		stop             = engine + "stop.go"
		takeOver         = engine + "recover.go"
		waitForObstacle  = engine + "wait_for_obstacle.go"
	)
	return []mutation{
		{"a difference of the preconditions is ignored", runStep, "case len(different) > 0:", "case len(different) > 1000:"},
		{"the preconditions are not read", readFacts, "return x.e.readFacts(x.ctx, s.Needs)", "return nil, nil, nil"},
		{
			"preconditions that can't be read are ignored",
			runStep,
			"	case err != nil:\n		return x.endStep(i",
			"	case err != nil && i < 0:\n		return x.endStep(i",
		},
		{
			"the intent is not written",
			runStep,
			"err := x.e.opts.Journal.AddIntent(ctx, store.IntentRecord{Run: x.id, Step: i, At: at, DB: s.Command.DB, Command: s.Command.Doc})",
			"_, _, _, err := ctx, s, store.IntentRecord{}, error(nil)",
		},
		{
			"an intent that is not on disk is ignored",
			runStep,
			"if err := x.writeIntent(i); err != nil {",
			"if err := x.writeIntent(i); err != nil && i < 0 {",
		},
		{"a command without an answer is sent again", send, "return s.Send(ctx, x.e.opts.Admin, x.id)",
			"if err := s.Send(ctx, x.e.opts.Admin, x.id); fault.Of(err) != fault.UnknownOutcome {\n\t\treturn err\n\t}\n\treturn s.Send(ctx, " +
				"x.e.opts.Admin, x.id)"},
		{"a command that was refused is sent again", send, "return s.Send(ctx, x.e.opts.Admin, x.id)",
			"if err := s.Send(ctx, x.e.opts.Admin, x.id); err == nil {\n\t\treturn err\n\t}\n\treturn s.Send(ctx, x.e.opts.Admin, x.id)"},
		{
			"no answer counts as a refusal",
			send,
			"fault.Forbidden, fault.Unavailable:",
			"fault.Forbidden, fault.Unavailable, fault.UnknownOutcome:",
		},
		{"a stop during the last look is ignored", runStep,
			"	case x.stopRequested():\n		return x.endStopped(i)", "	case false:\n		return x.endStopped(i)"},
		{
			"one shard takes part in several migrations",
			runStep,
			"if keys := shardLockKeys(s.Step); keys != nil {",
			"if keys := shardLockKeys(s.Step); keys == nil {",
		},
		{"a proof that is not there is believed after an answer", outcome,
			"	if len(missing) == 0 {", "	if len(missing) == 0 || a == acknowledged {"},
		{"silence counts as success", outcome, "	if len(missing) == 0 {", "	if len(missing) == 0 || a == noAnswer {"},
		{"a refusal counts as success", outcome, "	if len(missing) == 0 {", "	if len(missing) == 0 || a == refused {"},
		{"a proof that can't be read counts as none missing", outcome, "	if readErr != nil {", "	if readErr != nil && a == refused {"},
		{"a command at work is called failed", outcome, "if err != nil || trace.Running {", "if err != nil || trace.Running && trace.Ended {"},
		{"a refused command that goes on is called failed", outcome, "err != nil || t.Running {", "err != nil || t.Running && t.Ended {"},
		{"a race is not flagged", outcome, "		if raced {", "		if false && raced {"},
		{"one change more than ours is not seen", concurrentChange, "return changes > 1", "return changes > 2"},
		{"our own change counts as somebody else's", concurrentChange, "return changes > 1", "return changes >= 1"},
		{"an expired plan runs", startRun, "case !at.Before(p.Expires):", "case false:"},
		{"a plan runs at the moment of its expiry", startRun, "case !at.Before(p.Expires):", "case at.After(p.Expires):"},
		{"a plan runs for longer when the clock is set back", startRun, "case e.expiry.expired(spanOf(p), at) && at.Before(p.Expires):",
			"case false:"},
		{"the maker approves the plan", engine + "approve.go", "case person == p.By.Person():", "case false:"},
		{"a token is another person than its owner", "auth/principal.go", "return p.Owner\n", "return p.ID\n"},
		{"an approval counts for an edited plan", engine + "approval.go", "b.Digest != approvalDigest(p)", "b.Digest == \"\""},
		{"an approval does not end", engine + "approval.go", "case e.expiry.expired(approvalSpan(p.ID, b.At, r.Until), at):", "case false:"},
		{"the confirmation is not compared", startRun, "case r.Confirm != p.Confirm:", "case false:"},
		{"the hash of the request is not compared", startRun, "[]byte(r.Hash)) != 1:", "[]byte(r.Hash)) == 7:"},
		{"anybody runs anybody's plan", startRun, "case p.By.ID != by.ID:", "case p.By.ID == \"\":"},
		{"the plan is not compared with the cluster of now", planDifferences, "case fresh.Hash == p.Hash:", "case !fresh.Blocked():"},
		{"a check that blocks by now is ignored", planDifferences, "case fresh.Hash == p.Hash && fresh.Blocked():", "case false:"},
		{"a check that blocks hides what changed", planDifferences, "len(facts) > 0 {", "len(facts) > 1000 {"},
		{"a plan takes the table's word for jumbo flags", plan, "len(d.FlagSpans) > 0 {", "len(d.FlagSpans) > 1000 {"},
		{"a chunk that was flagged fits", "actions/step_chunk.go", "from.Want[\"jumbo\"] = strconv.FormatBool(p.Jumbo)", "_ = p.Jumbo"},
		{
			"an unknown outcome is shown when it is settled",
			outcome,
			"	if a == noAnswer {\n		x.markUnknown(i, err)",
			"	if a == refused {\n		x.markUnknown(i, err)",
		},
		{
			"a plan that has a run gets another",
			startRun,
			"if run, err := e.RunOfPlan(ctx, id); err == nil ||",
			"if run, err := e.RunOfPlan(ctx, id); err == nil && run.ID == \"\" ||",
		},
		{"requests for one plan do not wait for each other", startRun, "unlock, err := e.planLocks.lock(ctx, id)",
			"turn, _ := e.newID()\n\tunlock, err := e.planLocks.lock(ctx, turn)"},
		{"a run that was refused for the disk is forgotten", startRun, "		e.launch(t, x, x.endUnsaved)\n", ""},
		{"a run does not wait for the one before it", execute, "	if !x.waitForLocks(lock) {", "	if false && !x.waitForLocks(lock) {"},
		{"a stop between two steps is ignored", execute, "		if x.stopRequested() {", "		if false && x.stopRequested() {"},
		{
			"a step that failed is followed by the next",
			execute,
			"case Succeeded, Deferred, Replaced:",
			"case Succeeded, Deferred, Replaced, Failed:",
		},
		{
			"what the server cannot do now is called failed",
			retry,
			"s.State == Failed && errors.As(err, &busy)",
			"s.State == Failed && !errors.As(err, &busy)",
		},
		{"a step waits for ever", waitForObstacle, "if !at.Before(s.Backoff.Until) {", "if false {"},
		{"orphaned documents are not foreseen", orphans, "	if !pending || !orphans", "	if pending || !orphans"},
		{"what somebody else has done is done again", runStep,
			"	if proof, done := x.alreadyDone(s); done {\n		return x.endAlreadyDone(i, proof)\n	}", ""},
		{"a run goes beyond its limits", replan, "len(over) > 0 {", "len(over) > 1000 {"},
		{"a check that forbids the rest is ignored", replan, "if d.Blocked() && !d.Reached {", "if false {"},
		{"the goal is not looked at in the end", finalGoal, "if !run.Kind.KeepsGoal() ||", "if run.Kind.KeepsGoal() ||"},
		{"what was paused stays paused", endRun, "if !x.restoreBalancing() {", "if false {"},
		{
			"what somebody else paused is switched on",
			restoreBalancing,
			"s.State == Succeeded && s.Already == \"\" && s.NS",
			"s.State == Succeeded && s.NS",
		},
		{"an end is shown before the pages have it", endRun, "x.refreshTable()", "_ = x.e.refreshTable"},
		{"what could not be saved is given up", saveRun,
			"		if err == nil {\n			return true", "		if err == nil || x.id != \"\" {\n			return true"},
		{"a command of an earlier process counts as never sent", takeOver,
			"s.State, s.Sent = Unknown, in.At", "s.State, s.Sent = Planned, in.At"},
		{
			"the next process goes on sending",
			takeOver,
			"case s.State.Open() && x.nothingToSend(i) && !x.stopRequested():",
			"case s.State.Open() && !x.stopRequested():",
		},
		{"a command of an earlier process counts as done", takeOver, "s.State, s.Sent = Unknown, in.At", "s.State, s.Sent = Succeeded, in.At"},
		{"open runs are forgotten", takeOver, "for _, record := range open {", "for _, record := range open[:0] {"},
		{"an end is not recorded", endRun, "	if !x.audit(auditRunEnded,", "	if false && !x.audit(auditRunEnded,"},
		{"a run is not marked as undone", endRun, "of != \"\" && !x.markUndone(of)", "of != \"\" && false && !x.markUndone(of)"},
		{"keys that others hold are given", locks, "l.held[k] != \"\" || wanted[k]", "wanted[k]"},
		{"keys are not given back", locks, "			delete(l.held, k)\n", "			_ = k\n"},
		{"the lead is not confirmed before a command", runStep, "if err := x.confirmLead(); err != nil {", "if err := error(nil); err != nil {"},
		{"a stop is not written down", stop, "err := x.save(saving, change)", "x.updateMemory(change)\n\terr := saving.Err()"},
		{"a hash leaves out what a plan needs", planHash, "			h.fact(f)\n", "			_ = f\n"},
		{"a hash leaves out what a plan sends", planHash, "h.text(string(commands[i].Doc))", "h.text(commands[i].DB)"},
		{"a plan needs no reason", plan, "case r.Reason == \"\":", "case false:"},
		{"an undo of a cut joins up to the wrong bound", "actions/undo_chunk.go", "d.merge(k, left.Min, right.Max)",
			"d.merge(k, left.Min, right.Min)"},
		{
			"an undo of a move leaves it where it is",
			"actions/undo_chunk.go",
			"d.moveBack(k, lo, hi, on, was.Want[\"shard\"])",
			"d.moveBack(k, lo, hi, on, s.Shard)",
		},
		{"a field that is not there fits", "actions/fact.go", "!read || value != f.Want[field]", "read && value != f.Want[field]"},
		{"a chunk of another version fits", "actions/future_chunks.go", "want[\"lastmod\"] = p.Version.String()", "_ = p"},
		{
			"another life of the collection fits",
			"actions/fact_constructors.go",
			"[]string{\"uuid\", \"timestamp\", \"epoch\", \"key\"}",
			"[]string{\"key\"}",
		},
		{
			"a move is proven without its shard",
			"actions/fact_constructors.go",
			"Want: map[string]string{\"shards\": shard, \"edges\": \"true\"}",
			"Want: map[string]string{\"edges\": \"true\"}",
		},
		{"commands carry no comment", "cluster/admin.go", "	if run != \"\" {\n		cmd", "	if run == \"\" {\n		cmd"},
		{"what left counts as never left", "cluster/admin.go", "	case !left:", "	case err != nil:"},
	}
}

func source(t *testing.T, file string) (path, text string) {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("../..", file))
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, string(b)
}

// A mutation that no longer matches the code would change nothing.
func TestEveryMutationAppliesToTheCode(t *testing.T) {
	all := mutations()
	if len(all) < 30 {
		t.Errorf("only %d", len(all))
	}
	for _, m := range all {
		if _, text := source(t, m.file); strings.Count(text, m.old) != 1 || m.old == m.new {
			t.Errorf("%s: its place is in %s %d times", m.name, m.file, strings.Count(text, m.old))
		}
	}
}

// This test plants one defect after the other and runs the tests of this package
// against it: first the short ones, then all others, the longest ones last.
func TestEveryMutationIsCaught(t *testing.T) {
	which := os.Getenv("SHARDBOARD_MUTATIONS")
	if which == "" {
		t.Skip("SHARDBOARD_MUTATIONS is not set: 1 for all, or a part of a name")
	}
	caught := 0
	for _, m := range mutations() {
		if which != "1" && !strings.Contains(m.name, which) {
			continue
		}
		path, text := source(t, m.file)
		dir := t.TempDir()
		mutant, overlay := filepath.Join(dir, "mutant.go"), filepath.Join(dir, "overlay.json")
		replace, err := json.Marshal(map[string]map[string]string{"Replace": {path: mutant}})
		if err != nil {
			t.Fatal(err)
		}
		for name, content := range map[string]string{mutant: strings.Replace(text, m.old, m.new, 1), overlay: string(replace)} {
			if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		begun := time.Now()
		by := ""
		for _, args := range [][]string{{"-short"}, {"-skip", "Grid|Random"}, {"-run", "Grid|Random"}} {
			if by = firstFailure(t, append([]string{"-overlay", overlay}, args...)); by != "" {
				break
			}
		}
		if by == "" {
			t.Errorf("missed: %s", m.name)
			continue
		}
		caught++
		t.Logf("caught: %s, by %s (%s)", m.name, by, time.Since(begun).Round(time.Second))
	}
	t.Logf("%d caught", caught)
}

// firstFailure runs tests and returns the name of the first one that fails, or "".
func firstFailure(t *testing.T, args []string) string {
	t.Helper()
	args = append([]string{"test", "-count=1", "-vet=off", "-failfast", "-timeout=20m"}, append(args, ".")...)
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "SHARDBOARD_MUTATIONS=")
	out, err := cmd.CombinedOutput()
	if err == nil {
		return ""
	}
	output := string(out)
	if strings.Contains(output, "build failed") || strings.Contains(output, "setup failed") {
		t.Errorf("does not build:\n%s", output)
		return "the compiler"
	}
	for line := range strings.Lines(output) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "--- FAIL: "); ok {
			return strings.Fields(name)[0]
		}
	}
	return "its end: " + strings.TrimSpace(output[:min(len(output), 200)])
}
