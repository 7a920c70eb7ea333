package answer_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"shardboard/internal/alert"
	"shardboard/internal/answer"
	"shardboard/internal/answer/auditing"
	"shardboard/internal/answer/data"
	"shardboard/internal/answer/problems"
	"shardboard/internal/answer/shares"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/message"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/rules"
	"shardboard/internal/topology"
)

func TestTheAlertsHeadlineCountsWhatIsListed(t *testing.T) {
	of := func(states ...string) (all []alert.Alert) {
		for _, s := range states {
			all = append(all, alert.Alert{State: s})
		}
		return all
	}
	for _, c := range []struct {
		list        []alert.Alert
		level, text string
	}{
		{nil, "ok", "No alerts"},
		{of(alert.Pending), "note", "No active alerts, 1 not sent yet"},
		{of(alert.Firing), "note", "1 active alert"},
		{of(alert.Firing, alert.Firing, alert.Pending, alert.Resolved), "note", "2 active alerts, 1 not sent yet, 1 just ended"},
	} {
		if level, text := problems.AlertsHeadline(c.list, nil); level != c.level || text != c.text {
			t.Errorf("%d alerts: %s %q, want %s %q", len(c.list), level, text, c.level, c.text)
		}
	}
}

func TestAnAlertThatNoReceiverWantsIsNotActive(t *testing.T) {
	note := alert.Alert{Notice: alert.Notice{Severity: alert.Info}, State: alert.Firing}
	warning := alert.Alert{Notice: alert.Notice{Severity: alert.Warn}, State: alert.Firing}
	to := []alert.TargetStatus{{MinSeverity: alert.Critical}, {MinSeverity: alert.Warn}}
	a := problems.Alerts(answer.View{}, alert.Status{Targets: to, Alerts: []alert.Alert{note, warning}})
	if a.Headline != "1 active alert, 1 problem too small to alert" || !a.Alerts[0].Unsent || a.Alerts[1].Unsent {
		t.Errorf("%q, %+v", a.Headline, a.Alerts)
	}
	if a = problems.Alerts(answer.View{}, alert.Status{Targets: to, Alerts: []alert.Alert{note}}); a.Level != "ok" ||
		a.Headline != "No active alerts, 1 problem too small to alert" {
		t.Errorf("%s %q", a.Level, a.Headline)
	}
}

func TestAHeadlineSaysThatMostRulesCouldNotBeChecked(t *testing.T) {
	for unchecked, want := range map[int]string{0: "9 notes", 17: "9 notes", 18: "9 notes; 18 of 34 rules could not be fully checked"} {
		if got := problems.ProblemCounts(rules.Summary{Info: 9, Rules: 34, Unchecked: unchecked}); got != want {
			t.Errorf("%d unchecked: %q, want %q", unchecked, got, want)
		}
	}
}

func TestAuditDetailsAreInWordsAndCountStepsFromOne(t *testing.T) {
	for _, c := range []struct{ name, value, label, text string }{
		{"kindOfPlan", "move", "change", "Move a chunk"},
		{"kindOfPlan", "later", "change", "later"},
		{"step", "0", "step", "1"},
		{"state", "succeeded", "state", "proven"},
		{"why", "step.serverRefused", "reason code", "step.serverRefused"},
		{"other", "0", "other", "0"},
	} {
		if label, text := auditing.AuditDetailText(c.name, c.value); label != c.label || text != c.text {
			t.Errorf("%s %s: %q %q, want %q %q", c.name, c.value, label, text, c.label, c.text)
		}
	}
}

// Sentences with a count are right for none, one and several.
func TestCountedSentencesFollowTheirCount(t *testing.T) {
	const several = "If {shard} goes down: {projects} of {all} projects affected, each in part."
	for n, want := range map[int]string{
		0:  "If {shard} goes down: no project loses rows of its own.",
		1:  "If {shard} goes down: 1 of {all} projects affected, in part.",
		2:  several,
		21: several,
	} {
		expect.Equal(t, shares.OutagePattern("If {shard} goes down: ", n, 0), want, "%d", n)
	}
	for n, want := range map[int]string{0: " documents", 1: " document", 2: " documents", 21: " documents"} {
		if got := (shares.ShardWhyQuery{By: data.OfDocuments}).AmountOf(float64(n)); got != want {
			t.Errorf("%d%s", n, got)
		}
		if got := message.Plural(n, " document", " documents"); got != want {
			t.Errorf("%d%s", n, got)
		}
	}
}

// Who is affected is said of now where the shard gives no answer now.
func TestOfAShardThatHangsTheEffectIsOfNow(t *testing.T) {
	dir := placement.NewDirectory(1, nil, nil, topology.Health{At: time.Unix(1, 0)})
	for state, want := range map[topology.AnswerState]string{
		topology.Answers: "If s goes down: no project loses rows of its own.",
		topology.Silent:  "While s does not answer: no project loses rows of its own.",
	} {
		table := &topology.Table{Answering: topology.Answering{Shards: map[string]topology.Answer{"s": {State: state}}}}
		if got := shares.Outage(answer.View{Table: table, Dir: dir}, placement.Contents{Shard: "s"}).String(); got != want {
			t.Errorf("%v: %q, want %q", state, got, want)
		}
	}
}

func TestTheEffectOfAShardIsInTheProfilesWords(t *testing.T) {
	shop := &profile.Profile{Tenants: profile.Called{One: "Tenant", Many: "Tenants"}}
	v := answer.View{Table: &topology.Table{}, Dir: placement.NewDirectory(1, nil, nil, topology.Health{}), Profile: shop}
	if got := shares.Outage(v, placement.Contents{Shard: "s"}).String(); !strings.Contains(got, "The list of tenants is not read yet") {
		t.Error(got)
	}
	for said, health := range map[string]topology.Health{
		"may not read the list of tenants":          {Denied: true, Err: errors.New("code 13")},
		"The list of tenants could not be read, so": {Err: errors.New("no answer")},
	} {
		v := v
		v.Dir = placement.NewDirectory(1, nil, nil, health)
		got := shares.Outage(v, placement.Contents{Shard: "s"}).String()
		expect.Contains(t, got, said, "%+v", health)
	}
	if s := answer.ProjectsState(v); strings.Contains(s.Title+s.Detail, "roject") {
		t.Errorf("state %+v", s)
	}
	if err := answer.CheckProjects(v); err != nil && strings.Contains(err.Error(), "project") {
		t.Error(err)
	}
}
