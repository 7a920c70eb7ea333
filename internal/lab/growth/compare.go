package growth

import "slices"

// Way is one order of doing things.
type Way struct {
	Name    string // "move, then load" or "load, then move"
	Bytes   int64  // that move
	Highest int    // index of the shard that gets fullest at any time; -1 if no capacity is known
	Peak    int64  // most bytes that it has
	Fits    bool   // no shard gets more than its capacity; false if a capacity is not known
}

// The two orders of adding shards and loading data.
const (
	MoveThenLoad = "move, then load"
	LoadThenMove = "load, then move"
)

// Ways compares moving before the data grows, which is the plan of the input, with moving afterwards. What grows
// first has to be moved too, and the shards of today have to hold all of it. Without growth there is one way.
func Ways(in *Input, now *Plan) ([]Way, error) {
	out := []Way{way(in, MoveThenLoad, now, now.Grown)}
	if !in.Grows() {
		return out, nil
	}
	grown := *in
	grown.Growth = 0
	grown.Shards = slices.Clone(in.Shards)
	for i := range grown.Shards {
		grown.Shards[i].Other += int64(float64(in.Shards[i].Other)*in.Growth) + in.Shards[i].Grows
		grown.Shards[i].Grows = 0
	}
	grown.Collections = make([]Collection, len(in.Collections))
	for i, c := range in.Collections {
		chunks := slices.Clone(c.Chunks)
		for j := range chunks {
			chunks[j].Bytes += int64(float64(chunks[j].Bytes)*in.Growth) + chunks[j].Grows
			chunks[j].Grows = 0
		}
		grown.Collections[i] = Collection{c.NS, chunks}
	}
	later, err := Compute(&grown)
	if err != nil {
		return nil, err
	}
	return append(out, way(in, LoadThenMove, later, later.After)), nil
}

func way(in *Input, name string, p *Plan, end []Usage) Way {
	w := Way{Name: name, Bytes: p.Bytes, Highest: -1, Fits: true}
	for i, peak := range p.Peak {
		peak = max(peak, end[i].Bytes)
		capacity := in.Shards[i].Capacity
		if capacity == 0 {
			w.Fits = false
			continue
		}
		if peak > capacity {
			w.Fits = false
		}
		if w.Highest < 0 || in.share(i, peak) > in.share(w.Highest, w.Peak) {
			w.Highest, w.Peak = i, peak
		}
	}
	return w
}

// Needed is the smallest number of shards to add so that no shard is fuller than a share of its capacity after
// the growth; ok is false when most added shards are not enough, as when one chunk or what is not sharded is too
// much by itself. New shards have the capacity that is given.
func Needed(in *Input, fill float64, capacity int64, most int) (shards int, ok bool, err error) {
	var failed error
	fits := func(n int) bool {
		try := *in
		try.Shards = slices.Clone(in.Shards)
		for range n {
			try.Shards = append(try.Shards, Shard{Name: "added", Capacity: capacity, Added: true})
		}
		if failed = try.Check(); failed != nil {
			return false
		}
		for i, u := range place(&try).Grown {
			if s := try.Shards[i]; !s.Emptied && (s.Capacity == 0 || float64(u.Bytes) > fill*float64(s.Capacity)) {
				return false
			}
		}
		return true
	}
	low, high := 0, most
	if !fits(most) {
		return 0, false, failed
	}
	for low < high && failed == nil {
		if middle := (low + high) / 2; fits(middle) {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low, failed == nil, failed
}
