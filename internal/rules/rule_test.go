package rules

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/profile"
)

const problemsPage = "../../docs/problems.md"

var update = flag.Bool("update", false, "write the names of rules into docs/problems.md")

// TestEachRuleHasAFileANameAndDocumentation makes sure that a rule can be found by its
// name.
func TestEachRuleHasAFileANameAndDocumentation(t *testing.T) {
	doc, err := os.ReadFile(problemsPage)
	must.Do(t, err)
	before, table, _ := strings.Cut(string(doc), "<!-- rules -->\n")
	table, after, _ := strings.Cut(table, "<!-- end -->")
	rows, want := map[Rule]int{}, "" // by rule; several may share a row
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		var names []string
		for i, part := range strings.Split(cells[1], "`") {
			if i%2 == 1 {
				rows[Rule(part)]++
				names = append(names, Rule(part).Name())
			}
		}
		if len(names) > 0 {
			cells[2] = " " + strings.Join(names, "; ") + " "
		}
		want += strings.Join(cells, "|")
	}
	if *update {
		must.Do(t, os.WriteFile(problemsPage, []byte(before+"<!-- rules -->\n"+want+"<!-- end -->"+after), 0o644))
	} else if want != table {
		t.Error("the names of rules in docs/problems.md are out of date: run this test with -update")
	}
	seen := map[string]bool{}
	for _, r := range Rules() {
		name := r.Name()
		expect.That(t, name != "" && name != string(r) && !seen[name], "%s has the name %q", r, name)
		seen[name] = true
		source, err := os.ReadFile(strings.ReplaceAll(string(r), "-", "_") + ".go")
		expect.That(t, err == nil && strings.Contains(string(source), `Rule = "`+string(r)+`"`),
			"%s is not in a file of its name: %v", r, err)
		expect.That(t, rows[r] == 1, "docs/problems.md has %d rows for %s", rows[r], r)
		delete(rows, r)
	}
	for name := range rows {
		t.Errorf("docs/problems.md has a row for %s, which is no rule", name)
	}
	expect.That(t, len(seen) >= 30, "only %d rules", len(seen))
}

func TestUnknownRuleAndSeverityAreShownByTheirIDs(t *testing.T) {
	expect.That(t, Rule("newer").Name() == "newer" && Rule("newer").Page() == "" && Severity("newer").Name() == "newer",
		"an unknown rule or severity is not shown as it is")
}

func TestEachLayoutFindingAndFixHasAMessage(t *testing.T) {
	for _, code := range []string{profile.FindUnsharded, profile.FindDifferent, profile.FindSharded, profile.FindNewer} {
		expect.That(t, driftText(profile.Finding{Code: code}).Pattern != "", "no message for the finding %s", code)
	}
	for _, code := range []string{profile.FixShard, profile.FixRefine, profile.FixReshard, profile.FixMerge, profile.FixDrop} {
		f := profile.Finding{Fix: profile.Fix{Code: code, Commands: []string{"x"}}}
		expect.That(t, fixCommands(f)[0].Explanation.Pattern != "", "no explanation for the fix %s", code)
	}
}

// A problem without a playbook is a decision: it has a reason.
func TestEachRuleHasAPlaybookOrAReasonForNone(t *testing.T) {
	files, err := filepath.Glob("../../docs/playbooks/*.md")
	must.That(t, err == nil && len(files) >= 7, "%v %v", files, err)
	led := map[Playbook]bool{}
	for _, r := range all {
		expect.That(t, (len(r.playbooks) == 0) != (r.noPlaybook == ""),
			"%s has the playbooks %v and the reason %q for none", r.id, r.playbooks, r.noPlaybook)
		for _, p := range r.id.Playbooks() {
			led[p] = true
			expect.That(t, slices.Contains(files, "../../docs/playbooks/"+string(p)+".md"),
				"%s leads to %s, which is not there", r.id, p.URL())
		}
	}
	for _, f := range files {
		if name := Playbook(strings.TrimSuffix(filepath.Base(f), ".md")); !led[name] {
			t.Errorf("no rule leads to the playbook %s", name)
		}
	}
}

// A remedy that depends on the release is not that of an old one where the release is not known.
func TestUnknownReleaseGivesNoRemedyOfAnOldOne(t *testing.T) {
	for version, want := range map[string]string{"": "remedy.noRelease", "x.1": "remedy.noRelease", "4.4.2": "blocked.allow", "9.0.0": ""} {
		s := healthy(func(s *Situation) { s.Table.ServerInfo.Version = version })
		r := (&evaluation{Situation: s}).allowMoves("y.documents")
		expect.That(t, r.WhyNot.Code == want && len(r.Plans) > 0 == (version == "9.0.0"),
			"%q: got %q and %d plans, want %q", version, r.WhyNot.Code, len(r.Plans), want)
	}
}
