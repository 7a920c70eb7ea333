package app

import (
	"database/sql"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
)

const planBalancer = `{"kind":"balancer-on","args":{},"reason":"test"}`

// startWithData starts a dashboard with a data directory and without access control.
func (d *demo) startWithData(t *testing.T, dir string) (*App, apiClient) {
	t.Helper()
	a := d.startBeside(t, Config{Listen: "127.0.0.1:0", DataDir: dir, AuditKey: dir + "-key/audit.key", Actions: true,
		Auth: Auth{Mode: "none"}})
	s := apiClient{T: t, at: strings.TrimSuffix(a.URL(), "/")}
	must.That(t, eventually(settledWithin, func() bool { return statusOf(t, http.DefaultClient, s.at+"/readyz") == http.StatusOK }),
		"not ready after 30 s")
	return a, s
}

// startPage returns the start page, which must load.
func (s apiClient) startPage() string {
	s.Helper()
	res, err := http.Get(s.at + "/")
	if err != nil {
		s.Error(err)
		return ""
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	expect.That(s, err == nil && res.StatusCode == http.StatusOK, "%v %s\n%s", err, res.Status, text)
	return string(text)
}

// While the directory is lost, nothing is accepted and no other process becomes the
// owner of a new directory at its path. The server continues when it is back.
func TestALostDataDirectoryIsNoticedAtOnce(t *testing.T) {
	d := stillDemo()
	dir := filepath.Join(t.TempDir(), "data")
	_, s := d.startWithData(t, dir)
	s.expect(http.StatusCreated, "POST", "/api/v1/plans", planBalancer)
	must.Do(t, os.Rename(dir, dir+".away"))
	refused := s.expect(http.StatusServiceUnavailable, "POST", "/api/v1/plans", planBalancer)
	text, _ := refused["detail"].(string)
	expect.Contains(t, text, "was moved or deleted while shardboard was running", "the refusal of a plan says")
	got := statusOf(t, http.DefaultClient, s.at+"/readyz")
	expect.Equal(t, got, http.StatusServiceUnavailable, "the server is ready without its directory: status")
	expect.That(t, strings.Contains(s.startPage(), "Nothing can be stored: the data directory or a file in it was moved"),
		"the page does not show the loss")
	if got := s.expect(http.StatusOK, "GET", "/api/v1/data", ""); got["hold"] != string(store.Vanished) || got["writable"] != false {
		t.Errorf("unexpected answer: %v", got)
	}
	s.expect(http.StatusServiceUnavailable, "POST", "/api/v1/data/takeover", "")
	if second, err := New(t.Context(),
		Config{URI: d.config.URI, Log: d.config.Log, Listen: "127.0.0.1:0", DataDir: dir, Auth: Auth{Mode: "none"}}); err == nil {
		_ = second.Stop(t.Context())
		t.Error("a new directory has a second owner")
	} else if !strings.Contains(err.Error(), "still running with the data directory") {
		t.Error(err)
	}
	must.Do(t, os.Rename(dir+".away", dir))
	s.expect(http.StatusCreated, "POST", "/api/v1/plans", planBalancer)
	got = statusOf(t, http.DefaultClient, s.at+"/readyz")
	expect.Equal(t, got, http.StatusOK, "with its directory back the server is not ready: status")
}

// Two read-only servers are told to take over at the same moment. One of them takes over
// without cutting or refusing a request; the other reports that.
func TestAReadOnlyServerTakesOverWhenTheOwnerHasEnded(t *testing.T) {
	d := stillDemo()
	dir := filepath.Join(t.TempDir(), "data")
	owner, first := d.startWithData(t, dir)
	plan := first.expect(http.StatusCreated, "POST", "/api/v1/plans", planBalancer)
	var apps [2]*App
	var readers [2]apiClient
	for i := range readers {
		apps[i], readers[i] = d.startWithData(t, dir)
		readers[i].expect(http.StatusConflict, "POST", "/api/v1/data/takeover", "")
		readers[i].expect(http.StatusServiceUnavailable, "POST", "/api/v1/plans", planBalancer)
	}
	first.expect(http.StatusConflict, "POST", "/api/v1/data/takeover", "")
	first.expect(http.StatusCreated, "POST", "/api/v1/plans", planBalancer) // the owner still accepts plans
	must.Do(t, owner.Stop(t.Context()))
	for i, s := range readers {
		apps[i].current().db.Look() // which happens every two seconds anyway
		got := s.expect(http.StatusOK, "GET", "/api/v1/data", "")
		must.That(t, got["hold"] == string(store.OwnerGone), "a read-only server does not notice that the owner has ended: %v", got)
		expect.ContainsAll(t, s.startPage(), []string{"has stopped", `action="/data/takeover"`}, "the page does not offer the takeover")
	}

	var group, looking sync.WaitGroup
	var codes [2]int
	done := make(chan struct{})
	for i, s := range readers {
		group.Go(func() { codes[i], _ = s.send("POST", "/api/v1/data/takeover", "") })
		looking.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					s.startPage()
				}
			}
		})
	}
	group.Wait()
	close(done)
	looking.Wait()
	winner, loser := 0, 1
	if codes[1] == http.StatusOK {
		winner, loser = 1, 0
	}
	must.That(t, codes[winner] == http.StatusOK && codes[loser] == http.StatusConflict, "the two takeovers returned %v", codes)
	s := readers[winner]
	expect.That(t, !apps[winner].ReadOnly() && apps[loser].ReadOnly(), "there is not exactly one owner")
	got := s.expect(http.StatusOK, "GET", "/api/v1/data", "")
	expect.That(t, got["hold"] == string(store.Owned) && got["writable"] == true, "unexpected answer: %v", got)
	expect.LacksAll(t, s.startPage(), []string{"Read only", "/data/takeover"}, "the new owner's page still says that it is read-only")
	s.expect(http.StatusOK, "GET", "/api/v1/plans/"+plan["id"].(string), "")
	s.expect(http.StatusCreated, "POST", "/api/v1/plans", planBalancer)
	s.expect(http.StatusConflict, "POST", "/api/v1/data/takeover", "")
	record := s.expect(http.StatusOK, "GET", "/api/v1/audit?what=data.takeover", "")["items"].([]any)
	expect.That(t, len(record) == 1 && record[0].(answer)["by"] == "local", "the audit record has %v", record)
	c := apps[loser].current().db.Look()
	expect.Equal(t, c.Hold, store.OwnedByAnother, "the other server does not notice the new owner: %+v", c)
}

// When the data cannot be opened for writing, the server continues to read it.
func TestAFailedTakeoverLeavesTheServerReadOnly(t *testing.T) {
	d := stillDemo()
	dir := filepath.Join(t.TempDir(), "data")
	owner, _ := d.startWithData(t, dir)
	_, s := d.startWithData(t, dir)
	must.Do(t, owner.Stop(t.Context()))
	file := must.Get(sql.Open("sqlite", filepath.Join(dir, "shardboard.db")))
	defer file.Close()
	statement := func(text string) {
		must.Do(t, must.Err(file.Exec(text)))
	}
	statement(`CREATE TRIGGER t BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'it cannot be recorded'); END`)
	unrecorded := s.expect(http.StatusInternalServerError, "POST", "/api/v1/data/takeover", "")
	text, _ := unrecorded["detail"].(string)
	expect.That(t, strings.Contains(text, "continues to read it"), "unexpected answer: %v", unrecorded)
	statement(`DROP TRIGGER t`)
	key := dir + "-key/audit.key"
	must.Do(t, os.WriteFile(key, []byte("no key"), 0o600))
	refused := s.expect(http.StatusBadRequest, "POST", "/api/v1/data/takeover", "")
	text, _ = refused["detail"].(string)
	expect.That(t, strings.Contains(text, "continues to read it"), "unexpected refusal: %v", refused)
	s.startPage()
	again, err := New(t.Context(), Config{URI: d.config.URI, Log: d.config.Log, Listen: "127.0.0.1:0", DataDir: dir, Auth: Auth{Mode: "none"}})
	must.That(t, err == nil && !again.ReadOnly(), "the failed takeover did not release the directory: %v", err)
	again.Start()
	expect.NoError(t, again.Stop(t.Context()), "Stop")
}
