package rules

import (
	"slices"
	"testing"

	"shardboard/internal/heat"
)

func TestProblemsOfOneCauseAreOneIncident(t *testing.T) {
	problem := func(r Rule, shard, project string, perSecond float64, s Severity) Problem {
		p := Problem{Rule: r, Subject: shard + project, NS: "y.changes", Shard: shard, Project: project, PerSecond: perSecond, Weight: perSecond,
			Severity: s, Remedy: Remedy{Plans: []Plan{{Kind: "move", Args: map[string]string{"to": shard}}, {Kind: string(r)}}}}
		p.ID = idOf(r, p.Subject)
		return p
	}
	over := func(p Problem) Problem { p.Until = now; return p }
	many := func(p Problem) Problem { p.Count = 9; return p }
	for name, c := range map[string]struct {
		in   []Problem
		want [][]Rule // the rules of each incident, the cause first
	}{
		"a hot project heats a chunk and its shard": {[]Problem{problem(HotShard, "a", "p", 90, Warn), problem(HotProject, "a", "p", 80, Info),
			problem(HotChunk, "a", "p", 60, Info)}, [][]Rule{{HotProject, HotShard, HotChunk}}},
		"a document is the cause of all": {[]Problem{problem(HotProject, "a", "p", 90, Warn), problem(HotDocument, "a", "p", 80, Warn),
			problem(HotShard, "a", "p", 95, Warn)}, [][]Rule{{HotDocument, HotProject, HotShard}}},
		"a document is a small part of its project": {[]Problem{problem(HotProject, "a", "p", 90, Warn),
			problem(HotDocument, "a", "p", 30, Warn)}, [][]Rule{{HotProject, HotDocument}}},
		"two hot projects on two shards": {[]Problem{problem(HotProject, "a", "p", 90, Warn), problem(HotProject, "b", "q", 80, Warn),
			problem(HotShard, "a", "", 95, Warn)}, [][]Rule{{HotProject, HotShard}, {HotProject}}},
		"the shard is hot for another reason": {[]Problem{problem(HotShard, "a", "", 200, Warn), problem(HotProject, "a", "p", 80, Info)},
			[][]Rule{{HotShard, HotProject}}},
		"a project makes half of a hot shard's": {[]Problem{problem(HotShard, "a", "p", 100, Warn), problem(HotProject, "a", "p", 55, Info),
			problem(HotChunk, "a", "p", 70, Info)}, [][]Rule{{HotChunk, HotShard, HotProject}}},
		"a growing key": {[]Problem{problem(HotShard, "a", "", 100, Warn), problem(HotChunk, "a", "p", 99, Warn),
			problem(MonotonicKey, "a", "", 99, Warn)}, [][]Rule{{MonotonicKey, HotShard, HotChunk}}},
		"one is over": {[]Problem{problem(HotShard, "a", "p", 90, Warn), over(problem(HotProject, "a", "p", 80, Info))},
			[][]Rule{{HotShard}, {HotProject}}},
		"many objects": {[]Problem{many(problem(HotChunk, "a", "p", 90, Warn)), problem(HotProject, "a", "p", 80, Info)},
			[][]Rule{{HotChunk}, {HotProject}}},
		"nothing of writes": {[]Problem{problem(Jumbo, "a", "", 0, Critical), problem(HotShard, "a", "", 90, Warn)},
			[][]Rule{{Jumbo}, {HotShard}}},
	} {
		got := Incidents(c.in)
		var rules [][]Rule
		for _, p := range got {
			one := []Rule{p.Rule}
			worst := p.Severity
			for _, x := range p.Consequences {
				one = append(one, x.Rule)
				if x.Severity.Level() > worst.Level() {
					t.Errorf("%s: the incident is %s, its consequence %s", name, worst, x.Severity)
				}
				if y, ok := (Report{Items: got}).Find(x.ID); !ok || y.Rule != x.Rule {
					t.Errorf("%s: %s is not found by its id", name, x.Rule)
				}
			}
			rules = append(rules, one)
			if n := len(p.Remedy.Plans); n != 1+len(one) {
				t.Errorf("%s: %d plans of %v", name, n, one)
			}
		}
		same := func(a, b []Rule) bool {
			return slices.Equal(slices.Sorted(slices.Values(a[1:])),
				slices.Sorted(slices.Values(b[1:]))) && a[0] == b[0]
		}
		if !slices.EqualFunc(rules, c.want, same) {
			t.Errorf("%s: %v, want %v", name, rules, c.want)
		}
		if all := (Report{Items: got}).All(); len(all) != len(c.in) {
			t.Errorf("%s: %d of %d problems are left", name, len(all), len(c.in))
		}
	}
}

// The rules find what an incident is made of in one situation.
func TestAHotDocumentIsOneIncident(t *testing.T) {
	s := healthy(withCollection("y.changes", "{doc_id: hashed}", "abcabcabcabc"),
		withHotChunk(4, 300, 0.95, heat.Splitting{Can: true, Code: "document", Share: 0.93, DocumentText: oid(9).Hex()}))
	flat := Evaluate(s).Items
	got := Incidents(flat)
	if len(flat) != 2 || len(got) != 1 || got[0].Rule != HotDocument || len(got[0].Consequences) != 1 ||
		got[0].Consequences[0].Rule != HotShard {
		t.Errorf("%d problems: %+v", len(flat), got)
	}
}
