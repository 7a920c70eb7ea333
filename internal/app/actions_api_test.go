package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/api"
	"shardboard/internal/topology"
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
	req, err := http.NewRequestWithContext(s.Context(), method, s.at+path, strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if s.token != "" {
		req.Header.Set("Authorization", "Bearer "+s.token)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		s.Fatal(err)
	}
	var got answer
	if err := json.Unmarshal(text, &got); err != nil {
		s.Fatalf("%s %s: %s, %v\n%s", method, path, res.Status, err, text)
	}
	kind := res.Header.Get("Content-Type")
	if res.StatusCode >= 400 {
		if detail, _ := got["detail"].(string); kind != "application/problem+json" || detail == "" || got["status"] != float64(res.StatusCode) ||
			got["title"] == "" {
			s.Errorf("%s %s: %s as %s\n%s", method, path, res.Status, kind, text)
		}
	} else if !strings.HasPrefix(kind, "application/json") {
		s.Errorf("%s %s: %s as %s", method, path, res.Status, kind)
	}
	return res.StatusCode, got
}

// expect sends a request and ends the test if the status differs.
func (s apiClient) expect(status int, method, path, body string) answer {
	s.Helper()
	code, got := s.send(method, path, body)
	if code != status {
		s.Fatalf("%s %s %s: %d, want %d: %v", method, path, body, code, status, got)
	}
	return got
}

func (s apiClient) checkFields(got answer, names string) {
	s.Helper()
	for name := range strings.FieldsSeq(names) {
		if _, there := got[name]; !there {
			s.Errorf("no %q among %v", name, slices.Sorted(maps.Keys(got)))
		}
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
	if !eventually(settledWithin, func() bool {
		got = s.expect(200, "GET", "/runs/"+run["id"].(string), "")
		return got["endedAt"] != nil
	}) {
		s.Fatalf("the run does not end: %v", got)
	}
	return got
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
	if testing.Short() {
		t.Skip("starts a whole demo")
	}
	d := startWithActions(t, quietCluster())
	s := apiClient{T: t, at: strings.TrimRight(d.app.URL(), "/") + api.Prefix}
	project := asList(s.expect(200, "GET", "/projects?limit=1", "")["items"])[0].(answer)["id"].(string)
	plan := s.plan("split", `{"ns":"yorkie-meta.documents","at":{"project_id":{"$oid":"`+project+`"}}}`)
	s.checkFields(plan, "id hash kind args summary commands preconditions checks effect undo risk confirm expiresAt")
	if plan["confirm"] != nil || plan["kind"] != "split" || len(asList(plan["commands"])) != 1 || len(asList(plan["preconditions"])) == 0 {
		t.Errorf("unexpected plan: %v", plan)
	}
	for _, c := range asList(plan["checks"]) {
		check := c.(answer)
		s.checkFields(check, "id verdict text")
		if !slices.Contains([]any{"pass", "warn", "block"}, check["verdict"]) || check["text"] == "" {
			t.Errorf("unexpected check: %v", check)
		}
	}
	if again := s.expect(200, "GET", "/plans/"+plan["id"].(string), ""); fmt.Sprint(again) != fmt.Sprint(plan) {
		t.Errorf("the plan differs when it is read again:\n%v\n%v", plan, again)
	}
	if d.countChanges() != 0 {
		t.Error("making a plan changed the cluster")
	}
	run := s.run(202, plan, "")
	s.checkFields(run, "id plan state steps startedAt endedAt by reason")
	for _, confirm := range []string{"", `,"confirm":null`, `,"confirm":""`} {
		if again := s.run(200, plan, confirm); again["id"] != run["id"] {
			t.Errorf("repeating the request with %q started another run", confirm)
		}
	}
	done := s.waitForRun(run)
	step := asList(done["steps"])[0].(answer)
	s.checkFields(step, "command state proof error")
	if done["state"] != "succeeded" || step["state"] != "succeeded" || len(asList(step["proof"])) == 0 || step["error"] != "" {
		t.Errorf("unexpected run: %v", done)
	}
	if stopped := s.expect(200, "POST", "/runs/"+run["id"].(string)+"/stop", ""); stopped["state"] != "succeeded" {
		t.Errorf("stopping a run that has ended made it %v", stopped["state"])
	}
	back := s.expect(201, "POST", "/runs/"+run["id"].(string)+"/undo", `{"reason":"it did not help"}`)
	if back["undoOf"] != run["id"] || back["id"] == plan["id"] {
		t.Errorf("unexpected undo: %v", back)
	}
	if end := s.waitForRun(s.run(202, back, "")); end["state"] != "succeeded" {
		t.Errorf("unexpected run: %v", end)
	}
	if first := s.waitForRun(run); first["state"] != "undone" {
		t.Errorf("the first run is %v", first["state"])
	}
	s.expect(409, "POST", "/runs/"+run["id"].(string)+"/undo", "")
	if n := d.countChanges(); n != 2 {
		t.Errorf("the cluster got %d commands for a split and its undo", n)
	}
	if all := asList(s.expect(200, "GET", "/runs?limit=1", "")["items"]); len(all) != 1 {
		t.Errorf("unexpected runs: %v", all)
	}
}

func TestFiftyIdenticalRequestsStartOneRun(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a whole demo")
	}
	d := startWithActions(t, quietCluster())
	s := apiClient{T: t, at: strings.TrimRight(d.app.URL(), "/") + api.Prefix}
	plan := s.plan("split", `{"ns":"yorkie-meta.changes","at":`+hashedKey(5)+`}`)
	body := []byte(`{"hash":"` + plan["hash"].(string) + `"}`)
	var wg sync.WaitGroup
	var mu sync.Mutex
	statuses, runs := map[int]int{}, map[string]bool{}
	for range 50 {
		wg.Go(func() {
			res, err := http.Post(s.at+"/plans/"+plan["id"].(string)+"/run", "application/json", bytes.NewReader(body))
			if err != nil {
				t.Error(err)
				return
			}
			defer res.Body.Close()
			var run struct{ ID string }
			if err := json.NewDecoder(res.Body).Decode(&run); err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			statuses[res.StatusCode]++
			runs[run.ID] = true
		})
	}
	wg.Wait()
	if statuses[202] != 1 || statuses[200] != 49 || len(runs) != 1 {
		t.Errorf("statuses %v, runs %v, expected one run", statuses, runs)
	}
	for id := range runs {
		s.waitForRun(answer{"id": id})
	}
	if n := d.countChanges(); n != 1 {
		t.Errorf("the cluster got %d commands", n)
	}
}

func TestRefusedRunsNameTheChangeOrTheBlockingCheck(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a whole demo")
	}
	d := startWithActions(t, quietCluster())
	s := apiClient{T: t, at: strings.TrimRight(d.app.URL(), "/") + api.Prefix}

	changed := s.plan("split", `{"ns":"yorkie-meta.changes","at":`+hashedKey(7)+`}`)
	to := d.moveFirstChunk(t) // another client changes the same collection
	d.waitForTable(t, "the move to show", func(table *topology.Table) bool {
		c := table.Collection("yorkie-meta.changes")
		return c.Chunks.At(0).Shard == to
	})
	d.admin(t, bson.D{{Key: "split", Value: "yorkie-meta.changes"}, {Key: "middle", Value: bson.D{{Key: "doc_id", Value: int64(8)}}}})
	got := s.run(409, changed, "")
	if len(asList(got["changed"])) == 0 {
		t.Errorf("status 409 does not say what changed: %v", got)
	}
	for _, c := range asList(got["changed"]) {
		s.checkFields(c.(answer), "kind field want got text")
	}

	blocked := s.plan("zone-remove-shard", `{"shard":"shard-rs-1","zone":"nowhere"}`)
	if blocked["blocked"] != true {
		t.Errorf("unexpected plan: %v", blocked)
	}
	before := d.countChanges()
	got = s.run(422, blocked, "")
	checks := asList(got["checks"])
	if len(checks) == 0 {
		t.Fatalf("status 422 does not list the checks: %v", got)
	}
	s.checkFields(checks[0].(answer), "id verdict text")
	if checks[0].(answer)["verdict"] != "block" {
		t.Errorf("unexpected checks: %v", checks)
	}
	if n := d.countChanges(); n != before {
		t.Errorf("%d commands were sent", n-before)
	}
}

func TestAnotherUsersPlanCannotBeRun(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a whole demo")
	}
	d := startDemo(t, quietCluster(), topology.Options{})
	server, tokens := d.startWithSignIn(t, "operator", "operator", "viewer")
	a := apiClient{T: t, at: server + api.Prefix, token: tokens[0]}
	b, viewer, nobody := a, a, a
	b.token, viewer.token, nobody.token = tokens[1], tokens[2], ""
	plan := a.plan("split", `{"ns":"yorkie-meta.changes","at":`+hashedKey(5)+`}`)
	b.run(409, plan, "")
	viewer.run(403, plan, "")
	nobody.run(401, plan, "")
	viewer.expect(403, "POST", "/plans", `{"kind":"balancer-on","reason":"x"}`)
	run := a.run(202, plan, "")
	b.run(409, plan, "")
	a.waitForRun(run)
	if got := viewer.expect(200, "GET", "/runs/"+run["id"].(string), ""); got["state"] != "succeeded" {
		t.Errorf("unexpected answer: %v", got)
	}
	viewer.expect(403, "POST", "/runs/"+run["id"].(string)+"/undo", "")
	if n := d.countChanges(); n != 1 {
		t.Errorf("%d commands were sent", n)
	}
}

func TestInvalidActionRequestsAreExplainedAndSendNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a whole demo")
	}
	t.Parallel() // it waits some seconds for the poll that finds the zones
	d := startWithActions(t, quietCluster())
	s := apiClient{T: t, at: strings.TrimRight(d.app.URL(), "/") + api.Prefix}
	chunk := asList(s.expect(200, "GET", "/collections/yorkie-meta.changes/chunks?limit=1", "")["items"])[0].(answer)["ref"].(string)
	project := asList(s.expect(200, "GET", "/projects?limit=1", "")["items"])[0].(answer)["id"].(string)
	wide := s.plan("isolate", `{"project":"`+project+`","shard":"shard-rs-3"}`)
	gone := strings.Repeat("a", 26)
	for _, tc := range []struct {
		status     int
		path, body string
		says       string
	}{
		{400, "/plans", `{"kind":"balancer-on"}`, "reason"},
		{400, "/plans", `{"kind":"balancer-on","reason":"  "}`, "reason"},
		{400, "/plans", `{"kind":"balancer-on","reason":"` + strings.Repeat("x", 501) + `"}`, "too long"},
		{400, "/plans", `{"kind":"explode","reason":"x"}`, "explode"},
		{400, "/plans", `{"reason":"x"}`, "kind"},
		{400, "/plans", `{"kind":"balancer-on","args":{"ns":"a.b"},"reason":"x"}`, `"ns"`},
		{400, "/plans", `{"kind":"balancer-on","args":{"shards":"a.b"},"reason":"x"}`, "shards"},
		{400, "/plans", `{"kind":"balancer-on","args":[],"reason":"x"}`, "args"},
		{400, "/plans", `{"kind":"balancer-on","why":"x"}`, "JSON"},
		{400, "/plans", `{"kind":`, "JSON"},
		{400, "/plans", `[]`, "JSON"},
		{404, "/plans", `{"kind":"split","args":{"ns":"no.such","at":` + hashedKey(1) + `},"reason":"x"}`, "no.such"},
		{404, "/plans", `{"kind":"move","args":{"ns":"yorkie-meta.changes","chunk":"` + chunk + `","to":"shard-rs-9"},"reason":"x"}`,
			"shard-rs-9"},
		{400, "/plans", `{"kind":"move","args":{"ns":"yorkie-meta.changes","chunk":"nonsense","to":"shard-rs-2"},"reason":"x"}`, "chunk"},
		{404, "/plans", `{"kind":"move","args":{"ns":"yorkie-meta.documents","chunk":"` + chunk + `","to":"shard-rs-2"},"reason":"x"}`, "chunk"},
		{404, "/plans", `{"kind":"move","args":{"ns":"yorkie-meta.changes","bounds":[` + hashedKey(1) + `,` + hashedKey(2) +
			`],"to":"shard-rs-2"},"reason":"x"}`, "bounds"},
		{400, "/plans", `{"kind":"move","args":{"ns":"yorkie-meta.changes","bounds":[` + hashedKey(2) + `,` + hashedKey(1) +
			`],"to":"shard-rs-2"},"reason":"x"}`, "before it begins"},
		{400, "/plans", `{"kind":"move","args":{"ns":"yorkie-meta.changes","bounds":[` + hashedKey(2) +
			`],"to":"shard-rs-2"},"reason":"x"}`, "bounds"},
		{400, "/plans", `{"kind":"split","args":{"ns":"yorkie-meta.documents","at":{"project_id":"text"}},"reason":"x"}`, "ObjectID"},
		{400, "/plans", `{"kind":"split","args":{"ns":"yorkie-meta.documents","at":{"other":1}},"reason":"x"}`, `"at"`},
		{400, "/plans", `{"kind":"split","args":{"ns":"yorkie-meta.documents","at":{"project_id":{"$gt":1}}},"reason":"x"}`, `"at"`},
		{400, "/plans", `{"kind":"split","args":{"ns":"yorkie-meta.changes","chunk":"` + chunk + `","parts":-1},"reason":"x"}`, "parts"},
		{400, "/plans", `{"kind":"split","args":{"ns":"yorkie-meta.changes","chunk":"` + chunk + `","parts":"two"},"reason":"x"}`, "parts"},
		{404, "/plans", `{"kind":"pin","args":{"project":"nobody","shard":"shard-rs-1"},"reason":"x"}`, "nobody"},
		{400, "/plans", `{"kind":"pin","args":{"project":"` + project + `","shard":"shard-rs-1","expires":"soon"},"reason":"x"}`, "expires"},
		{404, "/plans/" + gone + "/run", `{"hash":"x"}`, "plan"},
		{404, "/plans/x/run", `{"hash":"x"}`, "plan"},
		{404, "/runs/" + gone + "/stop", ``, "run"},
		{404, "/runs/" + gone + "/undo", ``, "run"},
		{409, "/plans/" + wide["id"].(string) + "/run", `{"hash":"0000","confirm":"x"}`, "hash"},
		{409, "/plans/" + wide["id"].(string) + "/run", ``, "hash"},
		{400, "/plans/" + wide["id"].(string) + "/run", `{"hash":"` + wide["hash"].(string) + `"}`, "confirmation"},
		{400, "/plans/" + wide["id"].(string) + "/run", `{"hash":"` + wide["hash"].(string) + `","confirm":""}`, "confirmation"},
		{400, "/plans/" + wide["id"].(string) + "/run", `{"hash":"` + wide["hash"].(string) + `","confirm":"` + project[:8] + `"}`,
			"confirmation"},
		{400, "/plans/" + wide["id"].(string) + "/run", `{"hash":"` + wide["hash"].(string) + `","confirm":7}`, "JSON"},
	} {
		code, got := s.send("POST", tc.path, tc.body)
		if detail, _ := got["detail"].(string); code != tc.status || !strings.Contains(detail, tc.says) {
			t.Errorf("POST %s %.120s: %d %q, want %d and %q", tc.path, tc.body, code, got["detail"], tc.status, tc.says)
		}
	}
	for path, status := range map[string]int{"/plans/" + gone: 404, "/runs/" + gone: 404, "/runs/x": 404, "/plans": 405,
		"/plans/" + gone + "/run": 405, "/runs?limit=0": 400, "/runs?cursor=%00": 400} {
		if code, got := s.send("GET", path, ""); code != status {
			t.Errorf("GET %s: %d %v, want %d", path, code, got, status)
		}
	}
	// A zone range that overlaps another one can be planned and shown, but not run.
	overlap := `{"ns":"yorkie-meta.documents","zone":"%s","min":{"project_id":{"$minKey":1}},"max":{"project_id":{"$oid":"%s"}}}`
	d.admin(t, bson.D{{Key: "addShardToZone", Value: "shard-rs-1"}, {Key: "zone", Value: "eu"}})
	d.admin(t, bson.D{{Key: "addShardToZone", Value: "shard-rs-1"}, {Key: "zone", Value: "us"}})
	d.admin(
		t,
		bson.D{
			{Key: "updateZoneKeyRange", Value: "yorkie-meta.documents"},
			{Key: "min", Value: bson.D{{Key: "project_id", Value: bson.MinKey{}}}},
			{Key: "max", Value: bson.D{{Key: "project_id", Value: bson.MaxKey{}}}},
			{Key: "zone", Value: "eu"},
		},
	)
	d.waitForTable(t, "the range to show", func(table *topology.Table) bool {
		return len(table.Zones) == 1 && len(table.Shard("shard-rs-1").Zones) == 2
	})
	before := d.countChanges()
	plan := s.plan("zone-set-range", fmt.Sprintf(overlap, "us", project))
	if got := s.run(422, plan, ""); !strings.Contains(fmt.Sprint(got["checks"]), "eu") {
		t.Errorf("unexpected answer: %v", got)
	}
	if n := d.countChanges(); n != before || before != 3 {
		t.Errorf("%d commands were sent", n-3)
	}
}
