package app

import (
	"net"
	"net/http"
	"os/exec"
	"syscall"
	"testing"

	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
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
	must.That(t, eventually(settledWithin, func() bool {
		c, err := net.Dial("tcp", kept.simAt)
		if err == nil {
			c.Close()
		}
		return err == nil
	}), "the store does not listen")
	h.storeAt = "mongodb://" + kept.simAt + "/shardboard?directConnection=true"
	h.startWeb()
	leader = h.web
	t.Cleanup(func() { _ = leader.Process.Signal(syscall.SIGCONT); kill(leader) })
	first := h.webAt
	h.webAt = freePort(t)
	h.startWeb()
	must.That(t, !h.leads(), "the second server leads")
	h.otherAt = first
	return h, leader
}

func (h *installation) dataState() api.DataDirectory {
	h.t.Helper()
	return as[api.DataDirectory](h.t, h.client().expect(http.StatusOK, "GET", "/data", ""))
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
	must.Do(t, cmd.Process.Signal(s))
}

// The leader is stopped with SIGSTOP while the cluster executes a command of a run. The other one
// leads and settles the run. When the first goes on, it sends and writes nothing.
func TestAStoppedLeaderNeitherSendsNorWritesWhenItGoesOn(t *testing.T) {
	h, leader := startReplicaProcesses(t)
	waits, release := h.holdCommand("updateZoneKeyRange", "replying") // more commands of the run would follow
	r := h.startRun("pin", h.pin())
	waits()
	sent := h.countChanges(r.ID)
	signal(t, leader, syscall.SIGSTOP)
	must.That(t, eventually(settledWithin, h.leads), "nobody leads")
	release()
	settled := h.waitForRun(r.ID)
	expect.That(t, settled.State != "succeeded", "the run went on: %+v", settled)
	// A change at the new leader, and then the old one goes on.
	split := h.waitForRun(h.startRun("split", splitAt(1000)).ID)
	expect.That(t, split.State == "succeeded" && h.isSplitAt(1000), "the new leader does not run plans: %+v", split)
	signal(t, leader, syscall.SIGCONT)
	h.other(func() {
		must.That(t, eventually(settledWithin, func() bool { return !h.leads() && h.dataState().Leader.Name != "" }),
			"the stopped one still leads: %+v", h.dataState())
	})
	h.other(func() { // what is asked there is done by the new leader
		next := h.waitForRun(h.startRun("split", splitAt(2000)).ID)
		expect.Equal(t, next.State, "succeeded", "the former leader does not pass plans on: %+v", next)
	})
	now := h.countChanges(r.ID)
	expect.That(t, now == sent, "%d commands were sent before the stop, %d after it", sent, now-sent)
	expect.Equal(t, h.runByID(r.ID).State, settled.State, "the run was %s and", settled.State)
	h.other(func() {
		expect.Equal(t, h.runByID(r.ID).State, settled.State, "the former leader")
	})
	h.checkSentOnce(settled)
	h.checkSentOnce(split)
}
