package web_test

import (
	"net/http"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/auth"
	"shardboard/internal/topology"
	"shardboard/web/webtest"
)

// TestLiveRegionsAreDrawnOncePerClass: however many browsers look, a region is
// drawn once for operators and once for those who do not see servers' texts.
func TestLiveRegionsAreDrawnOncePerClass(t *testing.T) {
	webtest.InBubble(t, func(t *testing.T, l *webtest.LiveServer) {
		next := webtest.CannedTable(7, 250)
		next.Events = failedWith(next.Events, "ConflictingOperationInProgress: see the log of host-canary")
		l.Watcher.Publish(next)
		var whole, brief []*webtest.Browser
		for range 4 {
			for _, who := range []string{"anna admin", "olga operator", "vera viewer", "sven support"} {
				b, res := l.OpenAs(who, "t=activity")
				if b == nil {
					t.Fatal(who, res)
				}
				if strings.HasSuffix(who, "admin") || strings.HasSuffix(who, "operator") {
					whole = append(whole, b)
				} else {
					brief = append(brief, b)
				}
			}
		}
		if text := l.Do("GET", "/metrics", webtest.As("anna", auth.Admin)).Body.String(); !strings.Contains(text,
			"\nshardboard_live_renders_total 2\n") {
			_, at, _ := strings.Cut(text, "\nshardboard_live_renders_total")
			t.Errorf("drawn %.4s times for two classes", at)
		}
		for i := range whole {
			w, b := whole[i].Last(t), brief[i].Last(t)
			if !strings.Contains(w.HTML, "host-canary") || strings.Contains(b.HTML, "host-canary") || !strings.Contains(b.HTML, "role operator") ||
				w.V == b.V {
				t.Errorf("operators are sent version %d, viewers %d with the text: %v, %v", w.V, b.V,
					strings.Contains(w.HTML, "host-canary"), strings.Contains(b.HTML, "host-canary"))
				return
			}
		}
	}, webtest.WithPeople)
}

// failedWith is a log with one move that failed with a text before the rest.
func failedWith(events []topology.Event, text string) []topology.Event {
	doc := webtest.Must(
		bson.Marshal(
			bson.D{
				{Key: "min", Value: bson.D{{Key: "x", Value: 1}}},
				{Key: "max", Value: bson.D{{Key: "x", Value: 2}}}, {Key: "from", Value: "shard-rs-1"},
				{Key: "to", Value: "shard-rs-2"}, {Key: "errmsg", Value: text},
			},
		),
	)
	return append(
		[]topology.Event{{ID: "failed", Time: webtest.Epoch, What: "moveChunk.error", NS: "app.things", Shard: "shard-rs-1", Details: doc}},
		events...)
}

// TestETagsOfRolesDiffer: an ETag is of one class, that of a page of one person.
func TestETagsOfRolesDiffer(t *testing.T) {
	s := webtest.New(t, webtest.WithPeople)
	for _, path := range []string{"/api/v1/activity", "/activity"} {
		tag := s.Do("GET", path, webtest.As("olga", auth.Operator)).Header().Get("ETag")
		same := map[bool]int{false: http.StatusOK, true: http.StatusNotModified}[path != "/activity"] // a page is of one person
		for who, want := range map[string]int{"viewer": http.StatusOK, "support": http.StatusOK, "operator": same, "admin": same} {
			if w := s.Do("GET", path, webtest.As("x", auth.Role(who)), webtest.Header("If-None-Match", tag)); tag == "" || w.Code != want {
				t.Errorf("%s: an operator's tag %q gives %s %d, want %d", path, tag, who, w.Code, want)
			}
		}
	}
}

// TestViewersSeeBoundsWithoutTheFlag, which are key values: docs say so.
func TestViewersSeeBoundsWithoutTheFlag(t *testing.T) {
	s := webtest.New(t, webtest.WithPeople)
	c := s.Watcher.Table().Collection(webtest.DocumentsNS)
	min := c.Chunks.At(1).Min
	for path, want := range map[string]string{"/collections/" + string(webtest.DocumentsNS): answer.BoundText(c.Key, min),
		"/api/v1/collections/" + string(webtest.DocumentsNS) + "/chunks": answer.ChunkRef(c, min)} {
		if body := s.Do("GET", path, webtest.As("vera", auth.Viewer)).Body.String(); !strings.Contains(body, want) ||
			strings.Contains(body, "hidden: needs") {
			t.Errorf("%s lacks %q", path, want)
		}
	}
}
