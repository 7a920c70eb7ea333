package realsuite_test

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/realcluster"
	"shardboard/internal/store/keyfile"
)

// takeoverPatience is how long the second replica may take until it leads: a lease, an election of the
// store, and a busy machine.
const takeoverPatience = 2 * time.Minute

// keptStore is what two replicas share.
type keptStore struct {
	uri      func(database string) string
	stepDown func(ctx context.Context) error
}

// store runs the suite of the store, and two replicas of the product that share it: the leader is frozen
// and killed, and the store's primary steps down.
func storeOfReplicas(w *world) {
	s := w.store()
	w.point("suite of the store", func(w *world) {
		if w.target.simulated {
			w.Skip("package store/mongodb runs it on the simulated cluster itself")
		}
		runOther(w, "../store/mongodb", "^TestRealServerConformsToStore$", "SHARDBOARD_TEST_STORE_URI="+s.uri("suite_store"))
	})
	w.load(hashedData, "yorkie-head", 8, 200)
	shared := serveReplica(w, s, nil)
	second := serveReplica(w, s, shared)
	w.point("leader frozen", func(w *world) {
		a, b := w.as(shared), w.as(second)
		a.leads(true)
		a.signal(syscall.SIGSTOP)
		b.leads(true)
		splitBy(w, b, 1)
		a.signal(syscall.SIGCONT)
		a.leads(false)
	})
	w.point("leader killed", func(w *world) {
		a := w.as(shared)
		second.kill()
		a.leads(true)
		splitBy(w, a, 2)
		second.start()
		w.as(second).leads(false)
	})
	w.point("primary of the store stepped down", func(w *world) {
		w.must(s.stepDown(w.Context()))
		splitBy(w, w.as(shared), 3)
	})
}

// store starts a replica set, or takes a simulated cluster.
func (w *world) store() keptStore {
	w.Helper()
	if w.target.simulated {
		c := w.target.start(w.TB, wanted{})
		return keptStore{
			uri:      func(db string) string { return strings.Replace(c.URI(), "/?", "/"+db+"?", 1) },
			stepDown: func(context.Context) error { return nil }, // it has no primary to step down
		}
	}
	c, err := realcluster.StartSet(w.Context(), realcluster.Options{Servers: w.target.servers, Log: func(s string) { w.Log(s) }}, 3)
	w.must(err)
	w.Cleanup(func() {
		expect.NoError(w, c.Stop(), "Stop")
	})
	return keptStore{
		uri:      func(db string) string { return strings.Replace(c.SetURI(), "/?", "/"+db+"?", 1) },
		stepDown: func(ctx context.Context) error { return c.StepDown(ctx, "store") },
	}
}

// serveReplica starts a replica; the second one has the audit key of the first.
func serveReplica(w *world, s keptStore, first *dashboard) *dashboard {
	w.Helper()
	dir := w.TempDir()
	if first != nil {
		dir = first.replicaDir
	}
	files := &dashboard{TB: w.TB, dir: dir}
	must.Do(w, must.Err(keyfile.Sessions.Open(dir+"/session.key", "")))
	d := serve(w.TB, w.productURI(), "--store-file", files.secretFile("store", s.uri("suite_replicas")), "--audit-key", dir+"/audit.key",
		"--session-key", dir+"/session.key")
	d.replicaDir = dir
	return d
}

// leads waits until the replica leads, or does not.
func (d *dashboard) leads(want bool) {
	d.Helper()
	d.eventually(takeoverPatience, fmt.Sprintf("this replica leads: %v", want), func(ctx context.Context) error {
		var state struct {
			Leads  bool
			Leader *struct{ Name string }
		}
		if err := d.get(ctx, "/api/v1/data", &state); err != nil {
			return err
		}
		if state.Leads != want || state.Leader == nil || state.Leader.Name == "" {
			return fmt.Errorf("%+v", state)
		}
		return nil
	})
}

// splitBy makes a change by a replica, with tries while nobody leads, and looks for it in the cluster.
func splitBy(w *world, d *dashboard, n int) {
	w.Helper()
	before := w.picture(documentsNS)
	var c *cast
	err := until(w.Context(), takeoverPatience, func(ctx context.Context) error {
		var list struct{ Items []struct{ ID string } }
		if err := d.get(ctx, "/api/v1/projects?limit=1000", &list); err != nil {
			return err
		}
		c = &cast{}
		for _, p := range list.Items {
			c.projects = append(c.projects, p.ID)
		}
		p, err := d.tryPlan("split", args{"ns": documentsNS, "at": c.projectKey(w, 0, 0x700+n)})
		if err != nil {
			return err
		}
		var r run
		if err := d.post(ctx, "/api/v1/plans/"+p.ID+"/run", map[string]any{"hash": p.Hash, "confirm": p.Confirm}, &r); err != nil {
			return err
		}
		if r = d.wait(r.ID, healingPatience); r.State != "succeeded" {
			return fmt.Errorf("%s", r)
		}
		return nil
	})
	w.must(err)
	expect.That(w, w.picture(documentsNS) != before, "the run succeeded, and nothing has changed")
}
