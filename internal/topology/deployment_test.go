package topology

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/must"
)

// deployment is a cluster whose mongos, members, shards and collections come and go. Each has a name of its own.
type deployment struct {
	*fake
	sets    []ReplicaSet
	routers []Router
}

func (d *deployment) Routers(ctx context.Context) ([]Router, error) {
	return answer(ctx, d.fake, "Routers", func() []Router { return slices.Clone(d.routers) })
}

func (d *deployment) Ask(ctx context.Context, _ Namespace, _ bson.D, _ bson.Raw, _ bool) error {
	return d.startCall(ctx, "Ask")
}

func (d *deployment) ReplicaSets(ctx context.Context) ([]ReplicaSet, error) {
	return answer(ctx, d.fake, "ReplicaSets", func() []ReplicaSet { return slices.Clone(d.sets) })
}

func (d *deployment) OpenCursors(ctx context.Context) ([]OpenCursor, time.Time, error) {
	return nil, time.Now(), d.startCall(ctx, "OpenCursors")
}

// Sizes of a shard that is going have orphaned documents.
func (d *deployment) Sizes(ctx context.Context, ns Namespace) (Sizes, error) {
	s, err := d.fake.Sizes(ctx, ns)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sizesRead = nil
	if err == nil {
		s.Shards[d.shards[3].Name] = Size{Orphans: Figure{Known: true, Value: 9, At: time.Now()}}
	}
	return s, err
}

// replace puts a generation of all in place of the one before.
func (d *deployment) replace(generation int) {
	d.change(func() {
		d.window, d.disksAskedOf = nil, nil // the fake's own notes
		name := func(kind string, i int) string { return fmt.Sprintf("%s-%d-%d", kind, generation, i) }
		d.routers, d.sets = nil, nil
		for i := range 200 {
			d.routers = append(d.routers, Router{Host: name("mongos", i) + ":27017", Version: "5.0.7", Ping: time.Now()})
		}
		for i := range 10 {
			var members []Member
			for n := range 5 {
				members = append(members, Member{Address: name("member", 5*i+n), Reached: (generation+n)%3 > 0, Primary: n == 0})
			}
			d.sets = append(d.sets, ReplicaSet{Name: fmt.Sprint("rs", i), Members: members})
		}
		d.shards = append(d.shards[:3:3], Shard{Name: name("shard", 0)})
		for ns := range d.colls {
			if ns != "db.kept" {
				delete(d.colls, ns)
			}
		}
		ns := Namespace("db." + name("coll", 0))
		d.add(ns, byte(1+generation%250), 10, 20).move(1, d.shards[3].Name)
		d.plain["db"] = []Namespace{Namespace("db." + name("plain", 0))}
		if generation%4 == 1 {
			d.failNS = map[Namespace]error{ns: fault.New(fault.Forbidden, "not permitted")}
		}
	})
}

// 200 mongos, 50 members, a shard and its collections are replaced every ten minutes, when the config servers also step
// down. Nothing is kept of what is gone: lists have what is there, and memory and goroutines stay as they were.
func TestNothingIsKeptOfServersThatAreGone(t *testing.T) {
	d := &deployment{fake: newFake(t)}
	d.add("db.kept", 251, 5)
	d.replace(0)
	hours := 24
	if os.Getenv("SHARDBOARD_LONG") != "" {
		hours = 240
	}
	watch(t, d, Options{}, func(w *Watcher) {
		day := func(from, to int) (heap uint64, goroutines int) {
			for generation := from; generation < to; generation++ {
				d.replace(generation)
				d.change(func() { d.fail["all"] = fault.New(fault.Unavailable, "not writable primary") })
				wait(12 * time.Second)
				d.change(func() { delete(d.fail, "all") })
				wait(10*time.Minute - 12*time.Second)
				last := fmt.Sprintf("-%d-", generation)
				table := w.Table()
				for _, r := range table.Routers {
					must.That(t, strings.Contains(r.Host, last), "%s is listed in generation %d", r.Host, generation)
				}
				for _, s := range table.Answering.Sets {
					for _, m := range s.Members {
						must.That(t, strings.Contains(m.Address, last), "%s is listed in generation %d", m.Address, generation)
					}
				}
				if n, c := len(table.Shards), len(table.Collections); n != 4 || c < 1 || c > 2 || len(table.Answering.Shards) != 4 ||
					len(table.Routers) != 200 || len(table.Sizes) > 3 || len(table.FlagsRead) > 2 || len(table.Disks) > 4 {
					t.Fatalf("generation %d: %d shards, %d collections, %d that answer, %d routers, %d sizes, %d disks", generation, n, c,
						len(table.Answering.Shards), len(table.Routers), len(table.Sizes), len(table.Disks))
				}
			}
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			return m.HeapAlloc, runtime.NumGoroutine()
		}
		before, goroutines := day(1, 12)
		after, now := day(12, 6*hours)
		t.Logf("after 2 and %d hours: %d and %d bytes, %d and %d goroutines", hours, before, after, goroutines, now)
		if now > goroutines || after > before+before/40 {
			t.Errorf("after 2 and %d hours: %d and %d bytes, %d and %d goroutines", hours, before, after, goroutines, now)
		}
	})
}
