package rules_test

import (
	"fmt"
	"testing"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/format"
	"shardboard/internal/rules"
	"shardboard/internal/topology"
)

// silentRouters is a situation with a number of mongos that stopped pinging.
func silentRouters(n int) rules.Situation {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	t := &topology.Table{Loaded: true, Health: map[topology.Part]topology.Health{topology.PartRouters: {At: now}}}
	for i := range n {
		t.Routers = append(t.Routers, topology.Router{Host: fmt.Sprintf("pod-%d:27017", i), Ping: now.Add(-time.Hour)})
	}
	return rules.Situation{Table: t, Now: now}
}

func problemsOf(r rules.Report, rule rules.Rule) (out []rules.Problem) {
	for _, p := range r.Items {
		if p.Rule == rule {
			out = append(out, p)
		}
	}
	return out
}

func TestOneThingAboutManyObjectsIsOneProblem(t *testing.T) {
	one := problemsOf(rules.Evaluate(silentRouters(1)), rules.RouterSilent)
	expect.That(t, len(one) == 1 && one[0].Count == 0 && one[0].Subject == "pod-0:27017", "of one mongos: %+v", one)
	for _, n := range []int{2, 40, 2000} {
		r := rules.Evaluate(silentRouters(n))
		got := problemsOf(r, rules.RouterSilent)
		want := "Silent mongos: " + format.Count(int64(n)) + ", among them pod-0:27017, pod-1:27017, pod-2:27017."
		if n == 2 {
			want = "Silent mongos: 2, among them pod-0:27017, pod-1:27017."
		}
		if len(got) != 1 || got[0].Count != n || got[0].Text.String() != want || len(got[0].Remedy.Commands) != 1 {
			t.Fatalf("of %d: %d problems, %q, want %q", n, len(got), got[0].Text.String(), want)
		}
		expect.Equal(t, len(r.Each(rules.RouterSilent)), min(n, 1000), "listed one by one")
		if p, ok := r.Find(got[0].Parts[1].ID); !ok || p.Subject != got[0].Parts[1].Subject {
			t.Errorf("one of %d is not found by its id", n)
		}
		hidden := rules.View{Report: r}.HideBounds("(hidden)", func(string) string { return "x" })
		if h := problemsOf(hidden.Report, rules.RouterSilent)[0]; h.Parts[0].ID == got[0].Parts[0].ID {
			t.Error("the ids of parts are not hidden")
		}
	}
	if a, b := rules.Evaluate(silentRouters(3)), rules.Evaluate(silentRouters(30)); a.Items[0].ID != b.Items[0].ID {
		t.Error("the problem has another id when the number changes")
	}
}
