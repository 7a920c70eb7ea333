package placement

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// Run does what Start asks for until ctx ends.
func (d *DuplicateCheck) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-d.wake:
			d.pass(ctx)
		}
	}
}

// pass reads every collection that is not done.
func (d *DuplicateCheck) pass(ctx context.Context) {
	d.mu.RLock()
	own, cancel, colls := d.ctx, d.cancel, len(d.report.Collections)
	d.mu.RUnlock()
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	var err error
	for i := 0; i < colls && err == nil; i++ {
		err = d.collection(own, i)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ctx != own || d.report.State != CheckRunning {
		return // stopped, perhaps gone on with already
	}
	switch {
	case err == nil:
		d.end(CheckDone, "")
	case errors.Is(err, errStopped):
		d.end(CheckStopped, "") // the program ends
	default:
		d.log.Warn("check for duplicate ids", "err", err)
		d.end(CheckFailed, fault.Text(err))
	}
}

// collection reads one collection from its resume point on, batch by batch. A
// batch may end between two rows of one id, so its last id is kept back and
// read again with the next one.
func (d *DuplicateCheck) collection(ctx context.Context, i int) error {
	at := d.Report().Collections[i]
	names := d.fields(at.NS)
	next := at.Next
	for !at.Done {
		began := time.Now()
		rows, err := d.batch(ctx, at.NS, names, next)
		if err != nil {
			return err
		}
		last := len(rows) < idsPerBatch
		whole := rows
		if !last {
			end := rows[len(rows)-1]
			first := slices.IndexFunc(rows, end.sameID)
			if first == 0 {
				return fault.New(fault.Internal, "More than %d rows of one collection have the same id; the check cannot continue.", idsPerBatch-1)
			}
			whole, next = rows[:first], end.id()
		}
		if !d.keep(ctx, i, whole, next, last) {
			return errStopped
		}
		if last {
			return nil
		}
		if err := pause(ctx, time.Until(began.Add(time.Duration(len(rows))*time.Second/idsPerSecond))); err != nil {
			return err
		}
	}
	return nil
}

// batch reads once more when the cluster could not be asked: a primary that
// steps down must not end a check of hours.
func (d *DuplicateCheck) batch(ctx context.Context, ns topology.Namespace, names []string, next bson.RawValue) ([]KeyedRow, error) {
	for try := 1; ; try++ {
		bounded, cancel := context.WithTimeout(ctx, batchTimeout)
		rows, err := d.src.IDs(bounded, ns, names, next, idsPerBatch)
		cancel()
		if ctx.Err() != nil {
			return nil, errStopped
		}
		if err == nil || fault.Of(err) != fault.Unavailable || try > retries {
			return rows, err
		}
		if err := pause(ctx, retryAfter); err != nil {
			return nil, err
		}
	}
}

func pause(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return errStopped
	case <-timer.C:
		return nil
	}
}

// fields are those of the shard key, and the project's for the list.
func (d *DuplicateCheck) fields(ns topology.Namespace) []string {
	var out []string
	if c := d.tables.Table().Collection(ns); c != nil {
		for _, f := range c.Key.Fields() {
			out = append(out, f.Name)
		}
	}
	if f := d.profile.RowFields(ns.Collection()).Project; f != "" && !slices.Contains(out, f) {
		out = append(out, f)
	}
	return slices.DeleteFunc(out, func(f string) bool { return f == "_id" })
}

// keep adds what a batch showed to the report; false when the pass was stopped
// meanwhile.
func (d *DuplicateCheck) keep(ctx context.Context, i int, rows []KeyedRow, next bson.RawValue, last bool) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if ctx.Err() != nil {
		return false
	}
	p := &d.report.Collections[i]
	for from := 0; from < len(rows); {
		to := from + 1
		for to < len(rows) && rows[to].sameID(rows[from]) {
			to++
		}
		if to-from > 1 {
			d.note(p.NS, rows[from:to])
		}
		from = to
	}
	p.Read += int64(len(rows))
	p.Next, p.Done = next, last
	d.report.Left = d.left()
	return true
}

// note keeps an id whose rows are on more than one shard. On which a row is
// follows from its shard key by the newest table: a mongos does not tell.
func (d *DuplicateCheck) note(ns topology.Namespace, rows []KeyedRow) {
	c := d.tables.Table().Collection(ns)
	if c == nil || c.Chunks.Len() == 0 {
		return
	}
	s := SharedID{IDPlace: IDPlace{NS: ns}, At: time.Now()}
	s.ID, s.Stored, _ = IDOf(rows[0].id())
	project := d.profile.RowFields(ns.Collection()).Project
	for _, r := range rows {
		key, err := c.Key.Extract(r.Doc)
		if err != nil {
			continue // a row that the server could not have stored by this key
		}
		_, chunk := c.Chunks.Find(key)
		row := SharedRow{Shard: chunk.Shard}
		row.Project, row.Stored, _ = IDOf(shardkey.FieldOf(r.Doc, project))
		s.Rows = append(s.Rows, row)
	}
	if len(s.Shards()) < 2 {
		return
	}
	d.report.FoundCount++
	if len(d.report.Found) < MaxSharedKept {
		d.report.Found = append(d.report.Found, s)
		d.shared[s.IDPlace] = s
	}
}

// left estimates from this pass's own speed how long the rest takes; negative
// when a collection's number of rows is not known.
func (d *DuplicateCheck) left() time.Duration {
	var rest int64
	for _, p := range d.report.Collections {
		switch {
		case p.Done:
		case !p.Total.Known:
			return -1
		default:
			rest += max(0, p.Total.Value-p.Read)
		}
	}
	done := readSoFar(d.report.Collections) - d.base
	took := time.Since(d.since)
	if done <= 0 || took <= 0 {
		return time.Duration(rest) * time.Second / idsPerSecond
	}
	return max(time.Duration(float64(took)/float64(done)*float64(rest)), time.Duration(rest)*time.Second/idsPerSecond)
}
