package placement

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

func names(d *Directory) []string {
	var out []string
	for _, p := range d.All() {
		out = append(out, p.Name)
	}
	return out
}

func TestKeeperSeesNewProjectsInTenSecondsAndRenamedOnesInAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &fakeSource{projects: []ProjectRow{{ID: oid(1), Name: "one"}}}
		k := NewKeeper(src, fixedTable{t: testTable()}, profile.Yorkie(), slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if k.Directory().Loaded() {
			t.Error("the directory is loaded before the first read")
		}
		go k.Run(ctx)
		synctest.Wait()
		d, changed, stop := k.Subscribe()
		defer stop()
		if !d.Loaded() || !slices.Equal(names(d), []string{"one"}) {
			t.Fatalf("after the first read: %v", names(d))
		}
		src.setProjects([]ProjectRow{{ID: oid(1), Name: "uno"}, {ID: oid(2), Name: "two"}}, nil)
		time.Sleep(11 * time.Second)
		expect.EqualSlices(t, names(k.Directory()), []string{"one", "two"}, "after ten seconds")
		select {
		case <-changed:
		default:
			t.Error("subscribers were not notified")
		}
		time.Sleep(time.Minute)
		expect.EqualSlices(t, names(k.Directory()), []string{"two", "uno"}, "after a minute")
		seq := k.Directory().Seq()
		time.Sleep(5 * time.Minute)
		expect.Equal(t, k.Directory().Seq(), seq, "unchanged projects were published again")
	})
}

func TestKeeperKeepsItsProjectsWhenReadsFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &fakeSource{projects: []ProjectRow{{ID: oid(1), Name: "one"}}}
		k := NewKeeper(src, fixedTable{t: testTable()}, profile.Yorkie(), slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go k.Run(ctx)
		synctest.Wait()
		src.setProjects(src.projects,
			fault.Wrap(fault.Forbidden, &topology.DeniedError{Privilege: "find on yorkie-meta.projects"}, "not authorized"))
		time.Sleep(11 * time.Second)
		d := k.Directory()
		if !slices.Equal(names(d), []string{"one"}) || d.Health().Err == nil || !d.Health().Denied {
			t.Errorf(`got %v %+v, want the project "one" and a denied read`, names(d), d.Health())
		}
		if d.Health().Privilege != "find on yorkie-meta.projects" {
			t.Errorf(`privilege %q, want "find on yorkie-meta.projects"`, d.Health().Privilege)
		}
		src.setProjects(src.projects, nil)
		time.Sleep(11 * time.Second)
		if k.Directory().Health().Err != nil {
			t.Error("still failing after the cluster answers again")
		}
	})
}
