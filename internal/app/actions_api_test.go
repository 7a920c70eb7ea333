package app

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/only"
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

func (s apiClient) checkFields(got answer, names string) {
	s.Helper()
	for name := range strings.FieldsSeq(names) {
		_, there := got[name]
		expect.That(s, there, "no %q among %v", name, slices.Sorted(maps.Keys(got)))
	}
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

// countChanges counts the commands received by the cluster that change it.
func (d *demo) countChanges() (n int) {
	for _, name := range []string{"split", "mergeChunks", "moveChunk", "moveRange", "addShardToZone", "removeShardFromZone",
		"updateZoneKeyRange",
		"balancerStart", "balancerStop", "configureCollectionBalancing", "clearJumboFlag", "refineCollectionShardKey"} {
		n += len(d.sim.Faults().Seen(name))
	}
	return n
}

func hashedKey(n int64) string { return fmt.Sprintf(`{"doc_id":{"$numberLong":"%d"}}`, n) }

func TestAnAPIClientPlansRunsStopsAndUndoes(t *testing.T) {
	only.Long(t, "starts a whole demo")
	d := startWithActions(t, quietCluster())
	s := apiClient{T: t, at: strings.TrimRight(d.app.URL(), "/") + api.Prefix}
	project := s.first("/projects")["id"].(string)
	plan := s.plan("split", `{"ns":"yorkie-meta.documents","at":{"project_id":{"$oid":"`+project+`"}}}`)
	s.checkFields(plan, "id hash kind args summary commands preconditions checks effect undo risk confirm expiresAt")
	if plan["confirm"] != nil || plan["kind"] != "split" || len(asList(plan["commands"])) != 1 || len(asList(plan["preconditions"])) == 0 {
		t.Errorf("unexpected plan: %v", plan)
	}
	for _, c := range asList(plan["checks"]) {
		check := c.(answer)
		s.checkFields(check, "id verdict text")
		expect.That(t, slices.Contains([]any{"pass", "warn", "block"}, check["verdict"]) && check["text"] != "",
			"unexpected check: %v", check)
	}
	again := s.expect(200, "GET", "/plans/"+plan["id"].(string), "")
	expect.Equal(t, fmt.Sprint(again), fmt.Sprint(plan), "the plan differs when it is read again:\n%v\n%v", plan, again)
	expect.Equal(t, d.countChanges(), 0, "making a plan changed the cluster")
	run := s.run(202, plan, "")
	s.checkFields(run, "id plan state steps startedAt endedAt by reason")
	for _, confirm := range []string{"", `,"confirm":null`, `,"confirm":""`} {
		expect.That(t, s.run(200, plan, confirm)["id"] == run["id"], "repeating the request with %q started another run", confirm)
	}
	done := s.waitForRun(run)
	step := asList(done["steps"])[0].(answer)
	s.checkFields(step, "command state proof error")
	expect.That(t, done["state"] == "succeeded" && step["state"] == "succeeded" && len(asList(step["proof"])) != 0 && step["error"] == "",
		"unexpected run: %v", done)
	stopped := s.expect(200, "POST", "/runs/"+run["id"].(string)+"/stop", "")
	expect.That(t, stopped["state"] == "succeeded", "stopping a run that has ended made it %v", stopped["state"])
	back := s.expect(201, "POST", "/runs/"+run["id"].(string)+"/undo", `{"reason":"it did not help"}`)
	expect.That(t, back["undoOf"] == run["id"] && back["id"] != plan["id"], "unexpected undo: %v", back)
	end := s.waitForRun(s.run(202, back, ""))
	expect.That(t, end["state"] == "succeeded", "unexpected run: %v", end)
	first := s.waitForRun(run)
	expect.That(t, first["state"] == "undone", "the first run is %v", first["state"])
	s.expect(409, "POST", "/runs/"+run["id"].(string)+"/undo", "")
	n := d.countChanges()
	expect.That(t, n == 2, "the cluster got %d commands for a split and its undo", n)
	expect.Len(t, asList(s.expect(200, "GET", "/runs?limit=1", "")["items"]), 1, "unexpected runs")
}
