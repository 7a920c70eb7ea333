package prometheus

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// binary is the program: that of SHARDBOARD_BIN, or one that is built once.
var binary = sync.OnceValues(func() (string, error) {
	if bin := os.Getenv("SHARDBOARD_BIN"); bin != "" {
		return bin, nil
	}
	dir, err := os.MkdirTemp("", "shardboard")
	if err != nil {
		return "", err
	}
	built = dir
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "shardboard"), "./cmd/shardboard")
	build.Dir = root
	return filepath.Join(dir, "shardboard"), build.Run()
})

var built string

func TestMain(m *testing.M) {
	code := m.Run()
	if built != "" {
		_ = os.RemoveAll(built)
	}
	os.Exit(code)
}

// process is one of our programs, with the address that it printed first: of its pages, or of its cluster.
type process struct {
	cmd     *exec.Cmd
	address string
}

func start(t *testing.T, args ...string) *process {
	t.Helper()
	bin, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bin, args...)
	var log bytes.Buffer
	cmd.Stderr = &log
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGCONT)
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-ended
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%v: %s", args, log.Bytes()[max(0, log.Len()-4000):])
		}
	})
	in := bufio.NewScanner(out)
	for in.Scan() {
		line := strings.Fields(in.Text())
		at := slices.IndexFunc(line, func(word string) bool {
			return strings.HasPrefix(word, "http://") || strings.HasPrefix(word, "mongodb://")
		})
		if at < 0 {
			continue
		}
		go func() {
			defer close(ended)
			for in.Scan() { // so that it does not wait for a reader
			}
		}()
		return &process{cmd, strings.TrimSuffix(line[at], "/")}
	}
	close(ended)
	t.Fatalf("%v gives no address: %s", args, log.String())
	return nil
}

// signal stops the process as a machine that hangs does, or lets it go on.
func (p *process) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// longestScrape is how long /metrics may take whatever state the cluster is in: less than Prometheus' limit of 10 s,
// on a machine that does other things.
const longestScrape = 5 * time.Second

// read is the body of an address.
func (p *process) read(t *testing.T, path string, headers ...string) (string, http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.address+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := (&http.Client{Timeout: longestScrape}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: status %d, error %v", path, res.StatusCode, err)
	}
	return string(body), res.Header
}

// scrape is /metrics now.
func (p *process) scrape(t *testing.T) map[string]*dto.MetricFamily {
	t.Helper()
	body, _ := p.read(t, "/metrics")
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
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
