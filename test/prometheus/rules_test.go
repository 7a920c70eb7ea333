package prometheus

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/config"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
)

const root = "../../"

var language = parser.NewParser(parser.Options{})

// rules are the alerts by name.
func rules(t *testing.T) map[string]rulefmt.Rule {
	t.Helper()
	groups, errs := rulefmt.ParseFile(root+"deploy/prometheus/rules.yaml", false, model.LegacyValidation, language, nil)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	out := map[string]rulefmt.Rule{}
	for _, g := range groups.Groups {
		for _, r := range g.Rules {
			if _, twice := out[r.Alert]; twice || !strings.HasPrefix(r.Alert, "Shardboard") {
				t.Errorf("the alert %q is not named well, or twice", r.Alert)
			}
			out[r.Alert] = r
		}
	}
	return out
}

func TestEveryRuleHasASeverityAndARunbookThatNamesIt(t *testing.T) {
	pages := map[string]bool{}
	for name, r := range rules(t) {
		if s := r.Labels["severity"]; s != "critical" && s != "warning" && s != "info" || r.Annotations["summary"] == "" {
			t.Errorf("%s: severity %q, summary %q", name, s, r.Annotations["summary"])
		}
		address, _, _ := strings.Cut(r.Annotations["runbook_url"], "?")
		page := filepath.Base(address) + ".md"
		text, err := os.ReadFile(root + "docs/runbooks/" + page)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		pages[page] = true
		for _, want := range []string{"`" + name + "`", "## What it means", "## How to look", "## What to do", "## Pages of shardboard"} {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s has no %q", page, want)
			}
		}
	}
	files, err := filepath.Glob(root + "docs/runbooks/*.md")
	must(t, err)
	index, err := os.ReadFile(root + "docs/runbooks/README.md")
	must(t, err)
	for _, f := range files {
		page := filepath.Base(f)
		if page == "README.md" {
			continue
		}
		if !pages[page] || !strings.Contains(string(index), "("+page+")") {
			t.Errorf("%s has no alert, or is not in the list", page)
		}
	}
}

func TestTheScrapeConfigurationIsReadByPrometheus(t *testing.T) {
	c, err := config.LoadFile(root+"deploy/prometheus/scrape.yaml", false, nil)
	must(t, err)
	if len(c.ScrapeConfigs) != 2 || len(c.RuleFiles) != 1 || filepath.Base(c.RuleFiles[0]) != "rules.yaml" {
		t.Errorf("%d scrape configurations, rule files %v", len(c.ScrapeConfigs), c.RuleFiles)
	}
}
