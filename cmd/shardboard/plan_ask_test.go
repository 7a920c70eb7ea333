package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"testing"

	"shardboard/internal/app"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

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
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := map[string]string{"project": "atlas board", "shard": "shard-1", "expires": "1h"}
	if c.Kind != "pin" || c.Reason != "it is hot" || len(given) != len(want) {
		t.Errorf("%+v %v", c, given)
	}
	for name, value := range want {
		expect.Equal(t, given[name], value, "%s", name)
	}
	for _, text := range []string{`There is no "nope" here`, `There is no "9" here`, "The shard that keeps the project.", "1  shard-1"} {
		if !strings.Contains(out, text) {
			t.Errorf("no %q in\n%s", text, out)
		}
	}
	if got := commandLine(c, given); got != "shardboard plan pin --project 'atlas board' --shard shard-1 --expires 1h --reason 'it is hot'" {
		t.Errorf("the same is %s", got)
	}
	expect.Lacks(t, out, "\x1b", "a name of the cluster controls the terminal")
}

// Who gave arguments is asked for the required ones only.
func TestPlanAsksOnlyForTheRestOfWhatIsNeeded(t *testing.T) {
	c, given, out, err := askedPlan(t, planCmd{Kind: "pin"}, []string{"project=x"}, "1\nwhy\n")
	if err != nil || given["shard"] != "shard-1" || c.Reason != "why" || strings.Contains(out, "For how long") {
		t.Errorf("%v %v %+v\n%s", err, given, c, out)
	}
}

func TestPlanChecksAnAnswerAtOnce(t *testing.T) {
	_, given, out, err := askedPlan(t, planCmd{Kind: "balancer-window", Reason: "r"}, nil, "25:00\n01:00\n05:00\n\n")
	if err != nil || given["start"] != "01:00" || given["stop"] != "05:00" || !strings.Contains(out, "not a time of day") {
		t.Errorf("%v %v\n%s", err, given, out)
	}
}

func TestLeavingAQuestionPlansNothing(t *testing.T) {
	_, _, _, err := askedPlan(t, planCmd{}, nil, "pin\n") // the input ends
	if fault.Of(err) != fault.Conflict || fault.Text(err) != "Nothing was planned." {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	in, _ := io.Pipe()
	var out bytes.Buffer
	p := newPrompt(ctx, in, &out)
	cancel() // Ctrl-C
	if _, err := p.answer(wanted{label: "Reason"}); fault.Of(err) != fault.Conflict {
		t.Errorf("%v", err)
	}
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
		if code, _, errs := shardboard(t, tc.args...); code != 2 || !strings.Contains(errs, tc.says) {
			t.Errorf("%v: exit %d, %s", tc.args, code, errs)
		}
	}
}
