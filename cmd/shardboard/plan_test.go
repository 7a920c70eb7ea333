package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/api"
	"shardboard/internal/app"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/only"
	"shardboard/internal/fixture/refused"
)

// startServer starts a server with actions enabled over a small simulated cluster.
func startServer(t *testing.T) string {
	t.Helper()
	return startServerOver(t, startCluster(t))
}

func startServerOver(t *testing.T, cluster string) string {
	t.Helper()
	uri, err := app.ReadURI(cluster, "")
	must.Do(t, err)
	a, err := app.New(t.Context(), app.Config{URI: uri, Listen: "127.0.0.1:0", Version: "test", Log: slog.New(slog.DiscardHandler),
		Auth: app.Auth{Mode: "none"}, Actions: true, HoldingsPerMinute: -1})
	must.Do(t, err)
	a.Start()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		expect.NoError(t, a.Stop(ctx), "Stop")
	})
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		res := must.Get(http.Get(a.URL() + "readyz"))
		res.Body.Close()
		if res.StatusCode == http.StatusOK {
			return strings.TrimRight(a.URL(), "/")
		}
	}
	t.Fatal("not ready after 30 s")
	return ""
}

// runForJSON runs a command against a server and decodes its JSON output.
func runForJSON[T any](t *testing.T, server string, args ...string) T {
	t.Helper()
	code, out, errs := shardboard(t, append(args, "--json", "--server", server)...)
	var v T
	err := json.Unmarshal([]byte(out), &v)
	must.That(t, code == 0 && err == nil, "%v: exit %d, %v\n%s%s", args, code, err, out, errs)
	return v
}

func TestAChangeIsPlannedRunAndUndoneOnTheCommandLine(t *testing.T) {
	only.Long(t, "starts a server")
	server := startServer(t)
	split := []string{"plan", "split", "--ns", "yorkie-meta.changes", "--arg", `at={"doc_id":{"$numberLong":"1"}}`, "--reason", "hot"}
	p := runForJSON[api.Plan](t, server, split...)
	must.That(t, p.Kind == "split" && len(p.Commands) == 1 && p.Reason == "hot" && p.Confirm == nil, "unexpected plan: %+v", p)
	code, out, errs := shardboard(t, append(split, "--server", server)...)
	for _, want := range []string{"Split the chunk", "Checks\n", "balancer: ", `{"split":"yorkie-meta.changes"`, "CHUNKS", "Undo\n",
		"expires", "shardboard run "} {
		expect.That(t, code == 0 && strings.Contains(out, want), "exit %d, no %q in\n%s%s", code, want, out, errs)
	}
	code, out, errs = shardboard(t, "run", p.ID, "--hash", p.Hash, "--wait", "--server", server)
	must.That(t, code == 0 && strings.Contains(out, "Done and proven") && strings.Contains(out, "exists: true, as expected"),
		"exit %d\n%s%s", code, out, errs)
	run := runForJSON[api.Run](t, server, "run", p.ID, "--hash", p.Hash) // returns the same run
	list := runForJSON[api.List[api.Run]](t, server, "runs", "list")
	expect.That(t, len(list.Items) == 1 && list.Items[0].ID == run.ID, "unexpected list: %+v", list)
	code, out, _ = shardboard(t, "runs", "--server", server)
	expect.That(t, code == 0 && strings.Contains(out, run.ID), "exit %d\n%s", code, out)
	undo := runForJSON[api.Plan](t, server, "runs", "undo", run.ID)
	expect.Equal(t, undo.UndoOf, run.ID, "the undo is of a run: %+v", undo)
	back := runForJSON[api.Run](t, server, "run", undo.ID, "--hash", undo.Hash, "--wait")
	expect.Equal(t, back.State, "succeeded", "the undo: %+v", back)
	r := runForJSON[api.Run](t, server, "runs", "show", run.ID)
	expect.That(t, r.State == "undone" && r.UndoneBy == back.ID, "unexpected run: %+v", r)
	code, out, _ = shardboard(t, "runs", "stop", run.ID, "--server", server)
	expect.That(t, code == 0 && strings.Contains(out, "has already ended"), "exit %d\n%s", code, out)
	for _, tc := range []struct {
		code int
		says string
		args []string
	}{
		{2, "no kind of plan", []string{"plan", "explode", "--reason", "x"}},
		{2, "missing flags: --reason", []string{"plan", "balancer-off"}},
		{2, `"foo"`, []string{"plan", "split", "--arg", "foo=1", "--reason", "x"}},
		{2, "twice", []string{"plan", "move", "--to", "a", "--arg", "to=b", "--reason", "x"}},
		{2, "must be JSON or as in mongosh", []string{"plan", "split", "--at", "{project_id 1}", "--reason", "x"}},
		{3, "no sharded collection", []string{"plan", "split", "--ns", "no.such", "--parts", "3", "--reason", "x"}},
		{4, "a check blocks it", []string{"plan", "zone-remove-shard", "--shard", "shard-rs-1", "--zone", "none", "--reason", "x"}},
		{4, "hash differs", []string{"run", p.ID, "--hash", "0"}},
		{3, "no plan or run", []string{"runs", "show", "nope"}},
		{4, "already been undone", []string{"runs", "undo", run.ID}},
	} {
		says(t, tc.code, tc.says, append(tc.args, "--server", server)...)
	}
	blocked := planBlocked(t, server, "plan", "zone-remove-shard", "--shard", "shard-rs-1", "--zone", "none", "--reason", "x")
	says(t, 4, "blocks  zone: shard-rs-1 is not in the zone none.",
		"run", blocked.ID, "--hash", blocked.Hash, "--server", server)
}

// planBlocked makes a plan that a check blocks.
func planBlocked(t *testing.T, server string, args ...string) (p api.Plan) {
	t.Helper()
	code, out, errs := shardboard(t, append(args, "--json", "--server", server)...)
	err := json.Unmarshal([]byte(out), &p)
	must.That(t, code == 4 && err == nil, "exit %d, %v, %s", code, err, errs)
	return p
}

func TestAConfirmationIsRequiredAndNeverAssumed(t *testing.T) {
	text := "atlas-board"
	wide, plain := api.Plan{ID: "p", Hash: "h", Confirm: &text}, api.Plan{ID: "p", Hash: "h"}
	for _, tc := range []struct {
		name    string
		flags   runCmd
		plan    api.Plan
		answer  *string // nil: no terminal
		refused bool
		hash    string
		confirm string
	}{
		{"no terminal, no hash", runCmd{}, plain, nil, true, "", ""},
		{"no terminal, hash", runCmd{Hash: "h"}, plain, nil, false, "h", ""},
		{"no terminal, hash, no confirmation", runCmd{Hash: "h"}, wide, nil, false, "h", ""},
		{"flags say all", runCmd{Hash: "h", Confirm: text}, wide, nil, false, "h", text},
		{"flags say something wrong", runCmd{Hash: "x", Confirm: "y"}, wide, nil, false, "x", "y"},
		{"yes", runCmd{}, plain, new("yes"), false, "h", ""},
		{"no", runCmd{}, plain, new("no"), true, "", ""},
		{"nothing typed", runCmd{}, plain, new(""), true, "", ""},
		{"typed", runCmd{}, wide, new(text), false, "h", text},
		{"mistyped", runCmd{Hash: "h"}, wide, new("atlas"), false, "h", "atlas"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var ask func() (string, error)
			if tc.answer != nil {
				ask = firstLine(strings.NewReader(*tc.answer + "\nyes\n"))
			}
			var shown bytes.Buffer
			in, err := tc.flags.confirmed(&env{ctx: t.Context(), stderr: &shown}, tc.plan, ask)
			must.That(t, (err != nil) == tc.refused, "%v", err)
			got := ""
			if in.Confirm != nil {
				got = *in.Confirm
			}
			expect.That(t, err != nil || in.Hash == tc.hash && got == tc.confirm, "unexpected confirmation %+v, output %q", in, got)
			expect.That(t, tc.answer == nil || strings.Contains(shown.String(), "hash     h"),
				"the confirmation was requested without showing the plan: %s", shown.String())
		})
	}
}

func TestTheExitCodeDependsOnHowTheRunEnded(t *testing.T) {
	for state, want := range map[string]int{"succeeded": 0, "undone": 0, "refused": 4, "stopped": 4, "failed": 1, "unknown": 7} {
		got := 0
		if err := outcome(api.Run{ID: "r", State: state}); err != nil {
			got = fault.Of(err).ExitCode()
		}
		expect.Equal(t, got, want, "%s", state)
	}
}

// A plan can be made with flags or with the argument names of the API, which are equal.
func TestEveryPlanArgumentOfTheAPIHasAFlag(t *testing.T) {
	_, help, _ := shardboard(t, "plan", "--help")
	for _, x := range actions.Arguments() {
		expect.Contains(t, help, "--"+x.Name, "--%s is missing", x.Name)
	}
	help = strings.Join(strings.Fields(help), " ")
	var kinds []string
	for _, k := range actions.Kinds() {
		kinds = append(kinds, string(k))
	}
	all := strings.Join(kinds, ", ")
	expect.That(t, strings.Contains(help, all), "--help does not list exactly the kinds %s", all)
}

func TestChunkAndCutFlagsHaveTheFormatOfTheAPI(t *testing.T) {
	raw, err := planArgs([]string{"ns=a.b", "chunks=x, y,z", `cuts=[{"half":"upper"}]`})
	args, wrong := actions.ReadArgs(raw)
	expect.That(t, err == nil && wrong == nil && slices.Equal(args.Chunks, []string{"x", "y", "z"}) && len(args.Cuts) == 1 &&
		args.Cuts[0].Half == "upper", "unexpected error %v, JSON %s", err, raw)
	_, err = planArgs([]string{"cuts=upper"})
	expect.That(t, err != nil && strings.Contains(err.Error(), "cuts"), "unexpected error: %v", err)
	var out bytes.Buffer
	p := api.Plan{Effect: api.Effect{Writes: []api.WriteEffect{{Shard: "shard-rs-1", PerSecondBefore: 20.44, PerSecondAfter: 14}}}}
	err = printPlan(&out, p)
	expect.That(t, err == nil && strings.Contains(out.String(), "shard-rs-1  about 20.4 → 14.0"), "%v\n%s", err, out.String())
}

// everyText sets every text below a value, with one item in each list, to the same one, and every key.
func everyText(v reflect.Value, text string, key api.Key) {
	switch {
	case v.Type() == reflect.TypeFor[api.Key]():
		v.SetBytes(key)
	case v.Kind() == reflect.String:
		v.SetString(text)
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		everyText(v.Elem(), text, key)
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		everyText(v.Index(0), text, key)
	case v.Kind() == reflect.Map:
		name, item := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		everyText(name, text, key)
		everyText(item, text, key)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(name, item)
	case v.Kind() == reflect.Struct && v.Type() != reflect.TypeFor[time.Time]():
		for i := range v.NumField() {
			everyText(v.Field(i), text, key)
		}
	}
}

func TestPlansAndRunsPrintNoControlCharacters(t *testing.T) {
	evil := "a\x1b[31mred\u202etxt\r\n\tx\u009b"
	key := api.Key(`{"k":"` + "\u202e\u009b" + `"}`)
	var plan api.Plan
	var run api.Run
	everyText(reflect.ValueOf(&plan).Elem(), evil, key)
	everyText(reflect.ValueOf(&run).Elem(), evil, key)
	plan.Effect.Shards[0].ChunksAfter, plan.Effect.Writes[0].PerSecondAfter = 1, 1 // what stays as it is has no row
	var out bytes.Buffer
	must.Do(t, printPlan(&out, plan))
	printRun(&out, run)
	must.Do(t, printJSON(&out, plan))
	got := out.String()
	expect.That(t, !strings.ContainsAny(got, "\x1b\r\t\u202e\u009b"), "unexpected output: %q", got)
	out.Reset()
	must.Do(t, printJSON(&out, plan))
	var back api.Plan
	err := json.Unmarshal(out.Bytes(), &back)
	expect.That(t, err == nil && back.Summary.String() == evil, "the JSON output was changed: %v %q", err, back.Summary.String())
}

func TestAPlanShowsTheShardsForWhichSomethingChanges(t *testing.T) {
	var e api.Effect
	for i := range 24 {
		e.Shards = append(e.Shards, api.ShardEffect{Shard: fmt.Sprintf("s%d", i), ChunksBefore: 3, ChunksAfter: 3})
		e.Writes = append(e.Writes, api.WriteEffect{Shard: fmt.Sprintf("s%d", i), PerSecondBefore: 2, PerSecondAfter: 2})
	}
	var out bytes.Buffer
	must.Do(t, printEffect(&out, e))
	expect.That(t, !strings.Contains(out.String(), "SHARD"), "a table without a change: %s", out.String())
	e.Shards[7].ChunksAfter, e.Writes[8].PerSecondAfter = 4, 5
	out.Reset()
	must.Do(t, printEffect(&out, e))
	expect.ContainsAll(t, out.String(), []string{"  s7  ", "3 → 4", "  s8  ", "about 2.00 → 5.00"}, "changed shards")
	expect.Equal(t, strings.Count(out.String(), "  23 other shards stay as they are\n"), 2, "%s", out.String())
	expect.That(t, !strings.Contains(out.String(), "s9"), "a shard that stays as it is has a row: %s", out.String())
}

// askedPlan lets somebody type lines when a plan asks for what is missing.
func askedPlan(t *testing.T, c planCmd, given []string, typed string) (planCmd, map[string]string, string, error) {
	t.Helper()
	namesServer(t)
	remote, err := app.ReadRemote(os.Getenv("SHARDBOARD_SERVER"), "", "")
	must.Do(t, err)
	var out bytes.Buffer
	a := asking{prompt: newPrompt(t.Context(), strings.NewReader(typed), &out), remote: remote, given: givenArguments(given)}
	err = a.fill(&c)
	return c, a.given, out.String(), err
}

func TestPlanAsksForWhatIsMissing(t *testing.T) {
	c, given, out, err := askedPlan(t, planCmd{}, nil, "nope\npin\natlas board\n9\nshard-1\n\n1h\n\n\nit is hot\n")
	must.That(t, err == nil, "%v\n%s", err, out)
	want := map[string]string{"project": "atlas board", "shard": "shard-1", "expires": "1h"}
	expect.That(t, c.Kind == "pin" && c.Reason == "it is hot" && len(given) == len(want), "%+v %v", c, given)
	for name, value := range want {
		expect.Equal(t, given[name], value, "%s", name)
	}
	for _, text := range []string{`There is no "nope" here`, `There is no "9" here`, "The shard that keeps the project.", "1  shard-1"} {
		expect.Contains(t, out, text, "the text")
	}
	got := commandLine(c, given)
	expect.Equal(t, got, "shardboard plan pin --project 'atlas board' --shard shard-1 --expires 1h --reason 'it is hot'", "the same")
	expect.Lacks(t, out, "\x1b", "a name of the cluster controls the terminal")
}

// Who gave arguments is asked for the required ones only.
func TestPlanAsksOnlyForTheRestOfWhatIsNeeded(t *testing.T) {
	c, given, out, err := askedPlan(t, planCmd{Kind: "pin"}, []string{"project=x"}, "1\nwhy\n")
	expect.That(t, err == nil && given["shard"] == "shard-1" && c.Reason == "why" && !strings.Contains(out, "For how long"),
		"%v %v %+v\n%s", err, given, c, out)
}

func TestPlanChecksAnAnswerAtOnce(t *testing.T) {
	_, given, out, err := askedPlan(t, planCmd{Kind: "balancer-window", Reason: "r"}, nil, "25:00\n01:00\n05:00\n\n")
	expect.That(t, err == nil && given["start"] == "01:00" && given["stop"] == "05:00" && strings.Contains(out, "not a time of day"),
		"%v %v\n%s", err, given, out)
}

func TestLeavingAQuestionPlansNothing(t *testing.T) {
	_, _, _, err := askedPlan(t, planCmd{}, nil, "pin\n") // the input ends
	expect.That(t, fault.Of(err) == fault.Conflict && fault.Text(err) == "Nothing was planned.", "%v", err)
	ctx, cancel := context.WithCancel(t.Context())
	in, _ := io.Pipe()
	var out bytes.Buffer
	p := newPrompt(ctx, in, &out)
	cancel() // Ctrl-C
	refused.As(t, must.Err(p.answer(wanted{label: "Reason"})), fault.Conflict, "answer")
	_ = in.Close()
}

func TestWithoutATerminalTheErrorNamesWhatIsMissing(t *testing.T) {
	for _, tc := range []struct {
		args []string
		says string
	}{
		{[]string{"plan"}, "<kind>"},
		{[]string{"plan", "balancer-off"}, "missing flags: --reason"},
		{[]string{"plan", "nonsense"}, `There is no change "nonsense". There are: split, `},
		{[]string{"plan", "pin", "--project", "x"}, "missing flags: --shard, --reason"},
	} {
		says(t, 2, tc.says, tc.args...)
	}
}
