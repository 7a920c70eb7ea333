package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/only"
	"shardboard/internal/store/keyfile"
)

// settledWithin limits how long a test waits for a state. It is generous, because machines are busy.
const settledWithin = 60 * time.Second

// installation runs the simulated cluster and the server as separate processes, as in
// production. Either can be killed.
type installation struct {
	t            *testing.T
	bin, data    string
	simAt, webAt string
	otherAt      string // of another server
	storeAt      string // address of a store; "" for the data directory
	simArgs      []string
	sim, web     *exec.Cmd
	driver       *mongo.Client
}

func TestMain(m *testing.M) {
	code := m.Run()
	for _, end := range slices.Backward(afterTests) {
		end()
	}
	os.Exit(code)
}

// built is the path of the program, which is built once for all tests because linking takes seconds.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "shardboard-program")
	if err != nil {
		return "", err
	}
	afterTests = append(afterTests, func() { _ = os.RemoveAll(dir) })
	bin := filepath.Join(dir, "shardboard")
	if out, err := exec.Command("go", "build", "-o", bin, "../../cmd/shardboard").CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return bin, nil
})

func startInstallation(t *testing.T, sim ...string) *installation {
	t.Helper()
	h := prepareInstallation(t, sim...)
	h.startWeb()
	return h
}

// prepareInstallation starts the simulated cluster only.
func prepareInstallation(t *testing.T, sim ...string) *installation {
	t.Helper()
	only.Long(t, "builds the program and kills it")
	bin, err := built()
	must.Do(t, err)
	h := &installation{t: t, bin: bin, data: t.TempDir(), simAt: freePort(t), webAt: freePort(t), simArgs: sim}
	t.Cleanup(func() { kill(h.web); kill(h.sim) })
	h.startSim()
	driver := must.Get(mongo.Connect(options.Client().ApplyURI(h.uri())))
	t.Cleanup(func() { _ = driver.Disconnect(context.Background()) })
	h.driver = driver
	return h
}

func freePort(t *testing.T) string {
	t.Helper()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))
	defer l.Close()
	return l.Addr().String()
}

func (h *installation) uri() string { return "mongodb://" + h.simAt + "/?directConnection=true" }

func (h *installation) start(args ...string) *exec.Cmd {
	h.t.Helper()
	cmd := exec.Command(h.bin, args...)
	var said bytes.Buffer
	cmd.Stderr = &said
	cmd.Env = append(os.Environ(), "SHARDBOARD_LOG_LEVEL=warn")
	must.Do(h.t, cmd.Start())
	h.t.Cleanup(func() {
		if h.t.Failed() {
			kill(cmd) // completes the output
			h.t.Logf("output of %s:\n%s", args[0], said.String())
		}
	})
	return cmd
}

// kill ends a process with SIGKILL and waits for it.
func kill(cmd *exec.Cmd) {
	if cmd != nil && cmd.ProcessState == nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}

func (h *installation) startSim(more ...string) {
	h.t.Helper()
	args := append([]string{"simcluster", "--listen", h.simAt, "--still", "--projects", "12", "--documents", "300", "--faults"}, h.simArgs...)
	h.sim = h.start(append(args, more...)...)
	if !eventually(settledWithin, func() bool {
		c, err := net.Dial("tcp", h.simAt)
		if err == nil {
			c.Close()
		}
		return err == nil
	}) {
		h.t.Fatal("the simulated cluster does not listen")
	}
}

func (h *installation) startWeb() {
	h.t.Helper()
	place := []string{"--data-dir", h.data}
	if h.storeAt != "" {
		key := h.data + "-key/session.key"
		must.Do(h.t, must.Err(keyfile.Sessions.Open(key, "")))
		place = []string{"--store", h.storeAt, "--session-key", key}
	}
	h.web = h.start(append([]string{"serve", "--uri", h.uri(), "--listen", h.webAt, "--auth", "none", "--actions", "on",
		"--audit-key", h.auditKey()}, place...)...)
	must.That(h.t, eventually(settledWithin, func() bool { return h.ready() == http.StatusOK }), "the server is not ready")
}

func (h *installation) auditKey() string { return h.data + "-key/audit.key" }

// client asks the API of the server that is chosen now.
func (h *installation) client() apiClient {
	return apiClient{T: h.t, at: "http://" + h.webAt + api.Prefix}
}

// ready returns the status of the server's readiness; 0 if it does not answer.
func (h *installation) ready() int {
	res, err := http.Get("http://" + h.webAt + "/readyz")
	if err != nil {
		return 0
	}
	res.Body.Close()
	return res.StatusCode
}

// startRun plans and starts a run.
func (h *installation) startRun(kind, args string) api.Run {
	h.t.Helper()
	return h.runPlan(h.client().plan(kind, args))
}

func (h *installation) runPlan(p answer) api.Run {
	h.t.Helper()
	confirm, _ := json.Marshal(p["confirm"]) // a string or null
	return as[api.Run](h.t, h.client().run(http.StatusAccepted, p, `,"confirm":`+string(confirm)))
}

func (h *installation) runByID(id string) api.Run {
	h.t.Helper()
	return as[api.Run](h.t, h.client().expect(http.StatusOK, "GET", "/runs/"+id, ""))
}

func (h *installation) waitForRun(id string) api.Run {
	h.t.Helper()
	return as[api.Run](h.t, h.client().waitForRun(answer{"id": id}))
}

// undo undoes a run and waits until that has ended.
func (h *installation) undo(id string) {
	h.t.Helper()
	p := h.client().expect(http.StatusCreated, "POST", "/runs/"+id+"/undo", "")
	if r := h.waitForRun(h.runPlan(p).ID); r.State != "succeeded" {
		h.t.Fatalf("the undo: %+v", r)
	}
	expect.Equal(h.t, h.runByID(id).State, "undone", "after the undo")
}

// pin is the arguments of a pin of the first project.
func (h *installation) pin() string {
	h.t.Helper()
	return `{"project":"` + h.client().first("/projects")["id"].(string) + `","shard":"shard-rs-3"}`
}

// splitAt is the arguments of a split of changes at a number.
func splitAt(n int64) string { return `{"ns":"yorkie-meta.changes","at":` + hashedKey(n) + `}` }

func (h *installation) simulateFault(what string, more ...bson.E) (out struct {
	ID    int
	Rules []struct{ ID, Struck int }
	Seen  []struct{ Name, NS, Comment string }
}) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), time.Minute)
	defer cancel()
	if err := h.driver.Database("admin").RunCommand(ctx,
		append(bson.D{{Key: "simulateFault", Value: what}}, more...)).Decode(&out); err != nil {
		h.t.Fatalf("simulateFault %s: %v", what, err)
	}
	return out
}

// holdCommand makes the next such command stop at a step. waits returns when it has
// stopped there.
func (h *installation) holdCommand(command, at string) (waits func(), release func()) {
	h.t.Helper()
	id := h.simulateFault("add", bson.E{Key: "command", Value: command}, bson.E{Key: "at", Value: at}, bson.E{Key: "hold", Value: true}).ID
	return func() {
			h.t.Helper()
			if !eventually(settledWithin, func() bool {
				for _, r := range h.simulateFault("show").Rules {
					if r.ID == id {
						return r.Struck > 0
					}
				}
				return false
			}) {
				h.t.Fatalf("no %s command reached the step %s", command, at)
			}
		}, func() {
			h.t.Helper()
			h.simulateFault("remove", bson.E{Key: "id", Value: id})
		}
}

// checkSentOnce checks that the cluster got each command of a run at most once.
func (h *installation) checkSentOnce(r api.Run) {
	h.t.Helper()
	steps, got := map[string]int{}, map[string]int{}
	for _, s := range r.Steps {
		var command map[string]json.RawMessage
		if err := json.Unmarshal(s.Command, &command); err != nil || s.SentAt == nil {
			continue
		}
		for name := range command {
			steps[strings.ToLower(name)]++
		}
	}
	total := 0
	for _, s := range h.simulateFault("show").Seen {
		if strings.Contains(s.Comment, r.ID) {
			got[strings.ToLower(s.Name)]++
			total++
		}
	}
	expect.That(h.t, total != 0, "no command of run %s was found, so this check proves nothing", r.ID)
	for name, n := range got {
		expect.That(h.t, n <= steps[name], "run %s has %d steps with %s, and the cluster got %d", r.ID, steps[name], name, n)
	}
}

// isSplitAt reports whether a chunk of changes begins at a number, read with a separate driver.
func (h *installation) isSplitAt(n int64) bool {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), time.Minute)
	defer cancel()
	config := h.driver.Database("config")
	var coll struct{ UUID bson.Binary }
	err := config.Collection("collections").FindOne(ctx, bson.D{{Key: "_id", Value: "yorkie-meta.changes"}}).Decode(&coll)
	must.Do(h.t, err)
	found, err := config.Collection("chunks").CountDocuments(ctx,
		bson.D{{Key: "uuid", Value: coll.UUID}, {Key: "min", Value: bson.D{{Key: "doc_id", Value: n}}}})
	must.Do(h.t, err)
	return found == 1
}

func (h *installation) verifyAudit() {
	h.t.Helper()
	out, err := exec.Command(h.bin, "audit", "verify", "--data-dir", h.data).CombinedOutput()
	expect.That(h.t, err == nil && strings.Contains(string(out), "in order"), "unexpected error %v, output %s", err, out)
}

// killServerDuring kills the server while a command is held, starts it again, releases
// the command and returns the run when it has ended.
func (h *installation) killServerDuring(command, at, kind, args string) api.Run {
	h.t.Helper()
	waits, release := h.holdCommand(command, at)
	r := h.startRun(kind, args)
	waits()
	kill(h.web)
	h.startWeb()
	// Until the outcome is known the run is unknown, or running and says that no answer came. It is never reported
	// as done.
	if !eventually(settledWithin, func() bool {
		now := h.runByID(r.ID)
		return now.State == "unknown" || now.State == "running" && now.Why != "" || !now.Open
	}) {
		h.t.Errorf("%s killed at %s: before the outcome is known the run is %s", command, at, h.runByID(r.ID).State)
	}
	release()
	r = h.waitForRun(r.ID)
	h.checkSentOnce(r)
	return r
}

func TestARunIsSettledAfterTheServerWasKilled(t *testing.T) {
	t.Parallel()
	h := startInstallation(t, "--migration-time", "1s")
	for i, step := range []string{"committing", "committed", "replying"} {
		r := h.killServerDuring("split", step, "split", splitAt(int64(1000+i)))
		if there := h.isSplitAt(int64(1000 + i)); there != (r.State == "succeeded") ||
			r.State != "succeeded" && r.State != "failed" {
			t.Errorf("split killed at %s: state %s, the chunk boundary exists: %v", step, r.State, there)
		} else if there && !r.Resolved {
			t.Errorf("split killed at %s: the run does not record that it was unknown", step)
		}
	}

	chunk, to := h.client().first("/collections/yorkie-meta.changes/chunks"), "shard-rs-2"
	if chunk["shard"] == to {
		to = "shard-rs-3"
	}
	r := h.killServerDuring("moveChunk", "cloned", "move",
		fmt.Sprintf(`{"ns":"yorkie-meta.changes","chunk":%q,"to":%q}`, chunk["ref"], to))
	expect.That(t, r.State == "succeeded" && r.Resolved, "move: %+v", r)
	h.undo(r.ID)

	for _, where := range [][2]string{{"updateZoneKeyRange", "replying"}, {"split", "committed"}, {"moveChunk", "started"}} {
		r := h.killServerDuring(where[0], where[1], "pin", h.pin())
		last := -1
		for i, s := range r.Steps {
			if s.SentAt != nil {
				last = i
			}
		}
		if r.State != "stopped" || last < 0 || last == len(r.Steps)-1 || r.Steps[last].State != "succeeded" || !r.Steps[last].Resolved {
			t.Fatalf("pin killed in %s: %+v", where, r)
		}
		h.undo(r.ID)
	}
	h.verifyAudit()
}
