package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
)

const (
	floodFrom = 60                   // addresses
	floodEach = addressPerMinute + 1 // requests per address; the last one exceeds the limit
)

func floodAddress(i int) string { return fmt.Sprintf("198.51.100.%d", i+1) }

// flood makes a request too many from each of 60 addresses, forwarded by a proxy.
func flood(t *testing.T, request func(from string) error) {
	t.Helper()
	limited := 0
	for range floodEach {
		for i := range floodFrom {
			err := request(floodAddress(i))
			must.That(t, err != nil, "a stranger was let in")
			if isLimited(err) {
				limited++
			}
		}
	}
	must.That(t, limited == floodFrom, "%d requests were over the limit of their address", limited)
}

// records returns all entries except those of the fixture.
func (h *fixture) records(t *testing.T) (out []store.AuditRecord) {
	t.Helper()
	rows, err := h.db.AuditRecords(t.Context(), 0, 10_000)
	must.Do(t, err)
	for _, r := range rows {
		if r.What != auditUserCreated {
			out = append(out, r)
		}
	}
	return out
}

func TestAFloodOfRequestsMakesFewAuditEntries(t *testing.T) {
	requests := map[string]struct {
		mode func(*Options)
		do   func(h *fixture, from string) error
	}{
		"wrong tokens": {withProxy, func(h *fixture, from string) error {
			_, err := h.Identify(httptest.NewRecorder(), newRequest("10.1.2.3", nil, "X-Forwarded-For", from, "Authorization", "Bearer sb_wrong"))
			return err
		}},
		"first links": {func(*Options) {}, func(h *fixture, from string) error {
			_, _, err := h.ClaimFirst(context.Background(), First{Secret: "wrong", Name: "root", Password: goodPassword, From: from})
			return err
		}},
		"unsolicited callbacks": {withIssuer(issuerWithGroups("ops")), func(h *fixture, from string) error {
			r := newRequest(from, nil)
			r.URL.RawQuery = "code=code&state=x"
			_, err := h.FinishOIDC(httptest.NewRecorder(), r)
			return err
		}},
	}
	for name, tc := range requests {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t, tc.mode)
			flood(t, func(from string) error { return tc.do(h, from) })
			h.o.Refusals.Flush()
			rows := h.records(t)
			if n := countAttempts(t, rows); n != floodFrom*floodEach {
				t.Errorf("the records stand for %d requests, want %d", n, floodFrom*floodEach)
			}
			expect.That(t, len(rows) <= 4, "%d records of one flood", len(rows))
			last := rows[len(rows)-1]
			if last.Details["addresses"] == "" || last.Details["first"] == "" || last.Details["last"] == "" ||
				!strings.Contains(last.Details["examples"], "198.51.100.") {
				t.Errorf("unexpected record: %+v", last.AuditEntry)
			}
			if lines := strings.Count(h.log.String(), "\n"); lines > 50 {
				t.Errorf("%d lines of the log", lines)
			}
		})
	}
}

func TestAFloodOfWrongPasswordsMakesFewAuditEntriesThatNameTheAccounts(t *testing.T) {
	h := newFixture(t)
	anna := h.add(t, "anna", Viewer)
	tried, refused := 0, 0
	for i := range floodFrom {
		for _, name := range []string{"anna", fmt.Sprint("hunter2-", i), fmt.Sprint("root-", i)} {
			tried++
			_, _, err := h.SignIn(t.Context(), Credentials{Name: name, Password: "wrong", From: floodAddress(i)})
			if errors.Is(err, ErrCredentials) {
				refused++
			} else if !isLimited(err) {
				t.Fatal(err)
			}
		}
	}
	h.o.Refusals.Flush()
	rows := h.records(t)
	if n := countAttempts(t, h.auditRecords(t, auditRefused)); n != refused {
		t.Errorf("the records stand for %d of %d refused attempts", n, refused)
	}
	expect.That(t, len(rows) <= 6, "%d records of %d attempts", len(rows), tried)
	kept := fmt.Sprint(rows) + h.log.String()
	expect.Lacks(t, kept, "hunter2", "an unknown name is stored; it may be a password")
	named := false
	for _, r := range rows {
		named = named || r.Subject == "user:"+anna.ID && r.Details["count"] == "9" && r.Details["addresses"] == "9"
	}
	expect.That(t, named, "the account that was guessed at is not named: %+v", rows)
}

// Actions of signed-in people, and their sign-ins, are never summarised.
func TestSignInsDuringAFloodAreRecordedOneByOne(t *testing.T) {
	h := newFixture(t)
	h.add(t, "anna", Viewer)
	_, p := h.signIn(t, "anna")
	for i := range floodFrom {
		_, _, _ = h.SignIn(t.Context(), Credentials{Name: fmt.Sprint("x", i), Password: "wrong", From: floodAddress(i)})
	}
	for range 5 {
		h.signIn(t, "anna")
		must.That(t, must.Err(h.ChangePassword(t.Context(), p, "not it", "another good phrase")) != nil, "changed")
	}
	expect.Equal(t, len(h.auditRecords(t, auditSignIn)), 6, "sign-ins are recorded")
	rows := h.auditRecords(t, auditUserPassword)
	expect.That(t, len(rows) == 5 && rows[0].By == p.ID, "%d refused changes of a password are recorded", len(rows))
}

const oneHash = 100 * time.Millisecond

func slowHashes(h *Service) { h.hashes.beforeHash = func() { time.Sleep(oneHash) } }

// startFlood signs in from 200 unknown addresses, as often as each is allowed, until stop is
// called.
func startFlood(t *testing.T, h *Service) (stop func() (atOnce, late int)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	var atOnce, late atomic.Int64
	for i := range 200 {
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

// newSyncFixture is a fixture that uses the synctest clock.
func newSyncFixture(t *testing.T) *fixture {
	t.Helper()
	h := newFixture(t, func(o *Options) { o.Now = time.Now })
	return h
}

func TestKnownAddressesCanSignInDuringAFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newSyncFixture(t)
		const people = 10
		for i := range people {
			h.add(t, fmt.Sprint("user", i), Viewer)
			h.signIn(t, fmt.Sprint("user", i))
		}
		later := h.service(t, func(o *Options) { o.Now = time.Now }) // like after a restart
		slowHashes(later)
		stop := startFlood(t, later)
		refused, longest := 0, time.Duration(0)
		const signIns = 100
		for i := range signIns {
			began := time.Now()
			if _, _, err := later.SignIn(t.Context(),
				Credentials{Name: fmt.Sprint("user", i%people), Password: goodPassword, From: "192.0.2.1"}); err != nil {
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
		expect.That(t, atOnce != 0 && late <= 0, "%d unknown clients were refused at once, %d after waiting", atOnce, late)
		later.o.Refusals.Flush()
		if n := len(h.auditRecords(t, auditLimited)); n == 0 || n > 6 {
			t.Errorf("%d records say that there were too many at once", n)
		}
	})
}

func TestAnUnknownClientThatWaitsTooLongIsRejectedAndLeavesTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newHashQueue()
		for range maxHashes {
			must.Do(t, must.Err(q.acquire(t.Context(), client{from: "busy"})))
		}
		for who, wait := range map[client]time.Duration{{from: "a"}: unknownWait, {from: "a", known: true}: knownWait} {
			began := time.Now()
			_, err := q.acquire(t.Context(), who)
			busy := (*Busy)(nil)
			if !errors.As(err, &busy) || busy.Wait <= 0 || time.Since(began) != wait {
				t.Errorf("%+v: %v after %s", who, err, time.Since(began))
			}
		}
		expect.Equal(t, q.unknown.waiting+q.known.waiting+len(q.unknown.by)+len(q.unknown.order)+len(q.known.by), 0,
			"unexpected queue: %+v", q)
		q.release()
		q.release()
		expect.Equal(t, q.free, maxHashes, "free places")
	})
}

// One address that fills the queue does not lock out other addresses.
func TestTheQueueIsRoundRobinByAddressAndBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newHashQueue()
		var order []string
		var refused atomic.Int64
		var all sync.WaitGroup
		ask := func(who client) {
			all.Go(func() {
				done, err := q.acquire(t.Context(), who)
				if err != nil {
					refused.Add(1)
					return
				}
				order = append(order, who.from) // one slot is free at a time
				time.Sleep(oneHash)
				done()
			})
			synctest.Wait()
		}
		var held []func()
		for range maxHashes {
			done, err := q.acquire(t.Context(), client{from: "held"})
			must.Do(t, err)
			held = append(held, done)
		}
		for range unknownMaxPerAddress + 3 {
			ask(client{from: "loud"})
		}
		expect.Equal(t, refused.Load(), 3, "refused of one address")
		for i := range unknownMax - unknownMaxPerAddress {
			ask(client{from: fmt.Sprint("s", i/2)})
		}
		expect.Equal(t, refused.Load(), 3, "refused while there was room")
		ask(client{from: "quiet"}) // evicts one of the loud address
		if n := refused.Load(); n != 4 || q.unknown.waiting != unknownMax {
			t.Errorf("%d were refused, %d wait", n, q.unknown.waiting)
		}
		ask(client{from: "home", known: true})
		expect.Equal(t, refused.Load(), 4, "a full queue of unknown clients refuses a known client")
		held[0]()
		all.Wait()
		if len(order) != unknownMax+1 || order[0] != "home" || order[1] != "loud" || order[2] != "s0" || order[3] != "s1" {
			t.Errorf("%d clients were served: %v", len(order), order)
		}
		second := 0
		for i, from := range order[1:] { // every address is served once before any is served twice
			if from == "loud" && i > 0 {
				second = i
				break
			}
		}
		if first := 1 + (unknownMax-unknownMaxPerAddress)/2 + 1; second < first {
			t.Errorf("the loud address has its second turn after %d, want at least %d: %v", second, first, order)
		}
	})
}

func TestTheQueueIsEmptyAfterManyConcurrentWaiters(t *testing.T) {
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
				done, err := q.acquire(ctx, client{from: fmt.Sprint(i % 50), known: i%3 == 0})
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
		if q.free != maxHashes ||
			q.known.waiting+q.unknown.waiting+len(q.known.by)+len(q.unknown.by)+len(q.known.order)+len(q.unknown.order) != 0 {
			t.Errorf("unexpected queue: %+v", q)
		}
		expect.Equal(t, most, maxHashes, "hashes at once")
	})
}
