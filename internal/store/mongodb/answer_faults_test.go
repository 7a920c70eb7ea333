package mongodb

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
	"shardboard/internal/store"
	"shardboard/internal/store/audit"
)

// What can become of an answer of the server.
const (
	arrives = iota
	isHeld  // for some time
	isLost
	isRepeated
	isCut    // in the middle, and the connection with it
	isSilent // arrives, and no command or answer after it for some time, while the driver sees that the server is there
	manyFaults
)

var faultNames = [...]string{isHeld: "held", isLost: "lost", isRepeated: "repeated", isCut: "cut", isSilent: "silent"}

// badNetwork dials, and decides for each answer of the server what becomes of it.
type badNetwork struct {
	to     *simcluster.Cluster
	decide atomic.Pointer[func() (what int, long time.Duration)]
	silent atomic.Pointer[time.Time] // until when
	mended chan struct{}             // closed when all faults end
}

// mend ends all faults.
func (n *badNetwork) mend() {
	n.decide.Store(nil)
	n.silent.Store(nil)
	close(n.mended)
}

func (n *badNetwork) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	server, err := n.to.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	client, inner := net.Pipe()
	go n.pass(inner, server, func() (int, time.Duration) { return arrives, 0 })
	go n.pass(server, inner, func() (int, time.Duration) {
		if decide := n.decide.Load(); decide != nil {
			return (*decide)()
		}
		return arrives, 0
	})
	return client, nil
}

// pass delivers messages until a connection ends.
func (n *badNetwork) pass(from, to net.Conn, decide func() (what int, long time.Duration)) {
	defer from.Close()
	defer to.Close()
	for {
		head := make([]byte, 4)
		if _, err := io.ReadFull(from, head); err != nil {
			return
		}
		message := append(head, make([]byte, binary.LittleEndian.Uint32(head)-4)...)
		if _, err := io.ReadFull(from, message[4:]); err != nil {
			return
		}
		what, long := decide()
		switch what {
		case isHeld:
			select {
			case <-time.After(long):
			case <-n.mended:
			}
		case isLost:
			continue
		case isRepeated:
			message = slices.Concat(message, message)
		case isCut:
			message = message[:len(message)/2]
		}
		if until := n.silent.Load(); until != nil && time.Now().Before(*until) && !isHeartbeat(message) {
			continue
		}
		if what == isSilent {
			until := time.Now().Add(long)
			n.silent.Store(&until)
		}
		if _, err := to.Write(message); err != nil || what == isCut {
			return
		}
	}
}

// isHeartbeat reports whether a message is one by which the driver sees that a server is there, or its answer.
func isHeartbeat(message []byte) bool {
	return bytes.Contains(message, []byte("hello\x00")) || bytes.Contains(message, []byte("isWritablePrimary\x00"))
}

// only makes one answer from now on, numbered from 0, meet a fault, and counts them all.
func (n *badNetwork) only(at int, what int, long time.Duration) (answers *atomic.Int64) {
	answers = new(atomic.Int64)
	decide := func() (int, time.Duration) {
		if answers.Add(1)-1 == int64(at) {
			return what, long
		}
		return arrives, 0
	}
	n.decide.Store(&decide)
	return answers
}

// storeCall is a call that writes something under an id, and how to see whether it did.
type storeCall struct {
	name   string
	leader bool // only the leader may
	do     func(ctx context.Context, db *DB, id string) error
	done   func(ctx context.Context, db *DB, id string) (bool, error)
}

// found is a done of what a reader returns.
func found[T any](read func(db *DB) func(context.Context, string) (T, error)) func(context.Context, *DB, string) (bool, error) {
	return func(ctx context.Context, db *DB, id string) (bool, error) {
		_, err := read(db)(ctx, id)
		if fault.Of(err) == fault.NotFound {
			return false, nil
		}
		return err == nil, err
	}
}

// recorded is a done of calls that leave an audit entry about the id.
func recorded(ctx context.Context, db *DB, id string) (bool, error) {
	n, err := countRecords(ctx, db, id)
	if n > 1 {
		return true, fmt.Errorf("recorded %d times", n)
	}
	return n == 1, err
}

func countRecords(ctx context.Context, db *DB, id string) (n int, err error) {
	records, err := db.AuditRecords(ctx, 0, 1_000_000)
	for _, r := range records {
		if r.Subject == id {
			n++
		}
	}
	return n, err
}

func about(id string) store.AuditEntry {
	return store.AuditEntry{At: time.Now(), What: "x", Subject: id, Outcome: "ok"}
}

func addRun(ctx context.Context, db *DB, id string) error {
	plan := store.PlanRecord{ID: "p" + id, Cluster: "c", Made: time.Now(), Expires: time.Now().Add(time.Hour)}
	if err := db.SavePlan(ctx, plan); err != nil {
		return err
	}
	return db.AddRun(ctx, store.RunRecord{ID: id, Plan: "p" + id, Cluster: "c", Open: true})
}

func addIntent(ctx context.Context, db *DB, id string) error {
	if err := addRun(ctx, db, id); err != nil {
		return err
	}
	return db.AddIntent(ctx, store.IntentRecord{Run: id, Command: []byte{5, 0, 0, 0, 0}})
}

// storeCalls are the calls of people and of the leader, of each kind of row.
func storeCalls() []storeCall {
	plan := func(db *DB) func(context.Context, string) (store.PlanRecord, error) { return db.PlanRecord }
	run := func(db *DB) func(context.Context, string) (store.RunRecord, error) { return db.RunRecord }
	request := func(db *DB) func(context.Context, string) (store.RequestState, error) { return db.RequestState }
	later := func() time.Time { return time.Now().Add(time.Hour) }
	return []storeCall{
		{"Append", false, func(ctx context.Context, db *DB, id string) error { _, err := db.Append(ctx, about(id)); return err }, recorded},
		{"CreateUser", false, func(ctx context.Context, db *DB, id string) error {
			return db.CreateUser(ctx, store.User{ID: id, Name: id}, about(id))
		}, recorded},
		{"CreateSession", false, func(ctx context.Context, db *DB, id string) error {
			return db.CreateSession(ctx, store.Session{ID: id, Hash: []byte(id), Created: time.Now(), Expires: later()}, "", about(id))
		}, recorded},
		{"CreateToken", false, func(ctx context.Context, db *DB, id string) error {
			return db.CreateToken(ctx, store.Token{ID: id, Hash: []byte(id)}, about(id))
		}, recorded},
		{"SetSetting", false, func(ctx context.Context, db *DB, id string) error { return db.SetSetting(ctx, id, "1") },
			found(func(db *DB) func(context.Context, string) (string, error) { return db.Setting })},
		{"Dismiss", false, func(ctx context.Context, db *DB, id string) error {
			return db.Dismiss(ctx, "c", store.Dismissal{ID: id}, about(id))
		}, recorded},
		{"AddSilence", false, func(ctx context.Context, db *DB, id string) error {
			return db.AddSilence(ctx, "c", store.Silence{ID: id, Until: later()}, about(id))
		}, recorded},
		{"SaveSurvey", false, func(ctx context.Context, db *DB, id string) error {
			return db.SaveSurvey(ctx, "c", store.Survey{ID: id, At: time.Now()}, about(id))
		}, recorded},
		{"SavePlan", false, func(ctx context.Context, db *DB, id string) error {
			return db.SavePlan(ctx, store.PlanRecord{ID: id, Cluster: "c", Made: time.Now(), Expires: later()})
		}, found(plan)},
		{"AddRequest", false, func(ctx context.Context, db *DB, id string) error {
			return db.AddRequest(ctx, store.Request{ID: id, Cluster: "nobody", Made: time.Now(), Within: time.Minute})
		}, found(request)},
		{"AddRun", true, addRun, found(run)},
		{"AddIntent", true, addIntent, func(ctx context.Context, db *DB, id string) (bool, error) {
			got, err := db.Intents(ctx, id)
			return len(got) == 1, err
		}},
		{"AppendHistory", true, func(ctx context.Context, db *DB, id string) error {
			return db.AppendHistory(ctx, "c", []store.HistoryEntry{{At: time.Now(), Stream: id, Whole: true, Body: []byte(id)}}, nil)
		}, func(ctx context.Context, db *DB, id string) (bool, error) {
			got, err := db.HistoryBetween(ctx, "c", id, time.Time{}, time.Time{}, 10)
			if len(got) > 1 {
				return true, fmt.Errorf("%d entries", len(got))
			}
			return len(got) == 1, err
		}},
		{"SaveHeat", true, func(ctx context.Context, db *DB, id string) error {
			return db.SaveHeat(ctx, id, store.HeatChange{Columns: []store.HeatColumn{{Picture: "p", At: time.Now(), Step: time.Hour}}})
		}, func(ctx context.Context, db *DB, id string) (bool, error) {
			_, got, err := db.LoadHeat(ctx, id)
			return len(got) == 1, err
		}},
	}
}

// serve fails unless both replicas can write, one of them leads and both say that they can.
func serve(t *testing.T, what string, dbs ...*DB) {
	t.Helper()
	why := ""
	for end := time.Now().Add(15 * time.Second); ; time.Sleep(250 * time.Millisecond) {
		if why = idle(t.Context(), dbs...); why == "" {
			return
		}
		must.That(t, !time.Now().After(end), "%s: not within 15 s: %s", what, why)
	}
}

var tries atomic.Int64

// idle is what is not in order with replicas; "" when all is.
func idle(ctx context.Context, dbs ...*DB) string {
	leaders := 0
	for i, db := range dbs {
		if db.Leads() {
			leaders++
		}
		if err := db.Writable(); err != nil {
			return fmt.Sprintf("replica %d is not writable: %v (%v)", i, err, db.Trouble())
		}
		id := fmt.Sprint("idle", tries.Add(1))
		if err := db.CreateSession(ctx, store.Session{ID: id, Hash: []byte(id)}, "", about(id)); err != nil {
			return fmt.Sprintf("nobody can sign in at replica %d: %v", i, err)
		}
	}
	if leaders != 1 {
		return fmt.Sprintf("%d replicas lead", leaders)
	}
	return ""
}

// verify fails unless the audit record is whole.
func verify(t *testing.T, db *DB) {
	t.Helper()
	if rep, err := audit.Verify(audit.Records(t.Context(), db, 0), audit.Expect{}); err != nil || rep.Break != nil {
		t.Fatalf("the audit record: %+v, %v", rep, err)
	}
}

// badReplicas opens two replicas with a network each; the first leads.
func badReplicas(t *testing.T) (nets [2]*badNetwork, dbs [2]*DB) {
	c, at := server(t), database(t)
	for i := range dbs {
		nets[i] = &badNetwork{to: c, mended: make(chan struct{})}
		dbs[i] = open(t, c, at, func(o *Options) { o.Dialer = nets[i] })
	}
	t.Cleanup(func() { time.Sleep(time.Minute) }) // the driver waits without sleeping for connections whose answer is late
	return nets, dbs
}

// A late answer to one commit must cost no more than that time: 8 s made a replica useless until its restart,
// which told everybody that all was well.
func TestEachAnswerOfTheStoreMayBeLateLostRepeatedOrCut(t *testing.T) {
	for what := isHeld; what < manyFaults; what++ {
		t.Run(faultNames[what], func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				nets, dbs := badReplicas(t)
				for _, call := range storeCalls() {
					for at, answers := -1, int64(0); int64(at) < answers; at++ {
						id, where := fmt.Sprint(call.name, at), fmt.Sprintf("%s, answer %d", call.name, at)
						serve(t, where, dbs[:]...)
						i := 1
						if call.leader == dbs[0].Leads() {
							i = 0
						}
						count := nets[i].only(at, what, 8*time.Second)
						err := call.do(t.Context(), dbs[i], id)
						answers = max(answers, count.Load())
						nets[i].decide.Store(nil)
						serve(t, where, dbs[:]...)
						done, unread := call.done(t.Context(), dbs[1-i], id)
						if at < 0 && err != nil || unread != nil || err == nil && !done || err != nil && done && fault.Of(err) != fault.UnknownOutcome {
							t.Fatalf("%s: said %v, done %v (%v)", where, err, done, unread)
						}
					}
				}
				verify(t, dbs[0])
			})
		})
	}
}

// A replica whose writes have no effect says so, although its lease is renewed.
func TestWritableIsJudgedByAWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, dbs := badReplicas(t)
		dbs[0].writeLock <- struct{}{} // no write gets its turn
		eventually(t, 15*time.Second, "it is not writable", func() bool { return dbs[0].Writable() != nil })
		expect.That(t, dbs[0].Leads() && dbs[0].Trouble() != nil && dbs[1].Writable() == nil,
			"leads %v, trouble %v, the other one %v", dbs[0].Leads(), dbs[0].Trouble(), dbs[1].Writable())
		expect.NoError(t, must.Err(dbs[0].Users(t.Context())), "nor readable")
		<-dbs[0].writeLock
		serve(t, "after it", dbs[:]...)
	})
}

// answerSeeds is how many random faults are tried: with -short, in make test-all, and in make long.
func answerSeeds() int {
	switch {
	case testing.Short():
		return 3
	case os.Getenv("SHARDBOARD_LONG") == "hours":
		return 1000
	}
	return 30
}

// Both replicas write all that they can and pass requests to the leader, which sends a command for each,
// while any answer may be late, lost, repeated or cut at either.
func TestReplicasServeAgainAfterRandomFaultsOfTheStore(t *testing.T) {
	seeds := []int{315, 704} // that found something
	for seed := range answerSeeds() {
		seeds = append(seeds, seed)
	}
	for _, seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { randomFaults(t, uint64(seed)) })
		})
	}
}

// tried is a call and what it said.
type tried struct {
	call storeCall
	err  error
}

func randomFaults(t *testing.T, seed uint64) {
	nets, dbs := badReplicas(t)
	var mu sync.Mutex
	rng := rand.New(rand.NewPCG(seed, 1))
	for i := range nets {
		decide := func() (int, time.Duration) {
			mu.Lock()
			defer mu.Unlock()
			if rng.IntN(40) > 0 {
				return arrives, 0
			}
			return isHeld + rng.IntN(manyFaults-isHeld), time.Duration(rng.IntN(20_000)) * time.Millisecond
		}
		nets[i].decide.Store(&decide)
	}
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	sent := map[string]int{}
	said := map[string]tried{}
	calls := storeCalls()
	for i, db := range dbs {
		all.Go(func() {
			for ctx.Err() == nil {
				_ = db.Lead(ctx, func(leading context.Context) error {
					return doRequests(leading, db, func(id string) { mu.Lock(); sent[id]++; mu.Unlock() })
				})
			}
		})
		all.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				call, id := calls[n%len(calls)], fmt.Sprintf("%d-%d", i, n)
				if call.leader && !db.Leads() {
					continue
				}
				err := call.do(ctx, db, id)
				mu.Lock()
				said[id] = tried{call, err}
				mu.Unlock()
				request := store.Request{ID: "r" + id, Cluster: "c", Made: time.Now(), Within: time.Minute}
				_ = db.AddRequest(ctx, request) // if it failed, nobody waits for it
				time.Sleep(time.Second)
			}
		})
	}
	time.Sleep(40 * time.Second)
	for _, n := range nets {
		n.mend()
	}
	serve(t, "after the faults", dbs[:]...)
	time.Sleep(10 * time.Second)
	stop()
	all.Wait()
	expect.That(t, len(sent) != 0, "no command was sent")
	for id, n := range sent {
		expect.That(t, n <= 1, "the command of %s was sent %d times", id, n)
	}
	for id, a := range said {
		done, err := a.call.done(t.Context(), dbs[0], id)
		if err != nil || a.err == nil && !done || a.err != nil && done && fault.Of(a.err) != fault.UnknownOutcome {
			t.Errorf("%s %s: said %v, done %v (%v)", a.call.name, id, a.err, done, err)
		}
	}
	verify(t, dbs[0])
}

// doRequests does what people asked the leader for: for each an intent, then a command.
func doRequests(leading context.Context, db *DB, send func(id string)) error {
	for ; leading.Err() == nil; time.Sleep(250 * time.Millisecond) {
		r, err := db.TakeRequest(leading, "c")
		if err != nil {
			continue
		}
		if addIntent(leading, db, r.ID) != nil || db.ConfirmLead(leading) != nil {
			continue
		}
		send(r.ID)
		_ = db.AnswerRequest(leading, r.ID, []byte("done"))
	}
	return nil
}
