package auth

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

const oneHash = 100 * time.Millisecond

func slowly(h *Service) { h.hashes.slow = func() { time.Sleep(oneHash) } }

// siege has strangers of 200 addresses sign in again and again, with each as many
// attempts as it is allowed, until stop is called.
func siege(t *testing.T, h *Service) (stop func() (atOnce, late int)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	var atOnce, late atomic.Int64
	for i := range floodFrom {
		all.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				began := time.Now()
				_, _, err := h.SignIn(ctx, Credentials{Name: fmt.Sprint("nobody-", i, "-", n), Password: "wrong", From: floodAddress(i)})
				if busy := (*Busy)(nil); errors.As(err, &busy) {
					if time.Since(began) == 0 {
						atOnce.Add(1)
					} else {
						late.Add(1)
					}
				}
				time.Sleep(time.Minute / addressPerMinute)
			}
		})
	}
	synctest.Wait()
	return func() (int, int) {
		cancel()
		all.Wait()
		return int(atOnce.Load()), int(late.Load())
	}
}

// houseAt is a house whose clock is the test's own.
func houseAt(t *testing.T) *house {
	t.Helper()
	h := newHouse(t, func(o *Options) { o.Now = time.Now })
	return h
}

func TestPeopleAtKnownPlacesAlwaysHaveATurnDuringAFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := houseAt(t)
		const people = 10
		for i := range people {
			h.add(t, fmt.Sprint("user", i), Viewer)
			h.in(t, fmt.Sprint("user", i))
		}
		later := h.service(t, func(o *Options) { o.Now = time.Now }) // after a restart
		slowly(later)
		stop := siege(t, later)
		refused, longest := 0, time.Duration(0)
		const signIns = 100
		for i := range signIns {
			began := time.Now()
			if _, _, err := later.SignIn(t.Context(), Credentials{Name: fmt.Sprint("user", i%people), Password: goodPassword, From: "192.0.2.1"}); err != nil {
				refused++
				t.Error(err)
			}
			longest = max(longest, time.Since(began))
			time.Sleep(2 * oneHash)
		}
		atOnce, late := stop()
		if refused > 0 || longest > 2*oneHash {
			t.Errorf("%d of %d sign-ins were refused, the longest took %s", refused, signIns, longest)
		}
		if atOnce == 0 || late > 0 {
			t.Errorf("of the strangers %d were told at once that they are too many, %d after waiting", atOnce, late)
		}
		later.o.Refusals.Flush()
		if n := len(h.audited(t, auditLimited)); n == 0 || n > 6 {
			t.Errorf("%d records say that there were too many at once", n)
		}
	})
}

func TestAStrangerWhoWaitsLongIsToldToComeBackAndLeavesTheLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newHashQueue()
		for range hashAtOnce {
			if _, err := q.turn(t.Context(), asker{from: "busy"}); err != nil {
				t.Fatal(err)
			}
		}
		for who, wait := range map[asker]time.Duration{{from: "a"}: strangerWait, {from: "a", known: true}: knownWait} {
			began := time.Now()
			_, err := q.turn(t.Context(), who)
			busy := (*Busy)(nil)
			if !errors.As(err, &busy) || busy.Wait <= 0 || time.Since(began) != wait {
				t.Errorf("%+v: %v after %s", who, err, time.Since(began))
			}
		}
		if q.strangers.waiting+q.known.waiting+len(q.strangers.by)+len(q.strangers.order)+len(q.known.by) != 0 {
			t.Errorf("%+v", q)
		}
		q.done()
		q.done()
		if q.free != hashAtOnce {
			t.Errorf("%d places", q.free)
		}
	})
}

// One address that fills the line keeps nobody out who comes from elsewhere.
func TestAddressesTakeTurnsAndTheLineOfStrangersIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newHashQueue()
		var order []string
		var refused atomic.Int64
		var all sync.WaitGroup
		ask := func(who asker) {
			all.Go(func() {
				done, err := q.turn(t.Context(), who)
				if err != nil {
					refused.Add(1)
					return
				}
				order = append(order, who.from) // one place is free at a time
				time.Sleep(oneHash)
				done()
			})
			synctest.Wait()
		}
		var held []func()
		for range hashAtOnce {
			done, err := q.turn(t.Context(), asker{from: "held"})
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, done)
		}
		for range strangerEach + 3 {
			ask(asker{from: "loud"})
		}
		if n := refused.Load(); n != 3 {
			t.Errorf("%d of one address were refused", n)
		}
		for i := range strangerMost - strangerEach {
			ask(asker{from: fmt.Sprint("s", i/2)})
		}
		if n := refused.Load(); n != 3 {
			t.Errorf("%d were refused while there was room", n)
		}
		ask(asker{from: "quiet"}) // in place of one of the loud
		if n := refused.Load(); n != 4 || q.strangers.waiting != strangerMost {
			t.Errorf("%d were refused, %d wait", n, q.strangers.waiting)
		}
		ask(asker{from: "home", known: true})
		if n := refused.Load(); n != 4 {
			t.Error("a full line of strangers keeps out somebody who is known")
		}
		held[0]()
		all.Wait()
		if len(order) != strangerMost+1 || order[0] != "home" || order[1] != "loud" || order[2] != "s0" || order[3] != "s1" {
			t.Errorf("%d had a turn: %v", len(order), order)
		}
		second := 0
		for i, from := range order[1:] { // nobody has a second turn before all had one
			if from == "loud" && i > 0 {
				second = i
				break
			}
		}
		if first := 1 + (strangerMost-strangerEach)/2 + 1; second < first {
			t.Errorf("the loud address has its second turn after %d, want at least %d: %v", second, first, order)
		}
	})
}

// Whoever shares an address with somebody learns nothing of accounts from how
// long they wait.
func TestTheQueueKnowsAddressesAndNoAccounts(t *testing.T) {
	h := newHouse(t)
	h.add(t, "anna", Viewer)
	h.in(t, "anna")
	if a := h.limits.asker("192.0.2.1"); !a.known {
		t.Error("an address from which somebody signed in is not known")
	}
	if a := h.limits.asker("192.0.2.2"); a.known {
		t.Error("another address is known")
	}
	if a := h.limits.asker(""); a.known {
		t.Error("no address is a known one")
	}
}

func TestManyTurnsAtOnceLeaveTheQueueEmpty(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newHashQueue()
		var mu sync.Mutex
		var atWork, most int
		work := func(n int) {
			mu.Lock()
			defer mu.Unlock()
			atWork += n
			most = max(most, atWork)
		}
		var all sync.WaitGroup
		for i := range 500 {
			all.Go(func() {
				time.Sleep(time.Duration(i*37%1000) * time.Millisecond)
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i*61%7000+1)*time.Millisecond)
				defer cancel()
				done, err := q.turn(ctx, asker{from: fmt.Sprint(i % 50), known: i%3 == 0})
				if err != nil {
					return
				}
				work(1)
				time.Sleep(oneHash)
				work(-1)
				done()
			})
		}
		all.Wait()
		if q.free != hashAtOnce || q.known.waiting+q.strangers.waiting+len(q.known.by)+len(q.strangers.by)+len(q.known.order)+len(q.strangers.order) != 0 {
			t.Errorf("%+v", q)
		}
		if most != hashAtOnce {
			t.Errorf("%d hashes at once", most)
		}
	})
}
