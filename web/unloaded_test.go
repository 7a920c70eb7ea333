package web_test

import (
	"net/http"
	"testing"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// While a server that was started again reads the table, an open page asks for itself: it must not be told that what it
// shows does not exist, because it shows that for good.
func TestNothingIsMissingBeforeTheTableIsLoaded(t *testing.T) {
	unread := &webtest.StubWatcher{}
	unread.Value = &topology.Table{}
	s := webtest.New(t, func(d *site.Deps) { d.Cluster.Watcher = unread })
	for _, path := range []string{"/collections/yorkie-meta.changes", "/collections/yorkie-meta.changes/owners",
		"/shards/shard-rs-1", "/shards/shard-rs-1/why"} {
		expect.Equal(t, s.Do("GET", path).Code, http.StatusServiceUnavailable, "%s", path)
	}
}
