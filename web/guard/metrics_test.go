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
	expect.Equal(t, far.Do("GET", "/metrics", webtest.As("prometheus", auth.Viewer)).Code, http.StatusOK, "exposed, by a viewer")
	expect.Equal(t, far.Do("GET", "/healthz").Code, http.StatusOK, "health")
}
