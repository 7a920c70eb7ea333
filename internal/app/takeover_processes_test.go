package app

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
)

func requireLong(t *testing.T) {
	t.Helper()
	if os.Getenv("SHARDBOARD_LONG") == "" {
		t.Skip("with SHARDBOARD_LONG=1: starts and kills real processes")
	}
}

// startReader starts a second server over the same directory, sends later requests to
// it and returns the first one.
func (h *installation) startReader() (owner *exec.Cmd) {
	h.t.Helper()
	owner = h.web
	h.t.Cleanup(func() { kill(owner) })
	h.webAt = freePort(h.t)
	h.startWeb()
	return owner
}

func (h *installation) dataHold() string {
	h.t.Helper()
	return h.dataState().Hold
}

// The owner is killed while a command is running. The read-only server notices it, takes
// over when told to and settles the run without sending the command again.
func TestAReadOnlyServerTakesOverAndSettlesTheRunOfAKilledOwner(t *testing.T) {
	requireLong(t)
	h := startInstallation(t)
	waits, release := h.holdCommand("split", "committing")
	r := h.startRun("split", splitAt(1000))
	waits()
	owner := h.startReader()
	got := h.dataHold()
	must.That(t, got == string(store.OwnedByAnother), "while the owner runs the hold is %s", got)
	kill(owner)
	must.That(t, eventually(settledWithin, func() bool { return h.dataHold() == string(store.OwnerGone) }),
		"the read-only server does not notice that the owner was killed")
	out, err := exec.Command(h.bin, "takeover", "--server", "http://"+h.webAt).CombinedOutput()
	must.That(t, err == nil && strings.Contains(string(out), "owns the data directory now"), "unexpected error %v, output %s", err, out)
	release()
	r = h.waitForRun(r.ID)
	expect.Equal(t, h.isSplitAt(1000), r.State == "succeeded", "state %s, the chunk boundary exists", r.State)
	h.checkSentOnce(r)
	h.verifyAudit()
}

// countChanges counts the changing commands of a run that the cluster got.
func (h *installation) countChanges(run string) (n int) {
	h.t.Helper()
	for _, s := range h.simulateFault("show").Seen {
		switch strings.ToLower(s.Name) {
		case "addshardtozone", "updatezonekeyrange", "split", "movechunk":
			if strings.Contains(s.Comment, run) {
				n++
			}
		}
	}
	return n
}
