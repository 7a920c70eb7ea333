package audit

import (
	"context"
	"maps"
	"slices"
	"time"

	"shardboard/internal/store"
)

// write records what is due. Whoever was refused is not told when that fails:
// they are refused already. It is counted again then, and tried a minute later.
func (r *Refusals) write(out []due) {
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
		for _, was := range d.of {
			of := r.kinds[was.key]
			if of == nil {
				of = newRefused(was.key)
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

// line tells whether an attempt may have its own line in the log, and how many
// had none before it.
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
