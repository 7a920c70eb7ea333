package web_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/placement"
	"shardboard/web/webtest"
)

// internals is what no answer to a failure may hold: Go's types and traces,
// paths of files, the driver's words and the cluster's inner addresses.
var internals = regexp.MustCompile(
	`goroutine \d+|\.go:\d+|\*?(errors|fault|bson|mongo|topology|placement|http|json|url|strconv|context)\.[A-Z]\w+|runtime error|panic|/usr/|/home/|/root/|0x[0-9a-f]{6,}|nil pointer|invalid character|cannot unmarshal|strconv\.|parse "|topology: |server selection|connection\(|dial tcp|mongodb://|inner\.example`,
)

func TestErrorPagesHideInternalErrors(t *testing.T) {
	s := webtest.New(t)
	causes := []func() error{
		func() error {
			return errors.New("connection(inner.example:27017[-5]) socket was unexpectedly closed: EOF")
		},
		func() error { return fmt.Errorf("read: %w", context.DeadlineExceeded) },
		func() error { return fmt.Errorf("%s", debug.Stack()) },
		func() error { return []error{}[len(s.Log.String())] }, // out of range
		func() error { var d *bson.ObjectID; _ = d.Hex(); return nil },
		func() error { panic(errors.New("dial tcp inner.example: mongodb://u:p@inner.example")) },
	}
	for i, cause := range causes {
		s.Locator.Answer = func(placement.Query) ([]placement.Item, error) { return nil, cause() }
		for _, address := range []string{"/locate?q=x", "/api/v1/locate?q=x"} {
			w := s.Do("GET", address)
			if w.Code < 500 || internals.MatchString(w.Body.String()) {
				t.Errorf("cause %d at %s: %d, %q", i, address, w.Code, internals.FindString(w.Body.String()))
			}
		}
	}
}

func TestRefusalsHideInternalErrors(t *testing.T) {
	s := webtest.New(t)
	asks := []string{
		"/projects/%00",
		"/projects/zzz",
		"/projects?page=x",
		"/projects?page=99999999999999999999",
		"/?%zz",
		"/collections/a.b/chunks/!!",
		"/collections/yorkie-meta.changes?pos=x",
		"/api/v1/collections/yorkie-meta.changes/map?level=x",
		"/api/v1/collections/yorkie-meta.changes/map?level=99",
		"/api/v1/projects?cursor=%21",
		"/api/v1/projects?limit=-1",
		"/api/v1/locate?ns=x&key=%7B%7D%7D",
		"/api/v1/locate?ns=yorkie-meta.changes&key=%7B%22doc_id%22%3A%7B%22%24oid%22%3A%22x%22%7D%7D",
		"/api/v1/collections/yorkie-meta.changes/chunks?key=%5B",
		"/live?t=%25zz",
		"/layout?layout=x",
	}
	for _, p := range payloads(t) {
		asks = append(asks, "/api/v1/"+url.PathEscape(p))
	}
	for _, address := range asks {
		w := s.Do("GET", address)
		if w.Code < 400 || w.Code >= 500 && w.Code != http.StatusNotImplemented || internals.MatchString(w.Body.String()) {
			t.Errorf("%s: %d %q", address, w.Code, internals.FindString(w.Body.String()))
		}
	}
	for _, text := range []string{"", "{", "[]", `{"lines":1}`, `{"lines":["a"],"more":1}`, "\xff", "null", `{"lines":[` +
		strings.Repeat("[", 10_000), strings.Repeat(`{"lines":`, 10_000)} {
		for _, address := range []string{"/api/v1/locate", "/api/v1/checks/duplicates"} {
			w := s.Do("POST", address, webtest.Header("Content-Type", "application/json"), webtest.Body(text))
			if w.Code >= 500 && w.Code != http.StatusServiceUnavailable || internals.MatchString(w.Body.String()) {
				t.Errorf("%s with %.20q: %d %q", address, text, w.Code, internals.FindString(w.Body.String()))
			}
		}
	}
}
