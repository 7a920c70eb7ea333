package web

import (
	"testing"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/history"
	"shardboard/internal/store/sqlite"
	"shardboard/internal/topology"
	"shardboard/web/site"
)

// past is a recorded past: tables at the times at which they were published.
type past struct {
	t     testing.TB
	db    *sqlite.DB
	rec   *history.Recorder
	clock time.Time
}

func newPast(t testing.TB, begin time.Time) *past {
	t.Helper()
	db, err := sqlite.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	p := &past{t: t, db: db, clock: begin}
	p.restart()
	return p
}

// restart is another process that records from now on.
func (p *past) restart() {
	p.rec = history.NewRecorder(p.db, nil, nil, func() time.Time { return p.clock })
}

func (p *past) note(at time.Time, table *topology.Table) {
	p.t.Helper()
	p.clock = at
	if err := p.rec.Note(p.t.Context(), table); err != nil {
		p.t.Fatal(err)
	}
}

// watched notes that somebody looked from one time to another.
func (p *past) watched(cluster string, from, to time.Time) {
	p.t.Helper()
	for at := from; !at.After(to); at = at.Add(time.Minute) {
		if err := p.db.NoteWatched(p.t.Context(), cluster, at, 3*time.Minute); err != nil {
			p.t.Fatal(err)
		}
	}
}

// into gives a site this past.
func (p *past) into(d *site.Deps) { d.History = history.NewPast(p.db, d.Now) }

// withHistory is a site whose present was seen an hour before and now.
func withHistory(t testing.TB) func(*site.Deps) {
	t.Helper()
	p := newPast(t, epoch)
	table := cannedTable(1, 250)
	p.note(epoch.Add(-time.Hour), table)
	p.watched(table.ClusterID, epoch.Add(-time.Hour), epoch)
	return p.into
}

// cannedAt is a table all of whose parts were read at a time.
func cannedAt(table *topology.Table, at time.Time) *topology.Table {
	next := *table
	next.Health = map[topology.Part]topology.Health{}
	for _, p := range answer.AllParts {
		next.Health[p] = topology.Health{At: at}
	}
	return &next
}
