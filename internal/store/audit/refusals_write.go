package audit

import (
	"context"
	"maps"
	"slices"
	"time"

	"shardboard/internal/store"
)

// write appends the records that are due. A failure does not reach the refused client; the attempts
// are counted again and recorded a minute later.
func (r *Refusals) write(out []dueRecord) {
	if r.o.Record == nil {
		return
	}
	var failed error
	for _, d := range out {
		ctx, cancel := context.WithTimeout(context.Background(), refusalAppend)
		_, err := r.o.Record(ctx, d.entry)
		cancel()
		if err == nil {
			continue
		}
		failed = err
		r.mu.Lock()
		for _, was := range d.counters {
			of := r.kinds[was.key]
			if of == nil {
				of = newRefusalCounter(was.key)
				r.kinds[was.key] = of
				r.group(was.key).kinds++
			}
			of.merge(&was)
		}
		r.mu.Unlock()
	}
	if failed != nil {
		r.o.Log.Error("refused attempts could not be recorded; they are counted and recorded later", "err", failed)
	}
}

// line reports whether an attempt may have its own log line, and how many before it had none.
func (r *Refusals) line(now time.Time) (ok bool, leftOut int) {
	if !r.lines.AllowN(now, 1) {
		r.leftOut++
		return false, 0
	}
	leftOut, r.leftOut = r.leftOut, 0
	return true, leftOut
}

func (r *Refusals) log(e store.AuditEntry, leftOut int) {
	args := []any{"what", e.What, "subject", e.Subject, "method", e.Via, "from", e.From}
	for _, name := range slices.Sorted(maps.Keys(e.Details)) {
		args = append(args, name, e.Details[name])
	}
	if e.By != "" {
		args = append(args, "by", e.By)
	}
	if leftOut > 0 {
		args = append(args, "left_out", leftOut)
	}
	r.o.Log.Warn("refused", args...)
}
