package locate_test

import (
	"net/http"
	"net/url"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer/locating"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// keyQuestions are namespaces with shard-key values of every form of answer:
// one chunk by hash or range, with zone and jumbo flag, several shards,
// unsharded, and names and values that JSON must escape.
var keyQuestions = [][2]string{
	{"yorkie-meta.changes", `{"doc_id":{"$oid":"65e000000000000000000001"}}`},
	{"yorkie-meta.changes", ` {"$oid":"65e000000000000000000001"}`},
	{"yorkie-meta.documents", `{"project_id":{"$oid":"65e000000000000000000003"}}`},
	{"yorkie-meta.documents", `{"project_id":{"$oid":"65e000000000000000000007"}}`},
	{"yorkie-meta.documents", `{"project_id":{"$minKey":1}}`},
	{"yorkie-meta.clients", `{"project_id":{"$oid":"65e000000000000000000003"}}`},
	{"yorkie-meta.clients", `{"project_id":{"$oid":"65e000000000000000000003"},"_id":{"$oid":"65e000000000000000000004"}}`},
	{"yorkie-meta.projects", `{"_id":1}`}, {"weird.a/b,c@1%2F ü", `{"name":"<b>&\u2028 \"quoted\" \\ ü\u0001"}`},
	{"weird.a/b,c@1%2F ü", `{"name":"plain"}`}, {"weird.a/b,c@1%2F ü", `{"name":{"$numberDouble":"NaN"}}`},
}

func keySite(t testing.TB) *webtest.Server {
	s := webtest.New(t)
	s.Watcher.Value.Collections = append(s.Watcher.Value.Collections[:1:1], append([]*topology.Collection{
		s.Watcher.Value.Collections[1],
		webtest.CannedCollection("yorkie-meta.clients", bson.D{{Key: "project_id", Value: 1}, {Key: "_id", Value: "hashed"}}, 1, 4),
	}, s.Watcher.Value.Collections[2:]...)...)
	s.Deps.Locate.Locator = realLocator(s)
	return s
}

func TestFastPathForKeysAnswersLikeTheGeneralOne(t *testing.T) {
	s := keySite(t)
	for _, q := range keyQuestions {
		address := "/api/v1/locate?" + url.Values{"ns": {q[0]}, "key": {q[1]}}.Encode()
		quick, general := s.Do("GET", address), s.Do("GET", address+"&any=1")
		if quick.Code != http.StatusOK || quick.Body.String() != general.Body.String() {
			t.Errorf("%s: %d %s\ngeneral: %d %s", address, quick.Code, quick.Body, general.Code, general.Body)
		}
		for _, name := range []string{"Content-Type", "Cache-Control", "Vary", "Etag"} {
			if got, want := quick.Header().Get(name), general.Header().Get(name); got != want {
				t.Errorf("%s: %s is %q, in general %q", address, name, got, want)
			}
		}
		answer, err := s.Deps.Locate.Locator.Ask(t.Context(), placement.Query{NS: topology.Namespace(q[0]), Key: q[1]})
		if err != nil || !locating.PlainKeyAnswer(answer) {
			t.Errorf("%s is not written by hand: %v", address, err)
		}
	}
}

func TestInvalidKeysFailLikeOtherInput(t *testing.T) {
	s := keySite(t)
	for _, q := range [][2]string{
		{"yorkie-meta.nothing", `{"a":1}`}, {"yorkie-meta.changes", `{"doc_id":{"$gt":1}}`}, {"yorkie-meta.changes",
			`{"a":1}`}, {"yorkie-meta.changes", `{`}, {"yorkie-meta.changes", ``},
	} {
		address := "/api/v1/locate?" + url.Values{"ns": {q[0]}, "key": {q[1]}}.Encode()
		same := webtest.Header("X-Request-ID", "same")
		quick, general := s.Do("GET", address, same), s.Do("GET", address+"&any=1", same)
		if quick.Code < 400 || quick.Code > 499 || quick.Body.String() != general.Body.String() {
			t.Errorf("%s: %d %s\ngeneral: %d %s", address, quick.Code, quick.Body, general.Code, general.Body)
		}
	}
}

func TestKeyAnswerIsCSVWhenAskedFor(t *testing.T) {
	s := keySite(t)
	w := s.Do("GET", keyAddress(1), webtest.Header("Accept", site.MediaCSV))
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") == locating.JSONType[0] {
		t.Errorf("%d %s: %s", w.Code, w.Header().Get("Content-Type"), w.Body)
	}
}
