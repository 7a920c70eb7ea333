package prometheus

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A dashboard as Grafana's documentation of its JSON model and panels has it, as far as ours goes. A field that is not
// here is one that Grafana does not know, or one whose meaning a test should hold.
type (
	board struct {
		UID, Title, Timezone, Refresh string
		Tags                          []string
		SchemaVersion, Version        int
		Time                          struct{ From, To string }
		Editable                      bool
		Templating                    struct{ List []variable }
		Annotations                   struct{ List []struct{} }
		Links                         []struct{}
		Panels                        []panel
	}
	variable struct {
		Name, Label, Type string
		Query             any // a string for a datasource
		Definition        string
		Datasource        *datasource
		Refresh, Sort     int
		IncludeAll, Multi bool
		AllValue          string
		Current           struct{ Text, Value string }
	}
	datasource struct{ Type, UID string }
	panel      struct {
		ID                       int
		Type, Title, Description string
		Collapsed                bool
		GridPos                  struct{ X, Y, W, H int }
		Datasource               *datasource
		Targets                  []target
		FieldConfig              fieldConfig
		Options                  options
		Panels                   []panel // of a row that is collapsed
	}
	target struct {
		RefID, Expr, LegendFormat string
		Datasource                *datasource
		Instant                   bool
	}
	fieldConfig struct {
		Defaults struct {
			Unit, NoValue string
			Min, Max      *float64
			Mappings      []struct {
				Type    string
				Options map[string]struct{ Text, Color string }
			}
			Color      *struct{ Mode string }
			Thresholds *struct {
				Mode  string
				Steps []struct {
					Color string
					Value *float64
				}
			}
			Custom *struct {
				LineWidth, FillOpacity int
				ShowPoints             string
				Stacking               struct{ Mode, Group string }
				SpanNulls, InsertNulls any
				ThresholdsStyle        *struct{ Mode string }
			}
		}
		Overrides []struct {
			Matcher    struct{ ID, Options string }
			Properties []struct{ ID, Value string }
		}
	}
	options struct {
		ReduceOptions *struct {
			Calcs  []string
			Fields string
			Values bool
		}
		ColorMode, GraphMode, TextMode, DisplayMode, Orientation string
		Legend                                                   *struct {
			ShowLegend             bool
			DisplayMode, Placement string
		}
		Tooltip *struct{ Mode, Sort string }
	}
)

func dashboard(t *testing.T) (b board) {
	t.Helper()
	text, err := os.ReadFile(root + "deploy/grafana/shardboard.json")
	must(t, err)
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	must(t, d.Decode(&b))
	return b
}

// units are those of Grafana that the board uses.
var units = []string{"", "bytes", "s", "percentunit", "ops", "wps", "cps", "Bps", "reqps"}

func TestEveryPanelOfTheBoardIsComplete(t *testing.T) {
	b := dashboard(t)
	ids := map[int]bool{}
	taken := map[[2]int]string{}
	for _, p := range b.Panels {
		if ids[p.ID] || p.ID == 0 {
			t.Errorf("panel %q: id %d is taken", p.Title, p.ID)
		}
		ids[p.ID] = true
		g := p.GridPos
		for x := g.X; x < g.X+g.W; x++ {
			for y := g.Y; y < g.Y+g.H; y++ {
				if at := [2]int{x, y}; taken[at] != "" || x >= 24 {
					t.Fatalf("panel %q lies over %q, or is too wide", p.Title, taken[at])
				} else {
					taken[at] = p.Title
				}
			}
		}
		if p.Type == "row" {
			continue
		}
		if !slices.Contains([]string{"stat", "timeseries", "bargauge"}, p.Type) || p.Datasource == nil ||
			*p.Datasource != (datasource{"prometheus", "${datasource}"}) || p.Description == "" || len(p.Targets) == 0 {
			t.Errorf("panel %q: type %q, datasource %v, description %q, %d queries", p.Title, p.Type, p.Datasource, p.Description, len(p.Targets))
		}
		d := p.FieldConfig.Defaults
		if !slices.Contains(units, d.Unit) {
			t.Errorf("panel %q: unit %q", p.Title, d.Unit)
		}
		// What is not known is a gap or a word, never 0 and never a line across.
		switch {
		case p.Type != "timeseries" && (d.NoValue == "" || p.Options.ReduceOptions == nil):
			t.Errorf("panel %q says nothing where there is no value", p.Title)
		case p.Type == "timeseries" && (d.Custom == nil || d.Custom.SpanNulls != false || p.Options.Legend == nil || p.Options.Tooltip == nil):
			t.Errorf("panel %q connects its lines over gaps, or has no legend", p.Title)
		}
		refs := map[string]bool{}
		for _, q := range p.Targets {
			if refs[q.RefID] || q.RefID == "" || q.LegendFormat == "" || q.Datasource == nil || *q.Datasource != *p.Datasource ||
				q.Instant != (p.Type != "timeseries") || strings.Contains(q.Expr, "or vector(0)") {
				t.Errorf("panel %q: query %+v", p.Title, q)
			}
			refs[q.RefID] = true
		}
		if s := d.Thresholds; s != nil {
			for i, step := range s.Steps {
				if (step.Value == nil) != (i == 0) || i > 1 && *step.Value <= *s.Steps[i-1].Value {
					t.Errorf("panel %q: the thresholds are not in order", p.Title)
				}
			}
		}
	}
}

var labelValues = regexp.MustCompile(`^label_values\((.*), (\w+)\)$`)

func TestTheBoardIsOfOneClusterAndDoesNotAddReplicasUp(t *testing.T) {
	b := dashboard(t)
	var names []string
	for _, v := range b.Templating.List {
		names = append(names, v.Name)
		q, _ := v.Query.(map[string]any)
		if v.Type == "query" && (!labelValues.MatchString(v.Definition) || q["query"] != v.Definition || v.Refresh != 2) {
			t.Errorf("variable %s is %q, %v", v.Name, v.Definition, v.Query)
		}
		if v.Name == "cluster" && (v.Multi || v.IncludeAll) {
			t.Error("the series of several clusters would have the same names")
		}
	}
	if !slices.Equal(names, []string{"datasource", "cluster", "collection"}) {
		t.Errorf("the variables are %v", names)
	}
	ofCluster := regexp.MustCompile(`shardboard_\w+\{[^}]*cluster="\$cluster"`)
	for _, p := range b.Panels {
		for _, q := range p.Targets {
			if ofCluster.MatchString(q.Expr) && !strings.Contains(q.Expr, "max by") && !strings.Contains(q.Expr, "min by") &&
				!strings.Contains(q.Expr, "shardboard_cluster_") && !strings.Contains(q.Expr, "shardboard_runs_") { // those are of each process
				t.Errorf("panel %q shows each replica's series, or their sum: %s", p.Title, q.Expr)
			}
		}
	}
}

// The panels of Yorkie's own board, as its chart 0.7.7 has them.
var yorkiePanels = []string{"MongoDB Up", "Shards", "Chunks", "Balancer", "DB Data Size", "DB Index Size", "Read Ops", "Write Ops",
	"Read Latency", "Write Latency", "Command Ops by Collection", "Collection Document Count", "Collection Storage Size",
	"Shard Chunk Distribution"}

func TestEachPanelOfYorkiesBoardHasTheEquivalentThatTheDocumentNames(t *testing.T) {
	text, err := os.ReadFile(root + "docs/metrics.md")
	must(t, err)
	ours := map[string]bool{}
	for _, p := range dashboard(t).Panels {
		ours[strings.ToLower(p.Title)] = true
	}
	_, table, _ := strings.Cut(string(text), "| Yorkie's panel | here | difference |\n|---|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	theirs := ""
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		theirs += cells[1] + "\n"
		here := strings.ToLower(strings.TrimSpace(cells[2]))
		// "Read ops, write ops by collection" are two panels that end alike.
		suffix := ""
		for _, end := range []string{" by collection (mean)", " by collection"} {
			if strings.Contains(here, ",") && strings.HasSuffix(here, end) {
				suffix, here = end, strings.TrimSuffix(here, end)
				break
			}
		}
		for _, title := range strings.FieldsFunc(here, func(r rune) bool { return r == ';' || r == ',' }) {
			if title = strings.TrimSpace(title) + suffix; !ours[title] {
				t.Errorf("the document names the panel %q, which the board does not have", title)
			}
		}
	}
	for _, title := range yorkiePanels {
		if !strings.Contains(theirs, title) {
			t.Errorf("the document says nothing of Yorkie's panel %q", title)
		}
	}
}
