package app

import (
	"net"
	"net/http"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/api"
)

// startReplicaProcesses starts two servers as processes over one cluster, with a second simulated
// cluster as their store. Requests go to the second server, which follows.
func startReplicaProcesses(t *testing.T) (h *installation, leader *exec.Cmd) {
	t.Helper()
	requireLong(t)
	h = prepareInstallation(t)
	kept := &installation{t: t, bin: h.bin, simAt: freePort(t)}
	t.Cleanup(func() { kill(kept.sim) })
	kept.sim = kept.start("simcluster", "--listen", kept.simAt, "--still", "--projects", "1", "--documents", "1")
	if !eventually(20*time.Second, func() bool {
		c, err := net.Dial("tcp", kept.simAt)
		if err == nil {
			c.Close()
		}
		return err == nil
	}) {
		t.Fatal("the store does not listen")
	}
	h.storeAt = "mongodb://" + kept.simAt + "/shardboard?directConnection=true"
	h.startWeb()
	leader = h.web
	t.Cleanup(func() { _ = leader.Process.Signal(syscall.SIGCONT); kill(leader) })
	first := h.webAt
	h.webAt = freePort(t)
	h.startWeb()
	if h.leads() {
		t.Fatal("the second server leads")
	}
	h.otherAt = first
	return h, leader
}

func (h *installation) dataState() api.DataDirectory {
	h.t.Helper()
	return requestJSON[api.DataDirectory](h, "GET", api.Prefix+"/data", nil, http.StatusOK)
}

func (h *installation) leads() bool { h.t.Helper(); return h.dataState().Leads }

// other calls f with requests that go to the first server.
func (h *installation) other(f func()) {
	h.webAt, h.otherAt = h.otherAt, h.webAt
	defer func() { h.webAt, h.otherAt = h.otherAt, h.webAt }()
	f()
}

func signal(t *testing.T, cmd *exec.Cmd, s syscall.Signal) {
	t.Helper()
	if err := cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// The leader is stopped with SIGSTOP while the cluster executes a command of a run. The other one
// leads within 15 s and settles the run. When the first goes on, it sends and writes nothing.
func TestAStoppedLeaderNeitherSendsNorWritesWhenItGoesOn(t *testing.T) {
	h, leader := startReplicaProcesses(t)
	projects := requestJSON[api.List[struct{ ID string }]](h, "GET", api.Prefix+"/projects?limit=1", nil, http.StatusOK)
	waits, release := h.holdCommand("updateZoneKeyRange", "replying") // more commands of the run would follow
	r := h.startRun("pin", map[string]any{"project": projects.Items[0].ID, "shard": "shard-rs-3"})
	waits()
	sent := h.countChanges(r.ID)
	signal(t, leader, syscall.SIGSTOP)
	stopped := time.Now()
	if !eventually(15*time.Second, h.leads) {
		t.Fatal("nobody leads after 15 s")
	}
	t.Logf("the other one leads after %s", time.Since(stopped).Round(100*time.Millisecond))
	release()
	settled := h.waitForRun(r.ID)
	if settled.State == "succeeded" {
		t.Errorf("the run went on: %+v", settled)
	}
	// A change at the new leader, and then the old one goes on.
	at := map[string]any{"doc_id": map[string]any{"$numberLong": "1000"}}
	split := h.waitForRun(h.startRun("split", map[string]any{"ns": "yorkie-meta.changes", "at": at}).ID)
	if split.State != "succeeded" || !h.chunkBeginsAt("yorkie-meta.changes", bson.D{{Key: "doc_id", Value: int64(1000)}}) {
		t.Errorf("the new leader does not run plans: %+v", split)
	}
	signal(t, leader, syscall.SIGCONT)
	h.other(func() {
		if !eventually(10*time.Second, func() bool { return !h.leads() && h.dataState().Leader.Name != "" }) {
			t.Fatalf("the stopped one still leads: %+v", h.dataState())
		}
	})
	time.Sleep(5 * time.Second) // time in which its run would go on
	if now := h.countChanges(r.ID); now != sent {
		t.Errorf("%d commands were sent before the stop, %d after it", sent, now-sent)
	}
	if again := h.runByID(r.ID); again.State != settled.State {
		t.Errorf("the run was %s and is %s", settled.State, again.State)
	}
	h.other(func() {
		if there := h.runByID(r.ID); there.State != settled.State {
			t.Errorf("the former leader shows %s, not %s", there.State, settled.State)
		}
	})
	h.checkSentOnce(settled)
	h.checkSentOnce(split)
}

// The leader is killed in the middle of a command: the same without a return.
func TestTheOtherReplicaSettlesTheRunOfAKilledLeader(t *testing.T) {
	h, leader := startReplicaProcesses(t)
	waits, release := h.holdCommand("split", "committing")
	at := map[string]any{"doc_id": map[string]any{"$numberLong": "1000"}}
	r := h.startRun("split", map[string]any{"ns": "yorkie-meta.changes", "at": at})
	waits()
	kill(leader)
	if !eventually(15*time.Second, h.leads) {
		t.Fatal("nobody leads after 15 s")
	}
	release()
	r = h.waitForRun(r.ID)
	if there := h.chunkBeginsAt("yorkie-meta.changes", bson.D{{Key: "doc_id", Value: int64(1000)}}); there != (r.State == "succeeded") {
		t.Errorf("state %s, the chunk boundary exists: %v", r.State, there)
	}
	h.checkSentOnce(r)
}
