package webtest

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer/problems"
	"shardboard/internal/fixture/must"
	"shardboard/internal/history"
	"shardboard/internal/profile"
	"shardboard/internal/rules"
	"shardboard/internal/store"
	"shardboard/internal/store/sqlite"
	"shardboard/internal/topology"
	"shardboard/web/site"
)

// Past is a recorded past: which table was published at which time.
type Past struct {
	t     testing.TB
	db    *sqlite.DB
	rec   *history.Recorder
	clock time.Time
}

// NewPast is an empty past on disk; the clock stands at begin.
func NewPast(t testing.TB, begin time.Time) *Past {
	t.Helper()
	db, err := sqlite.Open(t.Context(), t.TempDir())
	must.Do(t, err)
	t.Cleanup(func() { _ = db.Close() })
	p := &Past{t: t, db: db, clock: begin}
	p.Restart()
	return p
}

// Restart records with a new recorder, as another process would.
func (p *Past) Restart() {
	p.rec = history.NewRecorder(p.db, nil, nil, func() time.Time { return p.clock })
}

// Note records the table that was published at a time.
func (p *Past) Note(at time.Time, table *topology.Table) {
	p.t.Helper()
	p.clock = at
	must.Do(p.t, p.rec.Note(p.t.Context(), table))
}

// Watched notes that the cluster was watched from one time to another.
func (p *Past) Watched(cluster string, from, to time.Time) {
	p.t.Helper()
	for at := from; !at.After(to); at = at.Add(time.Minute) {
		must.Do(p.t, p.db.NoteWatched(p.t.Context(), cluster, at, 3*time.Minute))
	}
}

// Into is an option of New: this past.
func (p *Past) Into(d *site.Deps) { d.Past.History = history.NewPast(p.db, d.Now) }

// WithHistory is an option of New: a past with CannedTable an hour before Epoch.
func WithHistory(t testing.TB) func(*site.Deps) {
	t.Helper()
	p := NewPast(t, Epoch)
	table := CannedTable(1, 250)
	p.Note(Epoch.Add(-time.Hour), table)
	p.Watched(table.ClusterID, Epoch.Add(-time.Hour), Epoch)
	return p.Into
}

// cannedAt is a table all of whose parts were read at a time.
func cannedAt(table *topology.Table, at time.Time) *topology.Table {
	next := *table
	next.Health = map[topology.Part]topology.Health{}
	for _, p := range problems.AllParts {
		next.Health[p] = topology.Health{At: at}
	}
	return &next
}

// MoveEntry is a changelog entry of a move of a chunk of documents.
func MoveEntry(t testing.TB, table *topology.Table, i int, at time.Time, what string, more ...bson.E) topology.Event {
	t.Helper()
	c := table.Collection(DocumentsNS)
	ch := c.Chunks.At(i)
	lo, err1 := c.Key.Document(ch.Min)
	hi, err2 := c.Key.Document(ch.Max)
	raw, err3 := bson.Marshal(
		append(
			bson.D{{Key: "min", Value: lo}, {Key: "max", Value: hi}, {Key: "from", Value: "shard-rs-1"}, {Key: "to", Value: "shard-rs-2"}},
			more...),
	)
	if err1 != nil || err2 != nil || err3 != nil {
		t.Fatal(err1, err2, err3)
	}
	return topology.Event{ID: what + at.String(), Time: at, What: what, NS: string(DocumentsNS), Shard: "shard-rs-1", Details: raw}
}

// PastServer is the site with a recorded past. Its clock stands at the last of Times.
type PastServer struct {
	*Server
	Past  *Past
	Times []time.Time
	Now   time.Time

	problems *PastProblems // of Times
}

// NewPastServer has seen CannedTable at Epoch only; Move adds the other times.
func NewPastServer(t testing.TB) *PastServer {
	x := &PastServer{Now: Epoch, problems: &PastProblems{}}
	x.Past = NewPast(t, Epoch)
	x.Server = New(t, func(d *site.Deps) {
		d.Now = func() time.Time { return x.Now }
		d.Problems.Past = x.problems
		x.Past.Into(d)
	})
	x.Show(Epoch, x.Watcher.Get())
	return x
}

// Show publishes a table at a time, and records it.
func (x *PastServer) Show(at time.Time, table *topology.Table) {
	x.Now = at
	table = cannedAt(table, at)
	table.Disks = undisclosed(table.Shards)
	x.Watcher.Publish(table)
	x.Past.Note(at, table)
	x.Past.Watched(table.ClusterID, at, at)
	x.Times = append(x.Times, at)
	found := rules.Evaluate(rules.Situation{Table: table, Directory: x.Keeper.Directory(), Profile: profile.Yorkie(), Now: at, Past: true})
	x.problems.Then = append(x.problems.Then, rules.View{Report: found})
	x.problems.Spans = append(x.problems.Spans, store.JudgedSpan{From: at, To: at.Add(time.Minute - 1)})
}

// Move moves the i-th chunk of documents a minute later.
func (x *PastServer) Move(i int, to string) {
	x.Show(x.Now.Add(time.Minute), WithMoved(x.Watcher.Get(), DocumentsNS, i, to))
}

// undisclosed is what history says of disks: it does not keep them.
func undisclosed(shards []topology.Shard) map[string]topology.Disk {
	out := map[string]topology.Disk{}
	for _, s := range shards {
		out[s.Name] = topology.NoDisk("notKept")
	}
	return out
}
