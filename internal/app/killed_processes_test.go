package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/api"
)

// settledWithin limits how long a run of a killed process may stay open.
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

// builtDir holds the program, which is built once for all tests because linking takes
// seconds.
var builtDir string

func TestMain(m *testing.M) {
	code := m.Run()
	for _, end := range afterTests {
		end()
	}
	if builtDir != "" {
		_ = os.RemoveAll(builtDir)
	}
	os.Exit(code)
}

var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "shardboard-program")
	if err != nil {
		return "", err
	}
	builtDir = dir
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
	if testing.Short() {
		t.Skip("builds the program and kills it")
	}
	bin, err := built()
	if err != nil {
		t.Fatal(err)
	}
	h := &installation{t: t, bin: bin, data: t.TempDir(), simAt: freePort(t), webAt: freePort(t), simArgs: sim}
	t.Cleanup(func() { kill(h.web); kill(h.sim) })
	h.startSim()
	driver, err := mongo.Connect(options.Client().ApplyURI(h.uri()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = driver.Disconnect(context.Background()) })
	h.driver = driver
	return h
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
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
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
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
	if !eventually(20*time.Second, func() bool {
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
		place = []string{"--store", h.storeAt}
	}
	h.web = h.start(append([]string{"serve", "--uri", h.uri(), "--listen", h.webAt, "--auth", "none", "--actions", "on",
		"--audit-key", h.auditKey()}, place...)...)
	if !eventually(30*time.Second, func() bool { status, _ := h.request("GET", "/readyz", nil); return status == http.StatusOK }) {
		h.t.Fatal("the server is not ready")
	}
}

func (h *installation) auditKey() string { return h.data + "-key/audit.key" }

// request sends one request and returns status 0 if there is no answer.
func (h *installation) request(method, path string, body any) (int, []byte) {
	h.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		h.t.Fatal(err)
	}
	if body == nil {
		text = nil
	}
	ctx, cancel := context.WithTimeout(h.t.Context(), 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, "http://"+h.webAt+path, bytes.NewReader(text))
	if err != nil {
		h.t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, nil
	}
	return res.StatusCode, answer
}

// requestJSON sends a request and decodes the answer, which must have status want.
func requestJSON[T any](h *installation, method, path string, body any, want int) (v T) {
	h.t.Helper()
	status, text := h.request(method, path, body)
	if err := json.Unmarshal(text, &v); status != want || err != nil {
		h.t.Fatalf("%s %s: %d, %v\n%s", method, path, status, err, text)
	}
	return v
}

// startRun plans and starts a run.
func (h *installation) startRun(kind string, args any) api.Run {
	h.t.Helper()
	text, err := json.Marshal(args)
	if err != nil {
		h.t.Fatal(err)
	}
	p := requestJSON[api.Plan](h, "POST", api.Prefix+"/plans",
		api.PlanRequest{Kind: kind, Args: api.PlanArgs{RawMessage: text}, Reason: "test"}, http.StatusCreated)
	return h.run(p)
}

func (h *installation) run(p api.Plan) api.Run {
	h.t.Helper()
	confirmed := api.PlanRun{Hash: p.Hash, Confirm: p.Confirm}
	return requestJSON[api.Run](h, "POST", api.Prefix+"/plans/"+p.ID+"/run", confirmed, http.StatusAccepted)
}

func (h *installation) runByID(id string) api.Run {
	h.t.Helper()
	return requestJSON[api.Run](h, "GET", api.Prefix+"/runs/"+id, nil, http.StatusOK)
}

// waitForRun waits until a run has ended.
func (h *installation) waitForRun(id string) (r api.Run) {
	h.t.Helper()
	if !eventually(settledWithin, func() bool { r = h.runByID(id); return !r.Open }) {
		h.t.Fatalf("not settled after %s: %+v", settledWithin, r)
	}
	return r
}

// undo undoes a run and waits until that has ended.
func (h *installation) undo(id string) {
	h.t.Helper()
	p := requestJSON[api.Plan](h, "POST", api.Prefix+"/runs/"+id+"/undo", nil, http.StatusCreated)
	if r := h.waitForRun(h.run(p).ID); r.State != "succeeded" {
		h.t.Fatalf("the undo: %+v", r)
	}
	if r := h.runByID(id); r.State != "undone" {
		h.t.Errorf("after the undo: %s", r.State)
	}
}

func (h *installation) simulateFault(what string, more ...bson.E) (out struct {
	ID    int
	Rules []struct{ ID, Struck int }
	Seen  []struct{ Name, NS, Comment string }
}) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), 10*time.Second)
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
			if !eventually(20*time.Second, func() bool {
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
	if total == 0 {
		h.t.Errorf("no command of run %s was found, so this check proves nothing", r.ID)
	}
	for name, n := range got {
		if n > steps[name] {
			h.t.Errorf("run %s has %d steps with %s, and the cluster got %d", r.ID, steps[name], name, n)
		}
	}
}

// chunkBeginsAt reports whether a chunk begins at a value, read with a separate driver.
func (h *installation) chunkBeginsAt(ns string, min bson.D) bool {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), 10*time.Second)
	defer cancel()
	var coll struct{ UUID bson.Binary }
	if err := h.driver.Database("config").Collection("collections").FindOne(ctx, bson.D{{Key: "_id", Value: ns}}).Decode(&coll); err != nil {
		h.t.Fatal(err)
	}
	n, err := h.driver.Database(
		"config",
	).Collection(
		"chunks",
	).CountDocuments(
		ctx,
		bson.D{{Key: "uuid", Value: coll.UUID}, {Key: "min", Value: min}},
	)
	if err != nil {
		h.t.Fatal(err)
	}
	return n == 1
}

func (h *installation) verifyAudit() {
	h.t.Helper()
	out, err := exec.Command(h.bin, "audit", "verify", "--data-dir", h.data).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "in order") {
		h.t.Errorf("unexpected error %v, output %s", err, out)
	}
}

// killServerDuring kills the server while a command is held, starts it again, releases
// the command and returns the run when it has ended.
func (h *installation) killServerDuring(command, at, kind string, args any) api.Run {
	h.t.Helper()
	waits, release := h.holdCommand(command, at)
	r := h.startRun(kind, args)
	waits()
	kill(h.web)
	h.startWeb()
	// Until the outcome is known the run is unknown, and never reported as done.
	if !eventually(settledWithin, func() bool { now := h.runByID(r.ID); return now.State == "unknown" || !now.Open }) {
		h.t.Errorf("before the outcome is known the run is %s", h.runByID(r.ID).State)
	}
	release()
	r = h.waitForRun(r.ID)
	h.checkSentOnce(r)
	return r
}

func TestARunIsSettledAfterTheServerWasKilled(t *testing.T) {
	t.Parallel()
	h := startInstallation(t, "--migration-time", "1s")
	at := func(n int64) map[string]any {
		return map[string]any{"ns": "yorkie-meta.changes", "at": map[string]any{"doc_id": map[string]any{"$numberLong": fmt.Sprint(n)}}}
	}
	for i, step := range []string{"committing", "committed", "replying"} {
		r := h.killServerDuring("split", step, "split", at(int64(1000+i)))
		if there := h.chunkBeginsAt("yorkie-meta.changes", bson.D{{Key: "doc_id", Value: int64(1000 + i)}}); there != (r.State == "succeeded") ||
			r.State != "succeeded" && r.State != "failed" {
			t.Errorf("split killed at %s: state %s, the chunk boundary exists: %v", step, r.State, there)
		} else if there && !r.Resolved {
			t.Errorf("split killed at %s: the run does not record that it was unknown", step)
		}
	}

	chunks := requestJSON[api.List[struct {
		Ref, Shard string
	}]](h, "GET", api.Prefix+"/collections/yorkie-meta.changes/chunks?limit=1", nil, http.StatusOK)
	to := "shard-rs-2"
	if chunks.Items[0].Shard == to {
		to = "shard-rs-3"
	}
	r := h.killServerDuring("moveChunk", "cloned", "move", map[string]any{"ns": "yorkie-meta.changes", "chunk": chunks.Items[0].Ref, "to": to})
	if r.State != "succeeded" || !r.Resolved {
		t.Errorf("move: %+v", r)
	}
	h.undo(r.ID)

	projects := requestJSON[api.List[struct{ ID string }]](h, "GET", api.Prefix+"/projects?limit=1", nil, http.StatusOK)
	pin := map[string]any{"project": projects.Items[0].ID, "shard": "shard-rs-3"}
	for _, where := range [][2]string{{"updateZoneKeyRange", "replying"}, {"split", "committed"}, {"moveChunk", "started"}} {
		r := h.killServerDuring(where[0], where[1], "pin", pin)
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

// A simulated cluster stores nothing. When it is started again at its address with the
// same seed and time, it is the same cluster before the command had an effect.
func TestARunFailsWhenTheClusterReturnsWithoutItsEffect(t *testing.T) {
	t.Parallel()
	h := startInstallation(t, "--epoch", "2026-05-04T03:02:01Z")
	waits, _ := h.holdCommand("split", "committing")
	at := map[string]any{"doc_id": map[string]any{"$numberLong": "1000"}}
	r := h.startRun("split", map[string]any{"ns": "yorkie-meta.changes", "at": at})
	waits()
	h.killCluster(r.ID)
	h.startSim()
	r = h.waitForRun(r.ID)
	if r.State != "failed" || h.chunkBeginsAt("yorkie-meta.changes", bson.D{{Key: "doc_id", Value: int64(1000)}}) {
		t.Errorf("unexpected run: %+v", r)
	}
	h.checkNotSentAgain(r.ID)
	h.verifyAudit()
}

// Another cluster at the same address says nothing about the one that got the command,
// even though its balancer is on, as the command wanted.
func TestARunStaysUnknownWhenAnotherClusterAnswers(t *testing.T) {
	t.Parallel()
	h := startInstallation(t)
	waits, _ := h.holdCommand("balancerStart", "received")
	r := h.startRun("balancer-on", map[string]any{})
	waits()
	h.killCluster(r.ID)
	h.startSim("--seed", "8", "--still=false")
	if !eventually(30*time.Second, func() bool {
		_, text := h.request("GET", api.Prefix+"/cluster", nil)
		return strings.Contains(string(text), `"state":"otherCluster"`)
	}) {
		_, text := h.request("GET", api.Prefix+"/cluster", nil)
		t.Fatalf("the server does not notice that this is another cluster: %s", text)
	}
	// The server reads the cluster at least every 5 s.
	if eventually(12*time.Second, func() bool { return h.runByID(r.ID).State != "unknown" }) {
		t.Fatalf("after another cluster answered the run is %+v", h.runByID(r.ID))
	}
	h.checkNotSentAgain(r.ID)
	// A server that starts with the other cluster does not change the run and refuses its
	// plan.
	kill(h.web)
	h.startWeb()
	if now := h.runByID(r.ID); now.State == "succeeded" || !now.Open {
		t.Errorf("a server of another cluster changed the run: %+v", now)
	}
	h.verifyAudit()
}

// killCluster kills the simulated cluster and waits until the run's outcome is unknown.
func (h *installation) killCluster(run string) {
	h.t.Helper()
	kill(h.sim)
	if !eventually(20*time.Second, func() bool { return h.runByID(run).State == "unknown" }) {
		h.t.Fatalf("without a cluster the run is %+v, expected unknown", h.runByID(run))
	}
}

// checkNotSentAgain checks that the cluster that runs now got no command of a run.
func (h *installation) checkNotSentAgain(run string) {
	h.t.Helper()
	for _, s := range h.simulateFault("show").Seen {
		if strings.Contains(s.Comment, run) {
			h.t.Errorf("%s was sent again", s.Name)
		}
	}
}
