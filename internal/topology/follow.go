package topology

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"shardboard/internal/clock"
	"shardboard/internal/fault"
)

// FollowSource is a source that tells of changelog entries as they are written.
type FollowSource interface {
	// Follow gives the entries that the servers' clocks date from since on, in the order in which they were written: first
	// all that are there, then those of each answer, none when nothing came for a while. It ends with the context or
	// with what went wrong, and leaves no cursor.
	Follow(ctx context.Context, since time.Time, each func([]Event)) error
}

const (
	// followedPoll is how often the routing is polled while the changelog is followed, for what no entry told.
	followedPoll = 30 * time.Second
	// followedMoves is likewise for migrations while none is known.
	followedMoves = time.Minute
	// followedSweep is how many times fewer chunks the sweep reads while the changelog is followed: of a flag that a move
	// left an entry tells.
	followedSweep = 5
	// followedAge is how old the newest answer of a followed changelog is at most while nothing happens.
	followedAge = 10 * time.Second
	// followGap is the shortest time between two reads of one collection because of entries.
	followGap = 250 * time.Millisecond
	// followAgain is when a collection is read once more in which an entry's change was not to be seen yet: an entry can
	// be there before a majority of the config servers has the change.
	followAgain = 50 * time.Millisecond
	// followOverlap is how many known entries, and how much time before the oldest of them, are read again when following
	// begins: clocks differ.
	followOverlap     = 200
	followOverlapTime = time.Hour
	// followGather is how long entries are gathered after some came, and stormGather after so many that they are a storm,
	// which must cost little more than a poll; nobody is a second behind.
	followGather = 100 * time.Millisecond
	stormGather  = 800 * time.Millisecond
	stormEntries = 8 // gathered in followGather, or in stormGather in proportion
)

// Following tells whether the changelog is followed, so that changes are seen as they are made.
type Following struct {
	Live bool
	Err  error // why not; nil while that was not tried, or is not meant to be
}

// follower is the state of following.
type follower struct {
	mu     sync.Mutex
	live   bool
	err    error
	named  map[Namespace]namedRead // collections that entries named and that were not read since
	last   map[Namespace]time.Time // when collections were read because of entries, in the last followGap
	whole  bool                    // an entry tells of what only a poll of all collections finds
	owed   uint64                  // the table with entries of a storm that subscribers were not told of yet; 0: none
	come   chan struct{}           // has one when there is something to read or live has changed
	moving chan struct{}           // likewise when a migration was logged
}

// namedRead is when to read a collection, and whether that is the second try.
type namedRead struct {
	due   time.Time
	again bool
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// isLive tells whether the changelog is followed now.
func (f *follower) isLive() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.live
}

// state is what a table says of it.
func (f *follower) state() Following {
	f.mu.Lock()
	defer f.mu.Unlock()
	return Following{Live: f.live, Err: f.err}
}

// set notes that following began or ended.
func (f *follower) set(live bool, err error) (changed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	changed = f.live != live
	f.live, f.err = live, err
	if changed {
		f.whole = true
		signal(f.come)
		signal(f.moving)
	}
	return changed
}

// name notes that collections may have changed, or that any may have.
func (f *follower) name(list []Namespace, whole bool, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.whole = f.whole || whole
	for _, ns := range list {
		due := now
		if next := f.last[ns].Add(followGap); next.After(due) {
			due = next
		}
		if old, ok := f.named[ns]; !ok || old.again || due.Before(old.due) {
			f.named[ns] = namedRead{due: due}
		}
	}
	if len(list) > 0 || whole {
		signal(f.come)
	}
}

// takeWhole tells whether all collections are to be polled at once.
func (f *follower) takeWhole() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	whole := f.whole
	f.whole = false
	return whole
}

// due takes the collections that are to be read now. next is when others are; zero when there are none.
func (f *follower) due(now time.Time) (list map[Namespace]namedRead, next time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	list = map[Namespace]namedRead{}
	for ns, r := range f.named {
		if r.due.After(now) {
			if next.IsZero() || r.due.Before(next) {
				next = r.due
			}
			continue
		}
		list[ns] = r
		delete(f.named, ns)
		f.last[ns] = now
	}
	for ns, at := range f.last {
		if now.Sub(at) > followGap {
			delete(f.last, ns)
		}
	}
	return list, next
}

// again notes that collections did not show what an entry told.
func (f *follower) again(list []Namespace, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, ns := range list {
		if _, named := f.named[ns]; !named {
			f.named[ns] = namedRead{due: now.Add(followAgain), again: true}
		}
	}
}

// follow keeps a cursor at the end of the changelog while that is meant to be. Where it cannot, everything is polled.
func (w *Watcher) follow(ctx context.Context) error {
	src, ok := w.src.(FollowSource)
	if !ok || w.o.Follow == nil {
		return nil
	}
	select {
	case <-w.loaded:
	case <-ctx.Done():
		return ctx.Err()
	}
	failed, said := 0, ""
	for {
		pause := w.o.Routing
		if w.o.Follow() {
			began := time.Now()
			err := w.followOnce(ctx, src)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			w.follower.set(false, err)
			if err != nil && fault.Text(err) != said {
				said = fault.Text(err)
				w.o.Log.Info("the changelog is polled, not followed", "cluster", w.Table().ClusterID, "reason", err)
			}
			if failed++; time.Since(began) > w.o.MaxBackoff {
				failed = 0
			}
			pause = jittered(min(w.o.Routing<<min(failed, 16), max(w.o.MaxBackoff, w.o.Routing)))
			if fault.Of(err) == fault.Forbidden {
				pause = deniedFor
			}
		}
		if err := clock.Sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// followOnce follows until that ends or is not meant to be any more; then it gives no error.
func (w *Watcher) followOnce(ctx context.Context, src FollowSource) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stopped, gather := false, followGather
	err := src.Follow(ctx, w.followFrom(), func(batch []Event) {
		if stopped = !w.o.Follow(); stopped {
			cancel()
			return
		}
		w.takeEntries(ctx, batch, gather == stormGather)
		storm := len(batch) >= stormEntries*int(gather/followGather)
		if gather = followGather; storm {
			gather = stormGather
		}
		if len(batch) > 0 {
			_ = clock.Sleep(ctx, gather)
		}
	})
	if stopped && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// followFrom is the time from which entries are read when following begins.
func (w *Watcher) followFrom() (from time.Time) {
	events := w.Table().Events
	for _, e := range events[:min(len(events), followOverlap)] {
		at := e.Time
		if !e.Written.IsZero() {
			at = e.Written
		}
		if from.IsZero() || at.Before(from) {
			from = at
		}
	}
	if from.IsZero() {
		return from
	}
	return from.Add(-followOverlapTime)
}

// takeEntries takes over what the cursor gave: entries that are not known become the table's newest, and the
// collections that they name are read. In a storm, subscribers hear of both at once.
func (w *Watcher) takeEntries(ctx context.Context, batch []Event, storm bool) {
	if w.events.enter(ctx) != nil {
		return
	}
	defer w.events.leave()
	known := make(map[string]bool, len(w.Table().Events))
	for _, e := range w.Table().Events {
		known[e.ID] = true
	}
	// What lies before a known entry is older than what the table holds.
	for i := len(batch) - 1; i >= 0; i-- {
		if known[batch[i].ID] {
			batch = batch[i+1:]
			break
		}
	}
	fresh := slices.Clone(batch)
	slices.Reverse(fresh)
	if len(fresh) > 0 {
		w.suspects.addAll(fresh)
	}
	begins := w.follower.set(true, nil)
	now := time.Now()
	idle := w.named(fresh, now)
	w.publish(func(t *Table) bool {
		loud := t.note(PartEvents, nil) || begins
		if idle { // nothing is to be read: what is shown is as the log tells
			t.stillGood(PartRouting, now)
			if len(t.Moves.List) == 0 {
				t.stillGood(PartMoves, now)
			}
		}
		t.Following = w.follower.state()
		if len(fresh) == 0 {
			return loud
		}
		t.Events = CorrectTimes(newestEvents(slices.Concat(fresh, t.Events)))
		return loud || !storm || idle || !w.follower.owe(t.Seq)
	})
}

// owe notes that subscribers have to be told of a table, unless that is owed already.
func (f *follower) owe(seq uint64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.owed != 0 {
		return false
	}
	f.owed = seq
	signal(f.come)
	return true
}

// tellOwed tells subscribers of the table that is owed, unless a later one has told them.
func (w *Watcher) tellOwed() {
	w.follower.mu.Lock()
	owed := w.follower.owed
	w.follower.owed = 0
	w.follower.mu.Unlock()
	if owed != 0 {
		w.publish(func(t *Table) bool { return t.Seq == owed })
	}
}

// stillGood makes the last good read of a part one of now. The part's health is this table's own.
func (t *Table) stillGood(p Part, now time.Time) {
	if h := t.Health[p]; h.Err == nil && !h.At.IsZero() {
		h.At = now
		t.Health[p] = h
	}
}

// named has the collections of entries read, and tells whether there is nothing to be read.
func (w *Watcher) named(fresh []Event, now time.Time) (idle bool) {
	var list []Namespace
	slow, whole, moved := false, false, false
	for _, e := range fresh {
		ns := Namespace(e.NS)
		if ns.Database() != "" && ns.Collection() != "" {
			list = append(list, ns)
		} else {
			slow = true // of shards, databases or settings
		}
		whole = whole || strings.HasPrefix(e.What, "renameCollection") || strings.HasPrefix(e.What, "dropDatabase")
		moved = moved || strings.HasPrefix(e.What, "moveChunk.")
	}
	if moved {
		signal(w.follower.moving)
	}
	if slow {
		w.wake()
	}
	w.follower.name(list, whole, now)
	w.follower.mu.Lock()
	defer w.follower.mu.Unlock()
	return len(w.follower.named) == 0
}
