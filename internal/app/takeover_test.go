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
	"time"

	"shardboard/internal/store"
	"shardboard/internal/topology"
)

const planBalancer = `{"kind":"balancer-on","args":{},"reason":"test"}`

// startWithData is a dashboard with a data directory, in which every visitor may do everything.
func (d *demo) startWithData(t *testing.T, dir string) (*App, apiClient) {
	t.Helper()
	a := d.startBeside(t, Config{Listen: "127.0.0.1:0", DataDir: dir, AuditKey: dir + "-key/audit.key", Actions: true,
		Auth: Auth{Mode: "none"}})
	s := apiClient{T: t, at: strings.TrimSuffix(a.URL(), "/")}
	if !eventually(30*time.Second, func() bool { return statusOf(t, http.DefaultClient, s.at+"/readyz") == http.StatusOK }) {
		t.Fatal("not ready after 30 s")
	}
	return a, s
}

// startPage is the start page, which has to be there.
func (s apiClient) startPage() string {
	s.Helper()
	res, err := http.Get(s.at + "/")
	if err != nil {
		s.Error(err)
		return ""
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		s.Errorf("%v %s\n%s", err, res.Status, text)
	}
	return string(text)
}

// While it is gone nothing is accepted, nobody else becomes the owner of a new
// directory at its path, and all goes on when it is back.
func TestALostDataDirectoryIsNoticedAtOnce(t *testing.T) {
	d := startDemo(t, quietCluster(), topology.Options{})
	dir := filepath.Join(t.TempDir(), "data")
	_, s := d.startWithData(t, dir)
	s.expect(http.StatusCreated, "POST", "/api/v1/plans", planBalancer)
	if err := os.Rename(dir, dir+".away"); err != nil {
		t.Fatal(err)
	}
	refused := s.expect(http.StatusServiceUnavailable, "POST", "/api/v1/plans", planBalancer)
	if text, _ := refused["detail"].(string); !strings.Contains(text, "was moved or deleted while shardboard was running") {
		t.Errorf("a plan is refused with %q", text)
	}
	if got := statusOf(t, http.DefaultClient, s.at+"/readyz"); got != http.StatusServiceUnavailable {
		t.Errorf("it says that it is ready: %d", got)
	}
	if !strings.Contains(s.startPage(), "Nothing can be stored: the data directory or a file in it was moved") {
		t.Error("the page does not say it")
	}
	if got := s.expect(http.StatusOK, "GET", "/api/v1/data", ""); got["hold"] != string(store.Vanished) || got["writable"] != false {
		t.Errorf("%v", got)
	}
	s.expect(http.StatusServiceUnavailable, "POST", "/api/v1/data/takeover", "")
	if second, err := New(t.Context(),
		Config{URI: d.config.URI, Log: d.config.Log, Listen: "127.0.0.1:0", DataDir: dir, Auth: Auth{Mode: "none"}}); err == nil {
		_ = second.Stop(t.Context())
		t.Error("a new directory has a second owner")
	} else if !strings.Contains(err.Error(), "still running with the data directory") {
		t.Error(err)
	}
	if err := os.Rename(dir+".away", dir); err != nil {
		t.Fatal(err)
	}
	s.expect(http.StatusCreated, "POST", "/api/v1/plans", planBalancer)
	if got := statusOf(t, http.DefaultClient, s.at+"/readyz"); got != http.StatusOK {
		t.Errorf("back again it is not ready: %d", got)
	}
}

// Of two that read and are asked at the same moment, one takes over at its own
// address, without a request that is cut or refused; the other says so.
func TestAReadOnlyServerTakesOverWhenTheOwnerHasEnded(t *testing.T) {
	d := startDemo(t, quietCluster(), topology.Options{})
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
	first.expect(http.StatusCreated, "POST", "/api/v1/plans", planBalancer) // nobody has taken anything from it
	if err := owner.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, s := range readers {
		apps[i].current().db.Look() // as it does each two seconds by itself
		if got := s.expect(http.StatusOK, "GET", "/api/v1/data", ""); got["hold"] != string(store.OwnerGone) {
			t.Fatalf("a reader does not notice that the owner has gone: %v", got)
		}
		if page := s.startPage(); !strings.Contains(page, "has stopped") || !strings.Contains(page, `action="/data/takeover"`) {
			t.Error("its page does not offer to take over")
		}
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
	if codes[winner] != http.StatusOK || codes[loser] != http.StatusConflict {
		t.Fatalf("two were asked to take over: %v", codes)
	}
	s := readers[winner]
	if apps[winner].ReadOnly() || !apps[loser].ReadOnly() {
		t.Error("not one owner")
	}
	if got := s.expect(http.StatusOK, "GET", "/api/v1/data", ""); got["hold"] != string(store.Owned) || got["writable"] != true {
		t.Errorf("%v", got)
	}
	if page := s.startPage(); strings.Contains(page, "Read only") || strings.Contains(page, "/data/takeover") {
		t.Error("its page still says that it only reads")
	}
	s.expect(http.StatusOK, "GET", "/api/v1/plans/"+plan["id"].(string), "")
	s.expect(http.StatusCreated, "POST", "/api/v1/plans", planBalancer)
	s.expect(http.StatusConflict, "POST", "/api/v1/data/takeover", "")
	record := s.expect(http.StatusOK, "GET", "/api/v1/audit?what=data.takeover", "")["items"].([]any)
	if len(record) != 1 || record[0].(answer)["by"] != "local" {
		t.Errorf("the record has %v", record)
	}
	if c := apps[loser].current().db.Look(); c.Hold != store.OwnedByAnother {
		t.Errorf("the other reader does not notice that there is an owner again: %+v", c)
	}
}

// What cannot be opened as its owner is left as it was.
func TestAFailedTakeoverLeavesTheServerReadOnly(t *testing.T) {
	d := startDemo(t, quietCluster(), topology.Options{})
	dir := filepath.Join(t.TempDir(), "data")
	owner, _ := d.startWithData(t, dir)
	_, s := d.startWithData(t, dir)
	if err := owner.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	file, err := sql.Open("sqlite", filepath.Join(dir, "shardboard.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	statement := func(text string) {
		if _, err := file.Exec(text); err != nil {
			t.Fatal(err)
		}
	}
	statement(`CREATE TRIGGER t BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'it cannot be recorded'); END`)
	unrecorded := s.expect(http.StatusInternalServerError, "POST", "/api/v1/data/takeover", "")
	if text, _ := unrecorded["detail"].(string); !strings.Contains(text, "continues to read it") {
		t.Errorf("%v", unrecorded)
	}
	statement(`DROP TRIGGER t`)
	key := dir + "-key/audit.key"
	if err := os.WriteFile(key, []byte("no key"), 0o600); err != nil {
		t.Fatal(err)
	}
	refused := s.expect(http.StatusBadRequest, "POST", "/api/v1/data/takeover", "")
	if text, _ := refused["detail"].(string); !strings.Contains(text, "continues to read it") {
		t.Errorf("%v", refused)
	}
	s.startPage()
	again, err := New(t.Context(), Config{URI: d.config.URI, Log: d.config.Log, Listen: "127.0.0.1:0", DataDir: dir, Auth: Auth{Mode: "none"}})
	if err != nil || again.ReadOnly() {
		t.Fatalf("what was opened was not given back: %v", err)
	}
	again.Start()
	if err := again.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}
