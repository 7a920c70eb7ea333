package prometheus

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
)

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
