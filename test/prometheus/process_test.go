package prometheus

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"shardboard/test/process"
)

func TestMain(m *testing.M) { process.Main(m) }

// program is one of our programs, with the address that it printed first: of its pages, or of its cluster.
type program struct {
	*process.Process
	address string
}

func start(t *testing.T, args ...string) *program {
	t.Helper()
	p := process.Start(t, process.Shardboard(t), args...)
	return &program{p, strings.TrimSuffix(p.Line(t, `((?:http|mongodb)://\S+)`), "/")}
}

// signal stops the process as a machine that hangs does, or lets it go on.
func (p *program) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	must(t, p.Cmd.Process.Signal(s))
}

// longestScrape is how long /metrics may take whatever state the cluster is in: Prometheus' own limit.
const longestScrape = 10 * time.Second

// read is the body of an address.
func (p *program) read(t *testing.T, path string, headers ...string) (string, http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.address+path, nil)
	must(t, err)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := (&http.Client{Timeout: longestScrape}).Do(r)
	must(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: status %d, error %v", path, res.StatusCode, err)
	}
	return string(body), res.Header
}

// scrape is /metrics now.
func (p *program) scrape(t *testing.T) map[string]*dto.MetricFamily {
	t.Helper()
	body, _ := p.read(t, "/metrics")
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(body))
	must(t, err)
	return families
}

// exposition has the values of each label of each metric.
type exposition map[string]map[string][]string

// labelsOf are those of several scrapes, with the labels that Prometheus adds.
func labelsOf(scrapes ...map[string]*dto.MetricFamily) exposition {
	out := exposition{"up": {"instance": nil, "job": nil, "namespace": nil}}
	for _, families := range scrapes {
		for name, f := range families {
			of := out[name]
			if of == nil {
				of = map[string][]string{"instance": nil, "job": nil, "namespace": nil}
			}
			if f.GetType() == dto.MetricType_HISTOGRAM {
				of["le"] = nil
			}
			for _, m := range f.GetMetric() {
				for _, l := range m.GetLabel() {
					if !slices.Contains(of[l.GetName()], l.GetValue()) {
						of[l.GetName()] = append(of[l.GetName()], l.GetValue())
					}
				}
			}
			out[name] = of
			if f.GetType() == dto.MetricType_HISTOGRAM {
				out[name+"_bucket"], out[name+"_sum"], out[name+"_count"] = of, of, of
			}
		}
	}
	return out
}

// must ends the test at an error of its set-up.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
