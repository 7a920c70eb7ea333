package placement

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/refused"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

// memorySource returns ids from memory as mongos does: sorted, with the rows of one id
// next to each other.
type memorySource struct {
	mu    sync.Mutex
	rows  map[topology.Namespace][]KeyedRow
	fail  []error // errors of the next reads
	reads []time.Time
}

func (s *memorySource) IDs(ctx context.Context, ns topology.Namespace, _ []string, from bson.RawValue, limit int) ([]KeyedRow, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads = append(s.reads, time.Now())
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if len(s.fail) > 0 {
		err := s.fail[0]
		s.fail = s.fail[1:]
		return nil, err
	}
	var out []KeyedRow
	for _, r := range s.rows[ns] {
		if len(out) < limit && (from.IsZero() || bytes.Compare(r.id().Value, from.Value) >= 0) {
			out = append(out, r)
		}
	}
	return out, nil
}

// numberedID is an id that sorts by n.
func numberedID(n int) (id bson.ObjectID) {
	binary.BigEndian.PutUint32(id[:], uint32(n))
	return id
}

func (s *memorySource) add(t *testing.T, coll string, id, project bson.ObjectID) {
	t.Helper()
	doc := must.Get(bson.Marshal(bson.D{{Key: "_id", Value: id}, {Key: "project_id", Value: project}}))
	ns := topology.Namespace(db + "." + coll)
	s.rows[ns] = append(s.rows[ns], KeyedRow{ID: id, Doc: doc})
}

// sourceWithDuplicates has 5,500 documents. Two ids are on both shards, one of them
// with its rows on either side of the end of a batch. One more id occurs twice on the
// same shard, which is not a duplicate for this check.
func sourceWithDuplicates(t *testing.T) *memorySource {
	s := &memorySource{rows: map[topology.Namespace][]KeyedRow{}}
	for i := range 5500 {
		s.add(t, "documents", numberedID(i+1), oid(1))
		if i == 998 || i == 3000 {
			s.add(t, "documents", numberedID(i+1), oid(6))
		}
		if i == 4000 {
			s.add(t, "documents", numberedID(i+1), oid(2)) // another project of the same shard
		}
	}
	return s
}

func newCheck(t *testing.T, s *memorySource) *DuplicateCheck {
	t.Helper()
	f := fixedTable{testTable(), NewDirectory(1, []string{db}, nil, topology.Health{})}
	f.t.Sizes = map[topology.Namespace]topology.Sizes{}
	for _, ns := range []topology.Namespace{db + ".documents", db + ".clients"} {
		known := topology.Figure{Known: true, Value: int64(len(s.rows[ns])), Method: "collStats"}
		f.t.Sizes[ns] = topology.Sizes{Shards: map[string]topology.Size{"a": {Documents: known}}}
	}
	return NewDuplicateCheck(s, f, f, profile.Yorkie(), slog.New(slog.DiscardHandler))
}

// whileChecking runs a test with a check of sourceWithDuplicates that runs in simulated time.
func whileChecking(t *testing.T, test func(t *testing.T, s *memorySource, d *DuplicateCheck)) {
	synctest.Test(t, func(t *testing.T) {
		s := sourceWithDuplicates(t)
		d := newCheck(t, s)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- d.Run(ctx) }()
		defer func() { cancel(); <-done }()
		test(t, s, d)
	})
}

func TestDuplicateIDsAreFoundAtALimitedRate(t *testing.T) {
	whileChecking(t, func(t *testing.T, _ *memorySource, d *DuplicateCheck) {
		expect.Equal(t, d.Report().State, CheckIdle, "a new check does not report that it is idle")
		began := time.Now()
		must.Do(t, d.Start(false, nil))
		refused.As(t, d.Start(false, nil), fault.Conflict, "a second start")
		time.Sleep(1100 * time.Millisecond)
		if r := d.Report(); r.State != CheckRunning || r.Left <= 0 || r.Left > 5*time.Second || r.Collections[0].Read == 0 ||
			r.Collections[0].Read > 3300 {
			t.Errorf("while running: %+v", r)
		}
		time.Sleep(10 * time.Second)
		r := d.Report()
		if r.State != CheckDone || r.FoundCount != 2 || len(r.Found) != 2 || r.Collections[0].Read != 5503 {
			t.Fatalf("%s, %d found, %+v", r.State, r.FoundCount, r.Collections)
		}
		if took := r.Ended.Sub(began); took < 5503*time.Second/idsPerSecond-time.Second || took > 5*time.Second {
			t.Errorf("took %s, want %v to %v", took, 5503*time.Second/idsPerSecond-time.Second, 5*time.Second)
		}
		for i, id := range []bson.ObjectID{numberedID(999), numberedID(3001)} {
			if got := r.Found[i]; got.ID != id || got.NS != db+".documents" || !slices.Equal(got.Shards(), []string{"a", "b"}) ||
				got.Rows[1].Project != oid(6) {
				t.Errorf("got %+v, want the id on shards a and b, the second row of project 6", got)
			}
			if _, ok := d.Shared(IDPlace{db + ".documents", id}); !ok {
				t.Errorf("the found duplicate %s is not reported by Shared", id.Hex())
			}
		}
		if _, ok := d.Shared(IDPlace{db + ".documents", numberedID(4001)}); ok {
			t.Error("two rows on one shard are reported as a shared id")
		}
	})
}

func TestStoppedCheckResumesWhereItWas(t *testing.T) {
	whileChecking(t, func(t *testing.T, _ *memorySource, d *DuplicateCheck) {
		refused.As(t, d.Stop(), fault.Conflict, "stop of nothing")
		for try := range 20 {
			must.Do(t, d.Start(try > 0, nil))
			time.Sleep(600 * time.Millisecond)
			if d.Report().State == CheckDone {
				break
			}
			before := d.Report().Collections[0].Read
			must.Do(t, d.Stop())
			time.Sleep(time.Hour)
			if r := d.Report(); r.State != CheckStopped || r.Collections[0].Read != before || r.Left >= 0 {
				t.Fatalf("the stopped check continued: %+v, want State %v, Collections[0].Read %v, Left less than 0", r, CheckStopped, before)
			}
		}
		if r := d.Report(); r.State != CheckDone || r.FoundCount != 2 || r.Collections[0].Read != 5503 {
			t.Errorf("%s, %d found, %+v", r.State, r.FoundCount, r.Collections)
		}
		// A check can also continue from a stored position.
		must.Do(t, d.Start(false, map[topology.Namespace]bson.RawValue{db + ".documents": ObjectIDValue(numberedID(3001))}))
		time.Sleep(10 * time.Second)
		if r := d.Report(); r.State != CheckDone || r.FoundCount != 1 {
			t.Errorf("%s, %d found, want r.State %v, r.FoundCount 1", r.State, r.FoundCount, CheckDone)
		}
		if err := d.Start(false, map[topology.Namespace]bson.RawValue{"x.y": {}}); fault.Of(err) != fault.Invalid {
			t.Errorf("a collection that is not checked: %v", err)
		}
	})
}

func TestCheckSurvivesAStepDownAndReportsALastingFailure(t *testing.T) {
	whileChecking(t, func(t *testing.T, s *memorySource, d *DuplicateCheck) {
		down := fault.New(fault.Unavailable, "The cluster does not answer.")
		s.mu.Lock()
		s.fail = []error{down, down}
		s.mu.Unlock()
		must.Do(t, d.Start(false, nil))
		time.Sleep(time.Minute)
		if r := d.Report(); r.State != CheckDone || r.FoundCount != 2 {
			t.Errorf("got %s %s, want done with 2 duplicates found", r.State, r.Problem)
		}
		s.mu.Lock()
		s.fail = slices.Repeat([]error{down}, 10)
		s.mu.Unlock()
		must.Do(t, d.Start(false, nil))
		time.Sleep(time.Minute)
		if r := d.Report(); r.State != CheckFailed || !strings.Contains(r.Problem, "does not answer") {
			t.Fatalf(`got %s %q, want r.State %v, …"does not answer"…`, r.State, r.Problem, CheckFailed)
		}
		s.mu.Lock()
		s.fail = nil
		s.mu.Unlock()
		must.Do(t, d.Start(true, nil))
		time.Sleep(time.Minute)
		if r := d.Report(); r.State != CheckDone || r.FoundCount != 2 {
			t.Errorf("%s, %d found, want r.State %v, r.FoundCount 2", r.State, r.FoundCount, CheckDone)
		}
	})
}

func TestCheckIsRefusedBeforeTheTableIsLoaded(t *testing.T) {
	for want, table := range map[fault.Kind]*topology.Table{fault.Unavailable: {}, fault.NotFound: {Loaded: true}} {
		f := fixedTable{table, NewDirectory(0, nil, nil, topology.Health{})}
		d := NewDuplicateCheck(&memorySource{}, f, f, profile.Yorkie(), slog.New(slog.DiscardHandler))
		refused.As(t, d.Start(false, nil), want, "Start")
	}
}

func TestDuplicateIDsOfTextsAreFoundAndMakeMovesDangerous(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &memorySource{rows: map[topology.Namespace][]KeyedRow{}}
		id, project := textValue("order-0017"), ObjectIDValue(oid(6))
		add := func(id, project bson.RawValue) {
			doc := must.Get(bson.Marshal(bson.D{{Key: "_id", Value: id}, {Key: "project_id", Value: project}}))
			row := KeyedRow{Doc: doc}
			row.ID, _, _ = IDOf(id)
			s.rows[db+".documents"] = append(s.rows[db+".documents"], row)
		}
		for i := range 3000 { // more than a batch
			add(textValue(fmt.Sprintf("order-%04d", i)), ObjectIDValue(oid(1)))
			if i == 17 {
				add(id, project)
			}
		}
		d := newCheck(t, s)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- d.Run(ctx) }()
		defer func() { cancel(); <-done }()
		must.Do(t, d.Start(false, nil))
		time.Sleep(time.Minute)
		r := d.Report()
		if r.State != CheckDone || r.Collections[0].Read != 3001 || r.FoundCount != 1 || r.Found[0].Text() != "order-0017" {
			t.Fatalf("%s: %+v, found %+v", r.State, r.Collections, r.Found)
		}
		documents := testTable().Collection(db + ".documents")
		if got := Dangers(documents, 0, r.Found); len(got) != 1 || got[0].Shard != "b" || got[0].IDs[0] != "order-0017" {
			t.Errorf("dangers: %+v, want that of order-0017 on shard b", got)
		}
	})
}

func textValue(s string) bson.RawValue {
	return bson.RawValue{Type: bson.TypeString, Value: bsoncore.AppendString(nil, s)}
}

// A profile need not say what a row is called.
func TestRowsWithoutANameAreCheckedForDuplicateIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newCheck(t, sourceWithDuplicates(t))
		want := len(d.collections(d.tables.Table()))
		for _, l := range d.profile.Layouts {
			for i := range l.Collections {
				l.Collections[i].Kind = ""
			}
		}
		if got := d.collections(d.tables.Table()); want == 0 || len(got) != want {
			t.Errorf("%d collections are checked, want %d: %+v", len(got), want, got)
		}
	})
}

func TestMoveThatJoinsDuplicateIDsIsDangerous(t *testing.T) {
	tab := testTable() // documents: projects below 5 on a, the others on b
	documents := tab.Collection(db + ".documents")
	id := bson.ObjectID{7}
	found := []SharedID{{
		IDPlace: IDPlace{NS: documents.NS, ID: id},
		Rows:    []SharedRow{{Shard: "a", Project: oid(2)}, {Shard: "b", Project: oid(6)}},
	}}
	for i, to := range []string{"b", "a"} {
		got := Dangers(documents, i, found)
		if len(got) != 1 || got[0].Shard != to || len(got[0].IDs) != 1 || got[0].IDs[0] != id.Hex() {
			t.Errorf("chunk %d: %+v, want a warning of %s", i, got, to)
		}
	}
	clients := tab.Collection(db + ".clients")
	if got := Dangers(clients, 0, found); got != nil {
		t.Errorf("a duplicate in documents gives a warning for clients: %+v, want nil", got)
	}
	found = []SharedID{{
		IDPlace: IDPlace{NS: clients.NS, ID: id}, // of projects 1 and 9; project 5 has no such row
		Rows:    []SharedRow{{Shard: "a", Project: oid(1)}, {Shard: "c", Project: oid(9)}},
	}}
	if got := Dangers(clients, 0, found); len(got) != 1 || got[0].Shard != "c" {
		t.Errorf(`the chunk with project 1: %+v, want len 1, [0].Shard "c"`, got)
	}
	if got := Dangers(&topology.Collection{Meta: documents.Meta, Chunks: documents.Chunks}, 0, nil); got != nil {
		t.Errorf("a warning without any duplicate: %+v", got)
	}
}
