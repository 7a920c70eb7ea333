package audit_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
	"shardboard/internal/store/audit"
)

// memory is a store with a chain that tests can tamper with.
type memory struct {
	mu      sync.Mutex
	records []store.AuditRecord
	heads   []store.AuditHead
	fails   error
	written *audit.Point // last record written by this process; nil: read-only
	shared  bool         // other processes write too
}

func (m *memory) AuditWritten(context.Context) (store.WrittenRecord, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.written == nil {
		return store.WrittenRecord{}, nil
	}
	return store.WrittenRecord{Seq: m.written.Seq, Hash: m.written.Hash, Known: true, Last: !m.shared}, nil
}

func (m *memory) Append(_ context.Context, e store.AuditEntry) (store.AuditRecord, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	prev := audit.Begin()
	if n := len(m.records); n > 0 {
		prev = m.records[n-1].Hash
	}
	r, _, err := audit.Next(e, int64(len(m.records)), prev)
	m.records = append(m.records, r)
	return r, err
}

func (m *memory) AuditRecords(_ context.Context, after int64, limit int) ([]store.AuditRecord, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []store.AuditRecord
	for _, r := range m.records {
		if len(out) == limit {
			break
		}
		if r.Seq > after {
			out = append(out, r)
		}
	}
	return out, m.fails
}

func (m *memory) AuditBefore(_ context.Context, before int64, limit int) ([]store.AuditRecord, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := slices.DeleteFunc(slices.Clone(m.records), func(r store.AuditRecord) bool { return r.Seq >= before })
	slices.Reverse(out)
	return out[:min(limit, len(out))], m.fails
}

func (m *memory) AuditEnd(context.Context) (int64, []byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.records) == 0 {
		return 0, nil, nil
	}
	r := m.records[len(m.records)-1]
	return r.Seq, r.Hash, nil
}

func (m *memory) SaveHead(_ context.Context, h store.AuditHead) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.heads = append(m.heads, h)
	return nil
}

func (m *memory) LastHead(context.Context) (*store.AuditHead, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.heads) == 0 {
		return nil, nil
	}
	return &m.heads[len(m.heads)-1], nil
}

func (m *memory) AuditHeads(_ context.Context, skip, limit int) ([]store.AuditHead, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.heads[min(skip, len(m.heads)):min(skip+limit, len(m.heads))], nil
}

func (m *memory) headCount() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.heads)
}

var day = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// newChain returns a store with n different records.
func newChain(t *testing.T, n int) *memory {
	t.Helper()
	m := &memory{}
	for i := range n {
		_, err := m.Append(t.Context(), store.AuditEntry{At: day.Add(time.Duration(i) * time.Second), By: "user:1", What: "login.ok",
			Subject: fmt.Sprint(i), Outcome: "ok", Details: map[string]string{"n": fmt.Sprint(i)}})
		must.Do(t, err)
	}
	return m
}

func newKey(t *testing.T) ed25519.PrivateKey {
	t.Helper()
	_, k, err := ed25519.GenerateKey(nil)
	must.Do(t, err)
	return k
}

func oneRecord(r store.AuditRecord) []store.AuditRecord { return []store.AuditRecord{r} }

func recordsOf(parts ...[]store.AuditRecord) iter.Seq2[store.AuditRecord, error] {
	return func(yield func(store.AuditRecord, error) bool) {
		for _, part := range parts {
			for _, r := range part {
				if !yield(r, nil) {
					return
				}
			}
		}
	}
}

func verify(t *testing.T, records []store.AuditRecord, x audit.Expect) audit.Report {
	t.Helper()
	rep, err := audit.Verify(recordsOf(records), x)
	must.Do(t, err)
	return rep
}

func headAt(k ed25519.PrivateKey, r store.AuditRecord) store.AuditHead {
	return audit.Sign(k, audit.Point{Seq: r.Seq, Hash: r.Hash}, day)
}

func TestAnIntactChainVerifiesToItsEnd(t *testing.T) {
	for _, n := range []int{0, 1, 499, 500, 501, 1200} {
		m := newChain(t, n)
		rep, err := audit.Verify(audit.Records(t.Context(), m, 0), audit.Expect{})
		expect.That(t, err == nil && rep.Break == nil && rep.End.Seq == int64(n),
			"%d: unexpected report %+v, error %v", n, rep, err)
	}
}

// Each record is tampered with in every way. The others are unchanged or renumbered, but
// not all hashes are computed again.
func TestEveryTamperedRecordIsFound(t *testing.T) {
	const n = 300
	m := newChain(t, n)
	k := newKey(t)
	head := []store.AuditHead{headAt(k, m.records[n-1])}
	foreign, _, err := audit.Next(store.AuditEntry{At: day, What: "run.made", By: "user:evil"}, 0, audit.Begin())
	must.Do(t, err)
	cases := 0
	expect := func(what string, i, from int, parts ...[]store.AuditRecord) {
		cases++
		x := audit.Expect{Heads: head}
		if from > 0 {
			x.After = audit.Point{Seq: int64(from), Hash: m.records[from-1].Hash}
		}
		rep, err := audit.Verify(recordsOf(parts...), x)
		if err != nil || rep.Break == nil {
			t.Errorf("%s at %d was not found: %v", what, i+1, err)
		} else if rep.Break.Seq < int64(i+1) {
			t.Errorf("%s at %d was found at %d", what, i+1, rep.Break.Seq)
		}
	}
	for i, r := range m.records {
		// Records before the change are unaffected, so most verifications start shortly
		// before it; every hundredth starts at the first record.
		from := max(i-5, 0)
		if i%100 == 0 {
			from = 0
		}
		before, after := m.records[from:i], m.records[i+1:]
		edited := r
		edited.By = "user:2"
		expect("edit", i, from, before, oneRecord(edited), after)
		expect("removal", i, from, before, after)
		if i < n-1 {
			expect("swap", i, from, before, oneRecord(m.records[i+1]), oneRecord(r), after[1:])
		} else {
			expect("swap", 0, 0, oneRecord(r), m.records[1:i], oneRecord(m.records[0]))
		}
		expect("insertion", i, from, before, oneRecord(foreign), oneRecord(r), after)
		// The changed record is the end of an earlier verification and is read again.
		rebuilt, _, err := audit.Next(edited.AuditEntry, r.Seq-1, r.Prev)
		must.Do(t, err)
		end := audit.Expect{After: audit.Point{Seq: r.Seq, Hash: r.Hash}, Reread: true}
		next := after[:min(3, len(after))]
		if rep, err := audit.Verify(recordsOf(oneRecord(r), next), end); err != nil || rep.Break != nil || rep.End.Seq != r.Seq+int64(len(next)) {
			t.Errorf("an end at %d that is still there: %+v %v", i+1, rep.Break, err)
		}
		for what, found := range map[string][]store.AuditRecord{"edit": oneRecord(edited), "rebuilding": oneRecord(rebuilt), "removal": next} {
			if rep, err := audit.Verify(recordsOf(found), end); err != nil || rep.Break == nil || rep.Break.Seq != r.Seq {
				t.Errorf("%s of the verified end at %d was not found: %+v %v", what, i+1, rep.Break, err)
			}
		}
	}
	must.That(t, cases == 4*n, "%v", cases)
}

// The numbers stay consistent, so that only the hashes show the change.
func TestTamperingThatKeepsTheNumbersIsFound(t *testing.T) {
	const n = 50
	m := newChain(t, n)
	renumber := func(records []store.AuditRecord) []store.AuditRecord {
		for i := range records {
			records[i].Seq = int64(i + 1)
		}
		return records
	}
	for i := range n - 1 {
		for what, records := range map[string][]store.AuditRecord{
			"removal":   renumber(slices.Delete(slices.Clone(m.records), i, i+1)),
			"insertion": renumber(slices.Insert(slices.Clone(m.records), i, m.records[n-1])),
			"swap":      renumber(slices.Insert(slices.Delete(slices.Clone(m.records), i, i+1), i+1, m.records[i])),
		} {
			expect.That(t, verify(t, records, audit.Expect{}).Break != nil, "%s at %d was not found", what, i)
		}
	}
	type edit func(*store.AuditRecord)
	for name, change := range map[string]edit{
		"cluster": func(r *store.AuditRecord) { r.Cluster = "x" }, "at": func(r *store.AuditRecord) { r.At = r.At.Add(time.Millisecond) },
		"via": func(r *store.AuditRecord) { r.Via = "x" }, "from": func(r *store.AuditRecord) { r.From = "x" },
		"what": func(r *store.AuditRecord) { r.What = "x" }, "subject": func(r *store.AuditRecord) { r.Subject = "x" },
		"outcome":    func(r *store.AuditRecord) { r.Outcome = "x" },
		"details":    func(r *store.AuditRecord) { r.Details = map[string]string{"n": "x"} },
		"no details": func(r *store.AuditRecord) { r.Details = nil },
		"hash":       func(r *store.AuditRecord) { r.Hash = audit.Begin() }, "prev": func(r *store.AuditRecord) { r.Prev = audit.Begin() },
	} {
		records := slices.Clone(m.records)
		change(&records[20])
		if rep := verify(t, records, audit.Expect{}); rep.Break == nil || rep.Break.Seq != 21 {
			t.Errorf("%s: unexpected finding: %+v", name, rep.Break)
		}
	}
}

func TestACutTailIsFoundByALaterHead(t *testing.T) {
	m := newChain(t, 100)
	k := newKey(t)
	head := headAt(k, m.records[79])
	for cut := range 100 {
		rep := verify(t, m.records[:cut], audit.Expect{Heads: []store.AuditHead{head}})
		note := verify(t, m.records[:cut], audit.Expect{Known: []audit.Point{{Seq: head.Seq, Hash: head.Hash}}})
		// The end of the earlier verification is required, so every cut is found.
		end := audit.Point{Seq: 100, Hash: m.records[99].Hash}
		left := m.records[min(cut, 99):cut]
		if again := verify(t, left, audit.Expect{After: end, Reread: true}); again.Break == nil || again.Break.Code != audit.Cut ||
			again.Break.Seq != 100 {
			t.Errorf("%d left: the verified end is not missed: %+v", cut, again.Break)
		}
		if lost := cut < 80; (rep.Break != nil) != lost || (note.Break != nil) != lost {
			t.Errorf("%d left: %+v, %+v", cut, rep.Break, note.Break)
		} else if lost && (rep.Break.Code != audit.Cut || rep.Break.Found != int64(cut)) {
			t.Errorf("%d left: %+v", cut, rep.Break)
		}
	}
}

func TestARebuiltChainIsDetectedByTheSignedHead(t *testing.T) {
	k := newKey(t)
	first := newChain(t, 60)
	head := headAt(k, first.records[39])
	again := &memory{}
	for i, r := range first.records {
		if i == 10 {
			continue // omitted, with all later records computed again
		}
		must.Do(t, must.Err(again.Append(t.Context(), r.AuditEntry)))
	}
	if rep := verify(t, again.records, audit.Expect{}); rep.Break != nil {
		t.Fatal("the rebuilt chain is inconsistent, so this test proves nothing:", rep.Break)
	}
	if rep := verify(t, again.records, audit.Expect{Heads: []store.AuditHead{head}}); rep.Break == nil || rep.Break.Code != audit.Rebuilt {
		t.Errorf("unexpected finding: %+v", rep.Break)
	}
	// The head is signed again too, with the attacker's key.
	forged := headAt(newKey(t), again.records[39])
	x := audit.Expect{Heads: []store.AuditHead{forged}, Key: audit.Fingerprint(k.Public().(ed25519.PublicKey))}
	if rep := verify(t, again.records, x); rep.Break == nil || rep.Break.Code != audit.OtherKey {
		t.Errorf("unexpected finding: %+v", rep.Break)
	}
	forged.Key = head.Key
	expect.That(t, verify(t, again.records, x).Break != nil, "a head that names another key was accepted")
	x.Heads[0] = forged
	if rep := verify(t, again.records, x); rep.Break == nil || rep.Break.Code != audit.Forged {
		t.Errorf("unexpected finding: %+v", rep.Break)
	}
}

func TestAnyChangeOfAHeadInvalidatesItsSignature(t *testing.T) {
	m := newChain(t, 3)
	good := headAt(newKey(t), m.records[1])
	must.That(t, audit.ValidSignature(good), "not signed")
	for name, change := range map[string]func(*store.AuditHead){
		"seq": func(h *store.AuditHead) { h.Seq++ }, "at": func(h *store.AuditHead) { h.At = h.At.Add(time.Millisecond) },
		"hash": func(h *store.AuditHead) { h.Hash = m.records[2].Hash }, "none": func(h *store.AuditHead) { h.Signature, h.Key = nil, nil },
		"short key": func(h *store.AuditHead) { h.Key = h.Key[:31] },
	} {
		h := good
		change(&h)
		expect.That(t, !audit.ValidSignature(h), "%v", name)
	}
}

func TestVerificationResumesWhereItEnded(t *testing.T) {
	m := newChain(t, 30)
	k := newKey(t)
	first := verify(t, m.records[:20], audit.Expect{})
	heads := []store.AuditHead{headAt(k, m.records[24]), headAt(k, m.records[5])}
	rep := verify(t, m.records[20:], audit.Expect{After: first.End, Heads: heads})
	expect.That(t, rep.Break == nil && rep.End.Seq == 30 && rep.Head != nil && rep.Head.Seq == 25,
		"unexpected report %+v, finding %+v", rep, rep.Break)
	if rep := verify(t, m.records[21:], audit.Expect{After: first.End}); rep.Break == nil || rep.Break.Code != audit.Misplaced {
		t.Errorf("unexpected finding: %+v", rep.Break)
	}
}

func TestAReadErrorIsNotReportedAsTampering(t *testing.T) {
	m := newChain(t, 3)
	m.fails = errors.New("disk")
	if rep, err := audit.Verify(audit.Records(t.Context(), m, 0), audit.Expect{}); err == nil || rep.Break != nil {
		t.Errorf("unexpected report %+v, error %v", rep, err)
	}
}

func TestARecordWithInvalidUTF8VerifiesAfterBeingStored(t *testing.T) {
	m := &memory{}
	for _, text := range []string{"\xff\xfe", "a\x00b", "\u2028<script>", "\ufffd", "\xed\xa0\x80"} {
		r, err := m.Append(t.Context(),
			store.AuditEntry{At: day.Add(123456 * time.Nanosecond), Subject: text, Details: map[string]string{text: text}})
		must.Do(t, err)
		canonical, err := audit.Canonical(r.AuditEntry)
		must.Do(t, err)
		m.records[len(m.records)-1] = audit.Read(r.Seq, canonical, r.Prev, r.Hash)
	}
	if rep := verify(t, m.records, audit.Expect{}); rep.Break != nil {
		t.Error(rep.Break)
	}
}

func TestReencodedRecordsAreReportedAsChanged(t *testing.T) {
	r, canonical, err := audit.Next(store.AuditEntry{At: day, What: "login.ok"}, 0, audit.Begin())
	must.Do(t, err)
	for _, kept := range []string{string(canonical) + " ", "", "{}", "null", "not JSON", string(canonical[:len(canonical)-1]) + `,"more":1}`} {
		got := audit.Read(1, []byte(kept), r.Prev, r.Hash)
		expect.That(t, got.What == audit.Unreadable && audit.Check(got, 1, audit.Begin()) != nil,
			"%q: unexpected report: %+v", kept, got)
	}
	if got := audit.Read(1, canonical, r.Prev, r.Hash); audit.Check(got, 1, audit.Begin()) != nil {
		t.Error("the unchanged record is refused")
	}
}

func TestRecordsAreReadFromBothEnds(t *testing.T) {
	m := newChain(t, 1300)
	ctx := t.Context()
	all, err := audit.Newest(ctx, m, audit.Filter{}, 0, 1000)
	if err != nil || len(all.Records) != 1000 || !all.More || all.Records[0].Seq != 1300 || all.Next != 301 {
		t.Fatal(len(all.Records), all.Next, all.More, err)
	}
	rest, err := audit.Newest(ctx, m, audit.Filter{}, all.Next, 1000)
	if err != nil || len(rest.Records) != 300 || rest.More || rest.Records[0].Seq != 300 {
		t.Fatal(len(rest.Records), rest.More, err)
	}
	f := audit.Filter{What: "login.", By: "user:1", From: day.Add(10 * time.Second), To: day.Add(12 * time.Second)}
	found, err := audit.Oldest(ctx, m, f, 0, 5)
	if err != nil || len(found.Records) != 2 || found.Records[0].Subject != "10" || found.More {
		t.Fatal(found, err)
	}
	for _, f := range []audit.Filter{{What: "login"}, {What: "log."}, {By: "user"}, {Subject: "13000"}} {
		if found, err := audit.Newest(ctx, m, f, 0, 5); err != nil || len(found.Records) != 0 {
			t.Error(f, found, err)
		}
	}
}

// slow takes 60 ms for each part of the record that is read.
type slow struct{ *memory }

func (s slow) AuditBefore(ctx context.Context, before int64, limit int) ([]store.AuditRecord, error) {
	time.Sleep(60 * time.Millisecond)
	return s.memory.AuditBefore(ctx, before, limit)
}

func TestSearchOfASlowRecordEndsAndSaysWhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, m := time.Now(), slow{newChain(t, 1300)}
		found, err := audit.Newest(t.Context(), m, audit.Filter{Subject: "none"}, 0, 5)
		if err != nil || !found.More || found.Next != 301 || time.Since(began) != 120*time.Millisecond {
			t.Error(found, err, time.Since(began))
		}
		if found, err = audit.Newest(t.Context(), m, audit.Filter{Subject: "none"}, found.Next, 5); err != nil || found.More {
			t.Error("from there on", found, err)
		}
	})
}
