package metrics

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

var update = flag.Bool("update", false, "write the table of docs/metrics.md")

const document = "../../docs/metrics.md"

// row is a metric as docs/metrics.md lists it.
func row(d *definition) string {
	kind := "gauge"
	if d.kind == prometheus.CounterValue {
		kind = "counter"
	}
	labels := strings.Join(d.labels, ", ")
	if slices.Contains(perProject, d) {
		labels = "rank, or project, or project and name"
	}
	return fmt.Sprintf("| `shardboard_%s` | %s | %s | %s | %s |\n", d.name, kind, labels, unitOf(d.name), d.help)
}

// unitOf is the unit that Prometheus' conventions have at the end of a name.
func unitOf(name string) string {
	name = strings.TrimSuffix(name, "_total")
	for suffix, unit := range map[string]string{"_bytes": "bytes", "_per_second": "per second", "_seconds": "seconds", "_ratio": "ratio"} {
		if strings.HasSuffix(name, suffix) {
			return unit
		}
	}
	return ""
}

func TestTheDocumentListsEveryMetricOfACluster(t *testing.T) {
	want := "| name | type | labels | unit | meaning |\n|---|---|---|---|---|\n"
	for _, d := range definitions {
		if d.kind == prometheus.CounterValue != strings.HasSuffix(d.name, "_total") || !strings.HasSuffix(d.help, ".") ||
			strings.ContainsAny(d.help, "|\n") {
			t.Errorf("%s: the name does not suit its type, or the help is no sentence", d.name)
		}
		want += row(d)
	}
	text := must.Get(os.ReadFile(document))
	before, rest, _ := strings.Cut(string(text), "<!-- cluster -->\n")
	is, after, ok := strings.Cut(rest, "<!-- end -->")
	must.That(t, ok, "the document has no place for the table")
	if *update {
		must.Do(t, os.WriteFile(document, []byte(before+"<!-- cluster -->\n"+want+"<!-- end -->"+after), 0o644))
		return
	}
	expect.That(t, is == want, "the table differs; run this test with -update. Expected:\n%s", want)
}
