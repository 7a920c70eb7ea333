package collections_test

import (
	"net/http"
	"net/url"
	"slices"
	"testing"

	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/web/webtest"
)

// everyChunk reads the list of all chunks to its end.
func everyChunk(t *testing.T, s *webtest.Server, q url.Values) (out []api.CollectionChunk, last api.ClusterChunks) {
	t.Helper()
	for {
		last = webtest.Decode[api.ClusterChunks](t, s.Do("GET", "/api/v1/chunks?"+q.Encode()))
		out = append(out, last.Items...)
		if last.Next == "" {
			return out, last
		}
		q.Set("cursor", string(last.Next))
	}
}

func TestChunksOfAllCollectionsAreChosen(t *testing.T) {
	s := webtest.New(t)
	all, _ := everyChunk(t, s, url.Values{})
	on, _ := everyChunk(t, s, url.Values{"shard": {"shard-rs-1"}, "limit": {"2"}})
	n := 0
	for _, c := range all {
		if c.Shard == "shard-rs-1" {
			n++
		}
	}
	expect.That(t, len(on) == n && n != 0 && n != len(all), "%d chunks on shard-rs-1, want %d", len(on), n)
	id := webtest.ProjectID(5).Hex()
	of, last := everyChunk(t, s, url.Values{"project": {id}})
	detail := webtest.Decode[api.ProjectDetail](t, s.Do("GET", "/api/v1/projects/"+id))
	want := 0
	for _, c := range detail.Collections {
		if c.Basis == "keyPrefix" {
			want += c.ChunkCount
		} else if c.Basis == "byDocument" && !slices.Contains(last.ByDocument, c.NS) {
			t.Errorf("%s is placed by document, and not named: %v", c.NS, last.ByDocument)
		}
	}
	expect.That(t, len(of) == want && want != 0, "%d chunks of the project, want %d", len(of), want)
	for query, code := range map[string]int{
		"shard=nope": http.StatusNotFound, "zone=nope": http.StatusNotFound, "project=" + webtest.ProjectID(999).Hex(): http.StatusNotFound,
		"project=5": http.StatusBadRequest, "cursor=bm9uZQ": http.StatusBadRequest, "jumbo=maybe": http.StatusBadRequest,
		"limit=0": http.StatusBadRequest, "internal=2": http.StatusBadRequest,
	} {
		expect.Equal(t, s.Do("GET", "/api/v1/chunks?"+query).Code, code, "%s", query)
	}
}
