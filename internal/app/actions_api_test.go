package app

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// apiClient uses the API like a script that was written from the API's description
// alone: it has maps and strings, and none of our types.
type apiClient struct {
	*testing.T
	at    string
	token string
}

type answer = map[string]any

func (s apiClient) send(method, path, body string) (int, answer) {
	s.Helper()
	req := must.Get(http.NewRequestWithContext(s.Context(), method, s.at+path, strings.NewReader(body)))
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if s.token != "" {
		req.Header.Set("Authorization", "Bearer "+s.token)
	}
	res, err := http.DefaultClient.Do(req)
	must.Do(s, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	must.Do(s, err)
	var got answer
	err = json.Unmarshal(text, &got)
	must.That(s, err == nil, "%s %s: %s, %v\n%s", method, path, res.Status, err, text)
	kind := res.Header.Get("Content-Type")
	if res.StatusCode >= 400 {
		detail, _ := got["detail"].(string)
		expect.That(s, kind == "application/problem+json" && detail != "" && got["status"] == float64(res.StatusCode) && got["title"] != "",
			"%s %s: %s as %s\n%s", method, path, res.Status, kind, text)
	} else if !strings.HasPrefix(kind, "application/json") {
		s.Errorf("%s %s: %s as %s", method, path, res.Status, kind)
	}
	return res.StatusCode, got
}

// expect sends a request and ends the test if the status differs.
func (s apiClient) expect(status int, method, path, body string) answer {
	s.Helper()
	code, got := s.send(method, path, body)
	must.That(s, code == status, "%s %s %s: %d, want %d: %v", method, path, body, code, status, got)
	return got
}

func (s apiClient) plan(kind, args string) answer {
	s.Helper()
	return s.expect(201, "POST", "/plans", `{"kind":"`+kind+`","args":`+args+`,"reason":"test"}`)
}

func (s apiClient) run(status int, plan answer, more string) answer {
	s.Helper()
	return s.expect(status, "POST", "/plans/"+plan["id"].(string)+"/run", `{"hash":"`+plan["hash"].(string)+`"`+more+`}`)
}

// waitForRun reads a run until it has ended.
func (s apiClient) waitForRun(run answer) (got answer) {
	s.Helper()
	must.That(s, eventually(settledWithin, func() bool {
		got = s.expect(200, "GET", "/runs/"+run["id"].(string), "")
		return got["endedAt"] != nil
	}), "the run does not end: %v", got)
	return got
}

// first is the first item of a list.
func (s apiClient) first(path string) answer {
	s.Helper()
	items := asList(s.expect(200, "GET", path+"?limit=1", "")["items"])
	must.That(s, len(items) != 0, "%s is empty", path)
	return items[0].(answer)
}

// as reads a part of an answer as a type of ours.
func as[T any](t testing.TB, v any) (out T) {
	t.Helper()
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	must.Do(t, err)
	return out
}

func asList(v any) []any {
	l, _ := v.([]any)
	return l
}

func hashedKey(n int64) string { return fmt.Sprintf(`{"doc_id":{"$numberLong":"%d"}}`, n) }
