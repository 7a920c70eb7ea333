package static

import (
	"strings"
	"testing"
)

// scriptBudget is how many bytes all scripts together may have as they are served: minified and compressed.
// A phone on a slow line loads them once.
const scriptBudget = 60_000

func TestScriptsStayWithinTheirBudget(t *testing.T) {
	total, scripts := 0, 0
	for _, a := range Assets() {
		if !strings.HasPrefix(a.Name, "js/") {
			continue
		}
		scripts++
		if a.Gzip == nil {
			total += len(a.Body)
			continue
		}
		total += len(a.Gzip)
	}
	t.Logf("%d scripts have %d bytes, of %d", scripts, total, scriptBudget)
	if scripts < 40 || total > scriptBudget {
		t.Errorf("%d scripts have %d bytes compressed, at most %d", scripts, total, scriptBudget)
	}
}
