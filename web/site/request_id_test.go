package site_test

import (
	"errors"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/placement"
	"shardboard/web/webtest"
)

// The id of a request is the same in the answer, on the page, in the problem and in each line of the log. One that
// could be more than a name is not taken.
func TestRequestsHaveIDs(t *testing.T) {
	made := regexp.MustCompile(`^[A-Z2-7]{26}$`)
	for sent, taken := range map[string]bool{
		"5e1f-77": true, "Root=1-67891233-abcdef012345678912345678": true, "a/b+c=": true, strings.Repeat("x", 128): true,
		"": false, strings.Repeat("x", 129): false, "a b": false, "a\u202eb": false, `a"b`: false, "<b>": false, "-rf": false, "a,b": false,
		"é": false, "a\x00": false, "a\r\nX-Evil: 1": false,
	} {
		s := webtest.New(t)
		s.Locator.Answer = func(placement.Query) ([]placement.Item, error) { return nil, errors.New("it broke") }
		w := s.Do("GET", "/api/v1/locate?q=x", webtest.Header("X-Request-ID", sent))
		id := w.Header().Get("X-Request-ID")
		expect.That(t, (!taken || id == sent) && (taken || made.MatchString(id)) && len(w.Header().Values("X-Request-ID")) == 1,
			"%q becomes %q", sent, id)
		expect.Contains(t, w.Body.String(), `"request":"`+id+`"`, "the problem after %q", sent)
		lines := strings.Split(strings.TrimSpace(s.Log.String()), "\n")
		for _, line := range lines {
			expect.That(t, strings.HasSuffix(line, "request="+id) || strings.HasSuffix(line, `request="`+id+`"`),
				"%q: the log has the line %s", sent, line)
		}
		expect.That(t, len(lines) >= 2, "%q: %d lines", sent, len(lines))
	}
	s := webtest.New(t)
	two := func(r *http.Request) { r.Header["X-Request-Id"] = []string{"a", "b"} }
	if w := s.Do("GET", "/nothing", two); !made.MatchString(w.Header().Get("X-Request-ID")) ||
		!strings.Contains(w.Body.String(), "<code>"+w.Header().Get("X-Request-ID")+"</code>") {
		t.Errorf("the page of an error: %v %s", w.Header(), w.Body)
	}
	if w := s.Do("GET", "/zones"); strings.Contains(w.Body.String(), w.Header().Get("X-Request-ID")) {
		t.Error("a page that can be shown has the id of its request")
	}
	w := s.Do("GET", "/", func(r *http.Request) { r.Host = "evil.example" })
	expect.That(t, made.MatchString(w.Header().Get("X-Request-ID")), "a refusal has the headers %v", w.Header())
}

func TestEachRequestIsLoggedWithTheAddressOfItsClient(t *testing.T) {
	door := webtest.NewAccountServer(t)
	door.Ask(door.Handler(), "GET", "/zones", door.With("viewer"))
	door.Ask(door.Handler(), "GET", "/nothing")
	for line := range strings.Lines(door.Log.String()) {
		expect.That(t, !strings.Contains(line, "msg=request ") || strings.Contains(line, " from=192.0.2.1 "), "no address in %q", line)
	}
}

// A file of another release is asked for again, as the description says; one that no release has is not there.
func TestFilesOfAnotherReleaseAreAskedForAgain(t *testing.T) {
	s := webtest.New(t)
	w := s.Do("GET", "/static/app.0123456789ab.css")
	expect.That(t, w.Code == http.StatusTemporaryRedirect && w.Header().Get("Location") == "/static/app.0123456789ab.css?again=1",
		"%d %v", w.Code, w.Header())
	expect.Equal(t, s.Do("GET", "/static/none.0123456789ab.css").Code, http.StatusNotFound, "status")
}
