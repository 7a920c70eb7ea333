package topology

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"shardboard/internal/fault"
)

// flush publishes what has been read since the last time.
func (s *surveyor) flush(now time.Time) {
	s.flushed = now
	was := s.w.Table().Health[PartSizes]
	s.w.publish(func(t *Table) bool {
		known := make(map[Namespace]bool, len(t.Collections)+len(t.Unsharded))
		for _, c := range t.Collections {
			known[c.NS] = true
		}
		for _, ns := range t.Unsharded {
			known[ns] = true
		}
		for d := range t.Missing {
			if d.NoRoom != nil {
				known[d.NS] = true
			}
		}
		gone := func(ns Namespace) bool { return !known[ns] }
		maps.DeleteFunc(s.pending, func(ns Namespace, _ Sizes) bool { return gone(ns) })
		maps.DeleteFunc(s.failing, func(ns Namespace, _ error) bool { return gone(ns) })
		maps.DeleteFunc(s.asked, func(ns Namespace, _ time.Time) bool { return gone(ns) })
		maps.DeleteFunc(s.onDisk, func(ns Namespace, _ diskSizes) bool { return gone(ns) })
		t.Sizes = maps.Clone(t.Sizes)
		if t.Sizes == nil {
			t.Sizes = make(map[Namespace]Sizes, len(s.pending))
		}
		maps.DeleteFunc(t.Sizes, func(ns Namespace, _ Sizes) bool { return gone(ns) && !s.summing })
		maps.Copy(t.Sizes, s.pending)
		t.note(PartSizes, s.failure())
		return true
	})
	clear(s.pending)
	s.w.logHealth(PartSizes, was, s.w.Table().Health[PartSizes])
}

// failure is the error of the first failing collection by name.
func (s *surveyor) failure() error {
	if len(s.failing) == 0 {
		return nil
	}
	return s.failing[slices.Min(slices.Collect(maps.Keys(s.failing)))]
}

// reasonOf is the catalogue code of why a figure could not be read.
func reasonOf(err error) string {
	switch fault.Of(err) {
	case fault.Forbidden:
		return "notPermitted"
	case fault.Unavailable:
		return "unreachable"
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return "unreachable"
	}
	return "failed"
}
