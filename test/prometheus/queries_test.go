package prometheus

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
	"github.com/prometheus/prometheus/promql/parser"

	"shardboard/test/process"
)

var legendLabel = regexp.MustCompile(`\{\{(\w+)\}\}`)

// query is one expression of the dashboard or of the rules.
type query struct{ where, expr, legend string }

// queries are all of them.
func queries(t *testing.T) (out []query) {
	t.Helper()
	board := dashboard(t)
	for _, p := range board.Panels {
		for _, q := range p.Targets {
			out = append(out, query{"panel " + p.Title, q.Expr, q.LegendFormat})
		}
	}
	for _, v := range board.Templating.List {
		if m := labelValues.FindStringSubmatch(v.Definition); m != nil {
			out = append(out, query{"variable " + v.Name, m[1], "{{" + m[2] + "}}"})
		}
	}
	for name, r := range rules(t) {
		out = append(out, query{"alert " + name, r.Expr, strings.Join(annotationLabels(r.Annotations["summary"]), " ")})
	}
	return out
}

var annotationLabel = regexp.MustCompile(`\$labels\.(\w+)`)

func annotationLabels(text string) (out []string) {
	for _, m := range annotationLabel.FindAllStringSubmatch(text, -1) {
		out = append(out, "{{"+m[1]+"}}")
	}
	return out
}

// matched are the values that a matcher of a rule or panel is about: one, or the alternatives of an expression. The
// dashboard fills in variables, and Prometheus the job.
func matched(m *labels.Matcher) []string {
	if strings.Contains(m.Value, "$") || m.Name == "job" || m.Name == labels.MetricName {
		return nil
	}
	return strings.Split(m.Value, "|")
}

// unmet are what queries ask for and /metrics does not have: metrics, labels, and values of labels.
func unmet(t *testing.T, all []query, has exposition) (out []string) {
	t.Helper()
	for _, q := range all {
		expr, err := language.ParseExpr(q.expr)
		if err != nil {
			t.Fatalf("%s: %v", q.where, err)
		}
		report := func(format string, args ...any) { out = append(out, q.where+": "+fmt.Sprintf(format, args...)) }
		// Of projects whichever is exported, and the cluster also of what a server of one cluster has without it.
		known := []string{"rank", "project", "name", "cluster"}
		parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
			s, ok := n.(*parser.VectorSelector)
			if !ok {
				return nil
			}
			of, ok := has[s.Name]
			if !ok {
				report("no metric %s", s.Name)
				return nil
			}
			known = append(known, slices.Collect(maps.Keys(of))...)
			for _, m := range s.LabelMatchers {
				for _, value := range matched(m) {
					if !slices.Contains(of[m.Name], value) {
						report("%s has no %s=%q", s.Name, m.Name, value)
					}
				}
			}
			return nil
		})
		parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
			if a, ok := n.(*parser.AggregateExpr); ok {
				for _, l := range a.Grouping {
					if !slices.Contains(known, l) {
						report("groups by %s", l)
					}
				}
			}
			return nil
		})
		for _, m := range legendLabel.FindAllStringSubmatch(q.legend, -1) {
			if !slices.Contains(known, m[1]) {
				report("the legend has %s", m[1])
			}
		}
	}
	return out
}

func TestEveryQueryAsksForWhatIsExported(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a demo")
	}
	all := queries(t)
	alerts := filepath.Join(t.TempDir(), "alerts.yaml")
	must(t, os.WriteFile(alerts, []byte("targets:\n- {name: on-call, format: generic, url: \"http://127.0.0.1:9/\"}\n"), 0o600))
	demo := start(t, "demo", "--listen", "127.0.0.1:0", "--mongo-listen", "127.0.0.1:0")
	// A newer release, which tells orphans and sizes with one command, and shards' disks; receivers of alerts.
	sim := start(t, "simcluster", "--listen", "127.0.0.1:0", "--server-version", "7.0", "--documents", "500", "--projects", "5")
	serve := start(t, "serve", "--uri", sim.address, "--listen", "127.0.0.1:0", "--data-dir", t.TempDir(), "--audit-key",
		filepath.Join(t.TempDir(), "audit.key"), "--auth", "none", "--actions", "on", "--alerts", alerts)
	process.Eventually(t, "every series is there", func(context.Context) error { // each appears with the first read of its part
		if missing := unmet(t, all, labelsOf(demo.scrape(t), serve.scrape(t))); len(missing) > 0 {
			return errors.New(strings.Join(missing, "\n"))
		}
		return nil
	})
}

// /metrics as Prometheus asks for it: named and described as its conventions want, in both formats, compressed.
func TestMetricsAreReadAndLintedAsPrometheusDoes(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	sim := start(t, "simcluster", "--listen", "127.0.0.1:0", "--documents", "500", "--projects", "5")
	server := watch(t, sim.address)
	var text string
	eventually(t, "there is placement", func() bool {
		text, _ = server.read(t, "/metrics")
		return strings.Contains(text, "shardboard_collection_storage_bytes{") && strings.Contains(text, "shardboard_problems{")
	})
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	must(t, err)
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}

	open, header := server.read(t, "/metrics", "Accept", "application/openmetrics-text;version=1.0.0")
	if kind := header.Get("Content-Type"); !strings.HasPrefix(kind, "application/openmetrics-text") || !strings.HasSuffix(open, "# EOF\n") {
		t.Errorf("OpenMetrics has the type %q", kind)
	}
	for kind, body := range map[string]string{"text/plain; version=0.0.4": text, header.Get("Content-Type"): open} {
		parser, err := textparse.New([]byte(body), kind, labels.NewSymbolTable(), textparse.ParserOptions{})
		must(t, err)
		n := 0
		for {
			entry, err := parser.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", kind, err)
			}
			if entry == textparse.EntrySeries {
				n++
			}
		}
		if n < 200 {
			t.Errorf("%s: %d series", kind, n)
		}
	}

	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.address+"/metrics", nil)
	must(t, err)
	r.Header.Set("Accept-Encoding", "gzip")
	res, err := http.DefaultClient.Do(r)
	must(t, err)
	defer res.Body.Close()
	z, err := gzip.NewReader(res.Body)
	if err != nil || res.Header.Get("Content-Encoding") != "gzip" {
		t.Fatalf("encoding %q, error %v", res.Header.Get("Content-Encoding"), err)
	}
	if body, err := io.ReadAll(z); err != nil || !strings.Contains(string(body), "shardboard_build_info") {
		t.Errorf("%d bytes, error %v", len(body), err)
	}
}
