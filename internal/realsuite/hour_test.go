package realsuite_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/realcluster"
)

const (
	openPages = 50
	// unsettled is how long a run may stay open after the cluster was healed and left alone.
	unsettled = 20 * time.Minute
)

// TestRandomFaults hurts the cluster at random for as long as SHARDBOARD_REAL_HOUR says, under Yorkie's
// writers, changes and open pages. In the end every run is settled, the cluster has what the runs say, nothing is
// left, and the product is not larger than at the beginning.
func TestRandomFaults(t *testing.T) {
	long, err := time.ParseDuration(os.Getenv(hourVariable))
	if err != nil {
		t.Skipf("%s is %q; make long sets it to a duration such as 1h", hourVariable, os.Getenv(hourVariable))
	}
	seed, _ := strconv.ParseUint(os.Getenv(seedVariable), 10, 64)
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	for _, g := range targets(t) {
		t.Run(g.name(), func(t *testing.T) {
			w := newWorld(t, g, form{whole: true}, wanted{orphanDelay: shortOrphans, threeFirst: !g.simulated})
			t.Logf("%s with %s=%d", long, seedVariable, seed)
			w.load(hashedData, "yorkie-head", 12, 300)
			w.point("random faults", func(w *world) { randomFaults(w, long, rand.New(rand.NewPCG(seed, 1))) })
		})
	}
}

// storm is a run of random faults.
type storm struct {
	*world
	d       *dashboard
	rng     *rand.Rand
	changes atomic.Int64
	opened  atomic.Int64
}

func randomFaults(w *world, long time.Duration, rng *rand.Rand) {
	s := &storm{world: w, d: w.serve(), rng: rng}
	addr := startYorkie(w)
	_, endEditors := startEditorsFor(w, addr, long+unsettled, "-again")
	ctx, stop := context.WithTimeout(w.Context(), long)
	defer stop()
	var all sync.WaitGroup
	for n := range openPages {
		all.Go(func() { s.keepOpen(ctx, n) })
	}
	changeSeed := rng.Uint64()
	all.Go(func() { s.keepChanging(ctx, rand.New(rand.NewPCG(changeSeed, 2))) })
	first := s.measure(ctx, 30*time.Second) // with all pages open
	w.Logf("at the beginning: %s", first)
	faults, largest := 0, first
	for ctx.Err() == nil {
		what := s.hurt(ctx)
		faults++
		w.must(s.cluster.Revive(w.Context()))
		s.proxy.Restore()
		now := s.measure(ctx, time.Duration(10+rng.IntN(20))*time.Second)
		w.Logf("%d %s; %d changes; %s", faults, what, s.changes.Load(), now)
		largest = largest.or(now)
	}
	stop()
	all.Wait()
	w.must(endEditors())
	w.Logf("%d faults, %d changes, %d pages opened; at most %s", faults, s.changes.Load(), s.opened.Load(), largest)
	s.d.eventually(unsettled, "every run is settled", s.allSettled)
	s.checkSize(first)
	s.d.kill()
	w.point("nothing is left", nothingIsLeft)
}

// hurt does one random thing and says what.
func (s *storm) hurt(ctx context.Context) string {
	s.Helper()
	members := append(s.cluster.Shards(), realcluster.ConfigServer, realcluster.Router)
	member := members[s.rng.IntN(len(members))]
	shard := s.cluster.Shards()[s.rng.IntN(len(s.cluster.Shards()))]
	long := time.Duration(1+s.rng.IntN(25)) * time.Second
	pass := func() {
		select {
		case <-time.After(long):
		case <-ctx.Done():
		}
	}
	switch s.rng.IntN(7) {
	case 0, 1, 2:
		s.must(s.cluster.Freeze(s.Context(), member))
		pass()
		return fmt.Sprintf("%s was frozen for %s", member, long)
	case 3:
		s.must(s.cluster.Kill(s.Context(), member))
		pass()
		return fmt.Sprintf("%s was killed, and away for %s", member, long)
	case 4:
		s.must(s.cluster.StepDown(s.Context(), shard))
		pass()
		return shard + " has another primary"
	case 5:
		s.proxy.Cut()
		pass()
		return fmt.Sprintf("connections were cut for %s", long)
	}
	s.proxy.Hold()
	pass()
	return fmt.Sprintf("answers were held for %s", long)
}

// keepOpen keeps a page open, and opens it again when the product closes it.
func (s *storm) keepOpen(ctx context.Context, n int) {
	topics := []string{"overview", "collections", "projects", "activity", "zones", "map", "matrix:projects-writes",
		"collection:" + documentsNS}
	for ctx.Err() == nil {
		p, err := s.d.open(ctx, topics[n%len(topics)])
		if err == nil {
			s.opened.Add(1)
			for open := true; open; {
				select {
				case _, open = <-p.frames:
				case <-ctx.Done():
					open = false
				}
			}
			_ = p.conn.Close()
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
		}
	}
}

// keepChanging makes changes. They may be refused and fail while the cluster is hurt.
func (s *storm) keepChanging(ctx context.Context, rng *rand.Rand) {
	for ctx.Err() == nil {
		if err := s.changeOnce(ctx, rng); err == nil {
			s.changes.Add(1)
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
		}
	}
}

func (s *storm) changeOnce(ctx context.Context, rng *rand.Rand) error {
	var list struct{ Items []struct{ Ref, Shard string } }
	if err := s.d.get(ctx, "/api/v1/collections/"+changesNS+"/chunks?limit=1000", &list); err != nil || len(list.Items) == 0 {
		return errors.Join(err, errors.New("no chunks are known"))
	}
	c := list.Items[rng.IntN(len(list.Items))]
	kind, a := "move", args{"ns": changesNS, "chunk": c.Ref, "to": s.otherShard(c.Shard)}
	if rng.IntN(3) == 0 {
		hash := map[string]string{"$numberLong": fmt.Sprint(int64(rng.Uint64()))}
		kind, a = "split", args{"ns": changesNS, "at": map[string]any{"doc_id": hash}}
	}
	p, err := s.d.tryPlan(kind, a)
	if err != nil || p.Blocked {
		return errors.Join(err, errors.New(p.blockers()))
	}
	var r run
	err = s.d.post(ctx, "/api/v1/plans/"+p.ID+"/run", map[string]any{"hash": p.Hash, "confirm": p.Confirm}, &r)
	if err != nil {
		return err
	}
	return until(ctx, unsettled, func(ctx context.Context) error {
		if err := s.d.get(ctx, "/api/v1/runs/"+r.ID, &r); err != nil {
			return err
		}
		if r.Open {
			return errOpen
		}
		return nil
	})
}

// allSettled reports a run that is open or whose outcome is not known.
func (s *storm) allSettled(ctx context.Context) error {
	var list struct{ Items []run }
	if err := s.d.get(ctx, "/api/v1/runs?limit=1000", &list); err != nil {
		return err
	}
	for _, r := range list.Items {
		if r.Open || r.State == "unknown" {
			return fmt.Errorf("%s", r)
		}
	}
	if len(list.Items) == 0 {
		return errors.New("there are no runs")
	}
	return nil
}

// size is how large the product's process is.
type size struct{ megabytes, goroutines, descriptors int }

func (z size) String() string {
	return fmt.Sprintf("%d MB, %d goroutines, %d descriptors", z.megabytes, z.goroutines, z.descriptors)
}

func (z size) or(o size) size {
	return size{max(z.megabytes, o.megabytes), max(z.goroutines, o.goroutines), max(z.descriptors, o.descriptors)}
}

// measure lets time go by and reads the size; what cannot be read is 0.
func (s *storm) measure(ctx context.Context, after time.Duration) (z size) {
	select {
	case <-time.After(after):
	case <-ctx.Done():
	}
	answer, err := http.Get(s.d.root + "/metrics")
	if err == nil {
		defer answer.Body.Close()
		text, _ := io.ReadAll(answer.Body)
		for line := range strings.Lines(string(text)) {
			if n, ok := strings.CutPrefix(line, "go_goroutines "); ok {
				z.goroutines, _ = strconv.Atoi(strings.TrimSpace(n))
			}
		}
	}
	proc := fmt.Sprintf("/proc/%d", s.d.cmd.Process.Pid)
	if files, err := os.ReadDir(proc + "/fd"); err == nil {
		z.descriptors = len(files)
	}
	if f, err := os.Open(proc + "/status"); err == nil {
		defer f.Close()
		for in := bufio.NewScanner(f); in.Scan(); {
			if rest, ok := strings.CutPrefix(in.Text(), "VmRSS:"); ok {
				kilobytes, _ := strconv.Atoi(strings.Fields(rest)[0])
				z.megabytes = kilobytes >> 10
			}
		}
	}
	return z
}

// checkSize compares the process with the beginning, after all pages are closed.
func (s *storm) checkSize(first size) {
	s.Helper()
	var last size
	err := until(s.Context(), 3*time.Minute, func(ctx context.Context) error {
		last = s.measure(ctx, time.Second)
		if last.goroutines > first.goroutines+50 || last.descriptors > first.descriptors+50 {
			return errors.New("more goroutines or descriptors")
		}
		return nil
	})
	s.Logf("at the end: %s", last)
	expect.That(s, err == nil, "the process has %s, and had %s at the beginning", last, first)
	limit := 3*first.megabytes + 200
	expect.That(s, last.megabytes <= limit, "the process has %d MB, want at most %d", last.megabytes, limit)
}
