package guard_test

import (
	"net/http"
	"testing"

	"shardboard/internal/auth"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

func TestMetricsAreForThisMachineOnly(t *testing.T) {
	near, far := webtest.New(t, webtest.WithPeople), webtest.New(t, webtest.WithPeople, func(d *site.Deps) { d.Access.Exposed = true })
	if w := near.Do("GET", "/metrics"); w.Code != http.StatusOK {
		t.Errorf("loopback: %d", w.Code)
	}
	if w := far.Do("GET", "/metrics"); w.Code != http.StatusUnauthorized {
		t.Errorf("exposed: %d", w.Code)
	}
	if w := far.Do("GET", "/metrics", webtest.As("prometheus", auth.Viewer)); w.Code != http.StatusOK {
		t.Errorf("exposed, by a viewer: %d", w.Code)
	}
	if w := far.Do("GET", "/healthz"); w.Code != http.StatusOK {
		t.Errorf("health: %d", w.Code)
	}
}
