package guard_test

import (
	"net/http"
	"testing"

	"shardboard/internal/auth"
	"shardboard/internal/fixture/expect"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

func TestMetricsAreForThisMachineOnly(t *testing.T) {
	near, far := webtest.New(t, webtest.WithPeople), webtest.New(t, webtest.WithPeople, func(d *site.Deps) { d.Access.Exposed = true })
	expect.Equal(t, near.Do("GET", "/metrics").Code, http.StatusOK, "loopback")
	expect.Equal(t, far.Do("GET", "/metrics").Code, http.StatusUnauthorized, "exposed")
	if w := far.Do("GET", "/metrics", webtest.As("prometheus", auth.Viewer)); w.Code != http.StatusOK {
		t.Errorf("exposed, by a viewer: %d", w.Code)
	}
	expect.Equal(t, far.Do("GET", "/healthz").Code, http.StatusOK, "health")
}
