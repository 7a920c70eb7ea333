package web_test

import (
	"net/http"
	"strings"
	"testing"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/topology"
	"shardboard/web/webtest"
)

func TestAFailedPageOffersNoCSV(t *testing.T) {
	s := webtest.New(t)
	for address, status := range map[string]int{"/shards/nope": 404, "/zones?at=x": 400, "/runs?state=x": 400, "/zones": 200} {
		w := s.Do("GET", address)
		if w.Code != status || strings.Contains(w.Body.String(), ".csv") != (status == 200) {
			t.Errorf("%s: %d, want %d and a link to CSV only if 200", address, w.Code, status)
		}
	}
}

func TestShardNamesWithDotsHaveCSVToo(t *testing.T) {
	s := webtest.New(t)
	table := *s.Watcher.Get()
	table.Shards = append(table.Shards[:0:0], topology.Shard{Name: "rs.1"}, topology.Shard{Name: "rs.2.csv"})
	s.Watcher.Publish(&table)
	for address, media := range map[string]string{"/shards/rs.1": "text/html", "/shards/rs.1.csv": "text/csv",
		"/shards/rs.2.csv": "text/html", "/shards/rs.2.csv.csv": "text/csv", "/shards/rs.2.csv?format=csv": "text/csv",
		"/shards/rs.2.csv?format=json": "application/json", "/zones?format=json": "application/json", "/zones?format=csv": "text/csv",
		"/api/v1/shards?format=csv": "text/csv", "/api/v1/shards/rs.2.csv?format=csv": "text/csv"} {
		if w := s.Do("GET", address); w.Code != 200 || !strings.HasPrefix(w.Header().Get("Content-Type"), media) {
			t.Errorf("%s: %d %s", address, w.Code, w.Header().Get("Content-Type"))
		} else if media == "text/html" && !strings.Contains(w.Body.String(), `href="`+address+`?format=csv" download`) {
			t.Errorf("%s has no link to its file", address)
		}
	}
	for _, address := range []string{"/zones?format=xml", "/api/v1/cluster?format=csv", "/shards/rs.1?format=x"} {
		expect.Equal(t, s.Do("GET", address).Code, http.StatusBadRequest, "%s", address)
	}
}
