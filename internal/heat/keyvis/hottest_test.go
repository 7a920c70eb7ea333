package keyvis

import (
	"testing"
	"time"

	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/routing"
	"shardboard/internal/heat"
)

// Updated rows are counted only for the hottest projects, so the heat map must not show
// the other projects as quiet.
func TestUncountedProjectsAreUnknownNotQuiet(t *testing.T) {
	db := openStore(t)
	w := collectionCutAt(1, routing.EvenHashes(8)...)
	c := w.Table().Collection(ns)
	minute := func(i int, rows int64) heat.Slot {
		from := begin.Add(time.Duration(i) * time.Minute)
		s := heat.Slot{NS: ns, Method: heat.ChangedRows, From: from, To: from.Add(time.Minute), Every: 1, Capped: true,
			Life: c.Incarnation, Astray: 4}
		if rows > 0 {
			s.Counts = []heat.Count{{Project: documentID(1), Rows: rows + 4}}
			s.Pieces = []heat.Piece{heat.PieceOf(c, 2, rows)}
		}
		return s
	}
	r := runRecorder(t, w, db, func(r *Recorder) {
		r.Take(minute(0, 30))
		r.Take(minute(1, 0))
		r.Take(minute(2, 60))
	})
	for name, r := range map[string]*Recorder{"as counted": r, "after a restart": runRecorder(t, w, db, func(*Recorder) {})} {
		v, ok := r.View(ns, ByKey, begin, begin.Add(time.Hour))
		must.That(t, ok && len(v.Columns) == 3, "%s: %d columns", name, len(v.Columns))
		for i, want := range []int64{30, Unknown, 60} {
			col := v.Columns[i]
			if !col.Hottest || !col.Capped || col.Covered != time.Minute || col.Astray != 4 || v.At(2, i) != want {
				t.Errorf("%s, column %d: %d; %+v", name, i, v.At(2, i), col)
			}
			for row := range v.Rows() {
				if row != 2 && v.At(row, i) != Unknown {
					t.Errorf("%s: row %d is %d", name, row, v.At(row, i))
				}
			}
		}
		if p, _ := r.View(ns, ByProject, begin, begin.Add(time.Hour)); p.Rows() != 1 || p.At(0, 0) != 34 || p.At(0, 1) != Unknown {
			t.Errorf("%s: projects %+v", name, p)
		}
	}
	// Minutes older than the reach of their layer are merged into longer columns, which
	// are partial too.
	for i := 3; i < 60*8; i++ {
		r.Take(minute(i, 1))
	}
	v, _ := r.View(ns, ByKey, begin, begin.Add(time.Hour))
	if first := v.Columns[0]; first.Step != 5*time.Minute || !first.Hottest || first.Covered != 5*time.Minute || v.At(2, 0) != 92 ||
		v.At(1, 0) != Unknown {
		t.Errorf("%+v, %d and %d", first, v.At(2, 0), v.At(1, 0))
	}
}
