package changes_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"shardboard/internal/auth"
	"shardboard/internal/simcluster"
	"shardboard/web/webtest"
)

// A link to a plan that was removed says what became of it.
func TestRemovedPlanIsNotFoundWithItsReason(t *testing.T) {
	webtest.OnBreakableCluster(t, simcluster.Options{Projects: 2, Documents: 10, Still: true}, func(f *webtest.BreakableServer) {
		p := f.Plan("anna", webtest.SplitAt(1))
		if n, err := f.DB.DropPlans(f.Context(), time.Now().Add(time.Minute), 10); err != nil || n != 1 {
			f.Fatal(n, err)
		}
		for path, says := range map[string]string{"/plans/" + p.ID: "never run and was removed after 30 days",
			"/plans/" + strings.Repeat("a", 26): "no such plan"} {
			for prefix, accept := range map[string]string{"": "text/html", "/api/v1": "application/json"} {
				if w := f.Do("GET", prefix+path, webtest.As("anna", auth.Operator), webtest.Header("Accept", accept)); w.Code != http.StatusNotFound ||
					!strings.Contains(w.Body.String(), says) {
					f.Errorf("%s%s: %d %s", prefix, path, w.Code, w.Body)
				}
			}
		}
	})
}
