package topology

import (
	"errors"
	"maps"
	"time"

	"shardboard/internal/fault"
)

// historyLength is how many publications Table.Since can look back, and
// historyChanges how many changes they may have together: a browser that was
// away longer reads the page anew.
const (
	historyLength  = 64
	historyChanges = 20_000
)

// publish makes the next table from the current one and swaps it in. change
// works on a shallow copy: it replaces slices and maps, never writes into them,
// and tells whether anybody needs to hear of it. A quiet change (times of good
// reads, what moves all the time) keeps Seq and Changes and wakes nobody.
func (w *Watcher) publish(change func(t *Table) (loud bool)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	old := w.table.Load()
	next := *old
	next.Changes = nil
	if !change(&next) {
		next.Changes = old.Changes
		w.table.Store(&next)
		return
	}
	next.Seq++
	next.Built = time.Now()
	next.Loaded = !next.Health[PartRouting].At.IsZero() && !next.Health[PartShards].At.IsZero() &&
		!next.Health[PartDatabases].At.IsZero()
	next.history = remember(old.history, changeSet{seq: next.Seq, changes: next.Changes})
	w.table.Store(&next)
	if next.Loaded && !old.Loaded {
		w.saved.drop()
		close(w.loaded)
	}
	w.subscribers.Notify()
}

// remember appends to a copy, so that older tables keep theirs.
func remember(history []changeSet, s changeSet) []changeSet {
	total := len(s.changes)
	from := len(history)
	for from > 0 && len(history)-from < historyLength-1 && total+len(history[from-1].changes) <= historyChanges {
		from--
		total += len(history[from].changes)
	}
	out := make([]changeSet, 0, len(history)-from+1)
	return append(append(out, history[from:]...), s)
}

// note records how the last read of a part went and tells whether that is news.
// A failure keeps the time of the last good read.
func (t *Table) note(p Part, err error) (loud bool) {
	was := t.Health[p]
	is := Health{At: was.At}
	var skipped *SkippedError
	switch {
	case err == nil:
		is.At = time.Now()
	case errors.As(err, &skipped) && fault.Of(err) != fault.Forbidden:
		is.At, is.Note = time.Now(), skipped.Error()
	default:
		is.Err = err
		var denied *DeniedError
		if errors.As(err, &denied) {
			is.Denied, is.Privilege, is.Product = true, denied.Privilege, denied.Product
		}
	}
	t.Health = maps.Clone(t.Health)
	if t.Health == nil {
		t.Health = make(map[Part]Health)
	}
	t.Health[p] = is
	return was.At.IsZero() != is.At.IsZero() || was.Note != is.Note || was.Denied != is.Denied ||
		(was.Err == nil) != (is.Err == nil) || (is.Err != nil && fault.Text(was.Err) != fault.Text(is.Err))
}

// usable tells whether a read gave rows that may be shown.
func usable(err error) bool {
	var skipped *SkippedError
	return err == nil || errors.As(err, &skipped)
}

// logHealth writes a line when a part's state changes, not at every failed poll.
func (w *Watcher) logHealth(p Part, was, is Health) {
	switch {
	case is.Err != nil && (was.Err == nil || fault.Text(was.Err) != fault.Text(is.Err)):
		w.o.Log.Warn("read failed", "part", string(p), "error", is.Err)
	case is.Err == nil && was.Err != nil:
		w.o.Log.Info("read works again", "part", string(p))
	}
}
