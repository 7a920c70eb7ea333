package topology

import (
	"cmp"
	"slices"
	"sort"
	"time"
)

// Servers write the changelog with their own clocks, and a clock can be off by hours. What is sure is the order in
// which the entries were inserted. The times of most entries agree with that order; the others are corrected by it.

// clockTolerance is how far times of different servers may be out of order without meaning anything.
const clockTolerance = time.Minute

// CorrectTimes gives the entries, newest first as they were inserted, times that agree with their order within a
// minute. An entry whose time does not keeps what its server wrote as Written. The list that it is given stays.
func CorrectTimes(events []Event) []Event {
	out := slices.Clone(events)
	for i := range out {
		if !out[i].Written.IsZero() {
			out[i].Time, out[i].Written = out[i].Written, time.Time{}
		}
	}
	slices.Reverse(out)
	sound := inOrder(out)
	type bounds struct{ from, to time.Time }
	limits := make([]bounds, len(out))
	var last time.Time
	for i, e := range out {
		if limits[i].from = last; sound[i] {
			last = e.Time
		}
	}
	last = time.Time{}
	behind, ahead := map[string]time.Duration{}, map[string]time.Duration{}
	for i := len(out) - 1; i >= 0; i-- {
		if limits[i].to = last; sound[i] {
			last = out[i].Time
			continue
		}
		e, l := out[i], limits[i]
		if !l.from.IsZero() {
			behind[e.Shard] = max(behind[e.Shard], l.from.Sub(e.Time))
		}
		if !l.to.IsZero() {
			ahead[e.Shard] = max(ahead[e.Shard], e.Time.Sub(l.to))
		}
	}
	for i := range out {
		e, l := &out[i], limits[i]
		if sound[i] {
			continue
		}
		// A server's entries are moved together, so that what lies between two of them stays, and then into their place.
		at := e.Time
		switch {
		case !l.from.IsZero() && l.from.Sub(at) > clockTolerance:
			at = at.Add(behind[e.Shard])
		case !l.to.IsZero() && at.Sub(l.to) > clockTolerance:
			at = at.Add(-ahead[e.Shard])
		default:
			continue
		}
		if !l.to.IsZero() && at.After(l.to) {
			at = l.to
		}
		if at.Before(l.from) {
			at = l.from
		}
		e.Time, e.Written = at, e.Time
	}
	last = time.Time{}
	for i := range out { // two that were put into the same place
		if e := &out[i]; !sound[i] && last.Sub(e.Time) > clockTolerance {
			e.Written = cmp.Or(e.Written, e.Time)
			e.Time = last
		}
		if out[i].Time.After(last) {
			last = out[i].Time
		}
	}
	slices.Reverse(out)
	return out
}

// inOrder marks the largest set of entries, oldest first, whose times do not fall.
func inOrder(events []Event) []bool {
	var tails []int // of the best run of each length: the position of its last entry
	before := make([]int, len(events))
	for i, e := range events {
		n := sort.Search(len(tails), func(k int) bool { return events[tails[k]].Time.After(e.Time) })
		before[i] = -1
		if n > 0 {
			before[i] = tails[n-1]
		}
		if n == len(tails) {
			tails = append(tails, i)
		} else {
			tails[n] = i
		}
	}
	out := make([]bool, len(events))
	if len(tails) == 0 {
		return out
	}
	for i := tails[len(tails)-1]; i >= 0; i = before[i] {
		out[i] = true
	}
	return out
}

// ClockOff is a server whose entries of the changelog do not agree with the order of all.
type ClockOff struct {
	Shard string
	Off   time.Duration // the largest seen; negative: behind the others
	Last  time.Time     // when it wrote the last such entry
}

// ClocksOff are the servers whose clocks were off by more than a minute in entries since a time, by name.
func (t *Table) ClocksOff(since time.Time) (out []ClockOff) {
	for _, e := range t.Events { // newest first
		if e.Written.IsZero() || e.Time.Before(since) {
			continue
		}
		off := e.Written.Sub(e.Time)
		i := slices.IndexFunc(out, func(c ClockOff) bool { return c.Shard == e.Shard })
		switch {
		case off.Abs() <= clockTolerance:
		case i < 0:
			out = append(out, ClockOff{Shard: e.Shard, Off: off, Last: e.Time})
		case off.Abs() > out[i].Off.Abs():
			out[i].Off = off
		}
	}
	slices.SortFunc(out, func(a, b ClockOff) int { return cmp.Compare(a.Shard, b.Shard) })
	return out
}
