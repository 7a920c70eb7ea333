package app

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	answers "shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/topology"
)

// batchOfTwoMoves is the JSON of a plan whose second item waits for an hour.
func batchOfTwoMoves(t *testing.T, table *topology.Table) string {
	t.Helper()
	const ns = "yorkie-meta.changes"
	c := table.Collection(ns)
	if c == nil {
		t.Fatal("there is no " + ns)
	}
	var items []string
	for i := range 2 {
		ch := c.Chunks.At(i)
		to := table.Shards[0].Name
		if ch.Shard == to {
			to = table.Shards[1].Name
		}
		items = append(items, `{"kind":"move","args":{"ns":"`+ns+`","chunk":"`+answers.ChunkRef(c, ch.Min)+`","to":"`+to+`"}}`)
	}
	return `{"kind":"batch","args":{"chunksPerHour":1,"plans":[` + strings.Join(items, ",") + `]},"reason":"a test"}`
}

// batchOf reads how far a batch is.
func (s *replica) batchOf(got answer) api.RunBatch {
	s.Helper()
	text, err := json.Marshal(got["batch"])
	if err != nil {
		s.Fatal(err)
	}
	var b api.RunBatch
	if err := json.Unmarshal(text, &b); err != nil {
		s.Fatal(err)
	}
	return b
}

// A batch is paused and resumed at the replica that follows, as at the leader. When the leader is lost,
// the other replica goes on with it, paused as it was.
func TestABatchIsPausedAndResumedAtTheReplicaThatFollows(t *testing.T) {
	r := startReplicas(t)
	p := r.b.expect(http.StatusCreated, "POST", api.Prefix+"/plans", batchOfTwoMoves(t, r.b.app.Watcher().Table()))
	if blocked, _ := p["blocked"].(bool); blocked {
		t.Fatalf("%v", p["checks"])
	}
	id, _ := p["id"].(string)
	confirm, _ := json.Marshal(map[string]any{"hash": p["hash"], "confirm": p["confirm"]})
	run := r.b.expect(http.StatusAccepted, "POST", api.Prefix+"/plans/"+id+"/run", string(confirm))
	address := api.Prefix + "/runs/" + run["id"].(string)
	read := func() api.RunBatch { return r.b.batchOf(r.b.expect(http.StatusOK, "GET", address, "")) }
	if !eventually(20*time.Second, func() bool { b := read(); return b.Done == 1 && b.Waits != "" }) {
		t.Fatalf("%+v", read())
	}
	if b := r.b.batchOf(r.b.expect(http.StatusOK, "POST", address+"/pause", "")); !b.Paused {
		t.Errorf("%+v", b)
	}
	if b := r.b.batchOf(r.b.expect(http.StatusOK, "POST", address+"/resume", "")); b.Paused {
		t.Errorf("%+v", b)
	}
	refused := r.b.expect(http.StatusConflict, "POST", address+"/resume", `{"item":2,"do":"skip"}`)
	if text, _ := refused["detail"].(string); text != "Item 2 does not wait for a decision." {
		t.Errorf("%v", refused)
	}
	r.b.expect(http.StatusOK, "POST", address+"/pause", "")
	r.a.net.cut(true)
	if !eventually(15*time.Second, r.b.leads) {
		t.Fatal("nobody leads")
	}
	if !eventually(15*time.Second, func() bool {
		code, _ := r.b.send("POST", address+"/resume", "")
		return code == http.StatusOK
	}) {
		t.Fatal("the new leader does not resume it")
	}
	if b := read(); b.Paused || b.Done != 1 {
		t.Errorf("%+v", b)
	}
	r.b.expect(http.StatusOK, "POST", address+"/stop", "")
	if got := r.b.waitForRun(run["id"].(string)); got["state"] != "stopped" || r.b.batchOf(got).Done != 1 {
		t.Errorf("%v", got)
	}
	r.a.net.cut(false)
	r.verifyAudit(r.b)
}
