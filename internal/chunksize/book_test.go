package chunksize

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/routing"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// alternatingCollection has n chunks on a numeric key, alternately on a and b.
func alternatingCollection(n int, life byte) *topology.Collection {
	p, bounds := routing.Pattern("k"), make([]int64, n-1)
	for i := range bounds {
		bounds[i] = int64(i + 1)
	}
	c := routing.Collection("db.c", p, routing.Bounds(p, bounds...), "a", "b")
	c.Incarnation.UUID = [16]byte{life}
	return c
}

// slowCluster answers after a delay and counts the commands.
type slowCluster struct {
	mu    sync.Mutex
	asked []shardkey.Range
	takes time.Duration
	err   error
	n     atomic.Int64
	most  atomic.Int64
}

func (s *slowCluster) RangeSize(ctx context.Context, _ topology.Meta, r shardkey.Range, exact bool) (topology.RangeSize, error) {
	if now := s.n.Add(1); now > s.most.Load() {
		s.most.Store(now)
	}
	defer s.n.Add(-1)
	s.mu.Lock()
	s.asked = append(s.asked, r)
	err := s.err
	s.mu.Unlock()
	select {
	case <-time.After(s.takes):
	case <-ctx.Done():
		return topology.RangeSize{}, ctx.Err()
	}
	if err != nil {
		return topology.RangeSize{}, err
	}
	return topology.RangeSize{Documents: 8000, Bytes: 8_600_000, Exact: exact, At: time.Now(), Took: s.takes}, nil
}

func (s *slowCluster) commandCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.asked)
}

type swappableTable struct {
	at atomic.Pointer[topology.Table]
}

func (t *swappableTable) Table() *topology.Table { return t.at.Load() }

func tableOf(cs ...*topology.Collection) *swappableTable {
	t := &swappableTable{}
	t.at.Store(&topology.Table{Loaded: true, Collections: cs})
	return t
}

// start measures in the background until it is stopped.
func start(t *testing.T, b *Book) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = b.Run(ctx) })
	return func() { cancel(); running.Wait() }
}

func rangeOf(ch topology.Chunk) shardkey.Range { return shardkey.Range{Min: ch.Min, Max: ch.Max} }

func TestMeasurementIsKeptUntilTheBoundsChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := alternatingCollection(4, 1)
		src := &slowCluster{}
		b := New(src, tableOf(c), nil)
		if _, ok := b.Of(c, c.Chunks.At(1)); ok {
			t.Fatal("a size is known before any measurement")
		}
		s, err := b.Measure(t.Context(), c, rangeOf(c.Chunks.At(1)), false)
		if err != nil || s.Documents.Value != 8000 || s.Documents.Method != MethodEstimate || s.Bytes.Exact {
			t.Fatalf("got %+v, %v, want Documents.Value 8000, Documents.Method %v, Bytes.Exact false", s, err, MethodEstimate)
		}
		time.Sleep(time.Hour)
		moved, _, err := c.Chunks.Apply([]topology.Chunk{{Min: c.Chunks.At(1).Min, Max: c.Chunks.At(1).Max, Shard: "a",
			Version: topology.Version{Major: 2}}})
		must.Do(t, err)
		after := &topology.Collection{Meta: c.Meta, Chunks: moved}
		if got, ok := b.Of(after, after.Chunks.At(1)); !ok || time.Since(got.At) != time.Hour {
			t.Errorf("after a move: %+v", got)
		}
		merged, _, err := moved.Apply([]topology.Chunk{{Min: c.Chunks.At(1).Min, Max: c.Chunks.At(2).Max, Shard: "a",
			Version: topology.Version{Major: 2, Minor: 1}}})
		must.Do(t, err)
		after = &topology.Collection{Meta: c.Meta, Chunks: merged}
		if got, ok := b.Of(after, after.Chunks.At(1)); ok {
			t.Errorf("after a merge: %+v", got)
		}
		again := alternatingCollection(4, 2)
		if got, ok := b.Of(again, again.Chunks.At(1)); ok {
			t.Errorf("the recreated collection has the old measurement: %+v", got)
		}
	})
}

func TestConcurrentRequestsShareOneMeasurement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := alternatingCollection(40, 1)
		src := &slowCluster{takes: time.Second}
		b := New(src, tableOf(c), nil)
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				expect.NoError(t, must.Err(b.Measure(t.Context(), c, rangeOf(c.Chunks.At(1)), true)), "Measure")
			})
		}
		// A caller that gives up does not cancel the measurement for the others.
		leaving, leave := context.WithTimeout(t.Context(), time.Millisecond)
		defer leave()
		if _, err := b.Measure(leaving, c, rangeOf(c.Chunks.At(1)), true); fault.Of(err) != fault.Unavailable {
			t.Errorf("the caller that gave up: %v, want kind %v", err, fault.Unavailable)
		}
		all.Wait()
		expect.Equal(t, src.commandCount(), 1, "commands")
		// An exact result is reused as an estimate for half a minute.
		_, err := b.Measure(t.Context(), c, rangeOf(c.Chunks.At(1)), false)
		if n := src.commandCount(); err != nil || n != 1 {
			t.Errorf("%d commands, %v, want 1", n, err)
		}
		for i := 2; i < 12; i++ {
			all.Go(func() { _, _ = b.Measure(t.Context(), c, rangeOf(c.Chunks.At(i)), false) })
		}
		all.Wait()
		if n := src.most.Load(); n > atOnce {
			t.Errorf("%d at once, want at most %v", n, atOnce)
		}
	})
}

func TestMeasurementsOnDemandAreLimitedPerMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := alternatingCollection(200, 1)
		src := &slowCluster{}
		b := New(src, tableOf(c), nil)
		for i := range 100 {
			_, err := b.Measure(t.Context(), c, rangeOf(c.Chunks.At(i)), false)
			must.That(t, errors.Is(err, topology.ErrMeasuredOften) == (i >= DemandPerMinute), "%d: %v", i, err)
		}
		time.Sleep(time.Minute)
		expect.NoError(t, must.Err(b.Measure(t.Context(), c, rangeOf(c.Chunks.At(150)), false)), "a minute later")
		expect.Equal(t, src.commandCount(), DemandPerMinute+1, "commands")
	})
}

func TestBackgroundMeasuresOnlyViewedChunks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := alternatingCollection(1000, 1)
		src := &slowCluster{}
		b := New(src, tableOf(c), nil)
		defer start(t, b)()
		time.Sleep(time.Hour + time.Minute)
		if n := src.commandCount(); n != 0 {
			t.Fatalf("%d commands without a viewer, want 0", n)
		}
		b.Viewed(c, []int{7, 3, 5})
		time.Sleep(7 * time.Second)
		if n := src.commandCount(); n != 3 {
			t.Fatalf("%d commands after three chunks were looked at, want 3", n)
		}
		if first := src.asked[0]; first.Min.Compare(c.Chunks.At(7).Min) != 0 {
			t.Error("the chunks were not measured in the order of the list")
		}
		time.Sleep(20 * time.Minute)
		expect.Equal(t, src.commandCount(), 3, "commands after all viewers left")
		var all []int
		for i := range 1000 {
			all = append(all, i)
		}
		before := src.commandCount()
		b.Viewed(c, all)
		time.Sleep(time.Hour)
		if n := src.commandCount() - before; n == 0 || n > 2*PerMinute+1 {
			t.Errorf("%d commands for one look at a thousand chunks, want more than 0, at most %v", n, 2*PerMinute+1)
		}
		b.mu.Lock()
		left := len(b.wanted)
		b.mu.Unlock()
		expect.Equal(t, left, 0, "collections still wanted")
	})
}

func TestSlowEstimatesAreSpacedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := alternatingCollection(100, 1)
		src := &slowCluster{takes: time.Second}
		b := New(src, tableOf(c), nil)
		defer start(t, b)()
		b.Viewed(c, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
		time.Sleep(time.Minute)
		if n := src.commandCount(); n > 3 {
			t.Errorf("%d commands of a second each in a minute, want at most 3", n)
		}
	})
}

func TestForbiddenMeasurementIsNotRetriedSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := alternatingCollection(100, 1)
		src := &slowCluster{err: fault.New(fault.Forbidden, "no")}
		b := New(src, tableOf(c), nil)
		defer start(t, b)()
		for range 5 {
			b.Viewed(c, []int{0, 1, 2, 3, 4})
			time.Sleep(time.Minute)
		}
		expect.Equal(t, src.commandCount(), 1, "commands")
		if s, measured := b.Of(c, c.Chunks.At(0)); measured || s.Reason != "notPermitted" {
			t.Errorf("got %+v (measured %t), want the reason notPermitted", s, measured)
		}
		if s, _ := b.Of(c, c.Chunks.At(77)); s.Reason != "notPermitted" || s.ReasonAt.IsZero() {
			t.Errorf("a chunk that was not tried: %+v", s)
		}
		time.Sleep(retryAfter)
		if s, _ := b.Of(c, c.Chunks.At(77)); s.Reason != "" {
			t.Errorf("later: %+v, want Reason empty", s)
		}
	})
}

func TestFailureKeepsTheEarlierMeasurement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := alternatingCollection(4, 1)
		src := &slowCluster{}
		b := New(src, tableOf(c), nil)
		must.Do(t, must.Err(b.Measure(t.Context(), c, rangeOf(c.Chunks.At(1)), false)))
		time.Sleep(time.Minute)
		src.takes = time.Hour
		if _, err := b.Measure(t.Context(), c, rangeOf(c.Chunks.At(1)), true); ReasonOf(err) != "tooSlow" {
			t.Errorf("got %v, want the reason tooSlow", err)
		}
		s, ok := b.Of(c, c.Chunks.At(1))
		if !ok || s.Reason != "tooSlow" || s.Documents.Value != 8000 || time.Since(s.At) < time.Minute {
			t.Errorf("got %+v, want the measurement of before with the reason tooSlow", s)
		}
	})
}

func TestKnownSizesFollowMeasurementsAndTableChanges(t *testing.T) {
	c := alternatingCollection(6, 1)
	b := New(&slowCluster{}, tableOf(c), nil)
	measure := func(i int) {
		t.Helper()
		must.Do(t, must.Err(b.Measure(t.Context(), c, rangeOf(c.Chunks.At(i)), false)))
	}
	measure(1)
	if got := b.Known(c); len(got) != 1 || !got[1].Measured {
		t.Fatalf("got %+v, want len 1, [1].Measured true", got)
	}
	measure(4)
	if got := b.Known(c); len(got) != 2 || !got[4].Measured {
		t.Errorf("after another one: %+v, want len 2, [4].Measured true", got)
	}
	split, _, err := c.Chunks.Apply([]topology.Chunk{{Min: c.Chunks.At(2).Min, Max: c.Chunks.At(3).Max, Shard: "a",
		Version: topology.Version{Major: 2}}})
	must.Do(t, err)
	if got := b.Known(&topology.Collection{Meta: c.Meta, Chunks: split}); len(got) != 2 || !got[3].Measured {
		t.Errorf("after two chunks before it were merged: %+v, want len 2, [3].Measured true", got)
	}
}

func TestNumberOfKeptMeasurementsIsBounded(t *testing.T) {
	c := alternatingCollection(kept+50, 1)
	b := New(&slowCluster{}, tableOf(c), nil)
	for i := range kept + 50 {
		b.record(c, rangeOf(c.Chunks.At(i)), topology.RangeSize{Documents: 1, At: time.Now()}, nil)
	}
	if n := len(b.Known(c)); n != kept || b.entries.Len() != kept {
		t.Errorf("%d are kept", n)
	}
	if _, ok := b.Of(c, c.Chunks.At(0)); ok {
		t.Error("the oldest measurement is still kept")
	}
}
