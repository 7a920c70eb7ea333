package keyvis

import (
	"context"
	"fmt"
	"slices"
	"time"

	"shardboard/internal/store"
)

// save writes new columns in one transaction. Columns that could not be written stay pending.
func (r *Recorder) save(ctx context.Context, cluster string) error {
	r.mu.Lock()
	if len(r.pending) == 0 && len(r.dropped) == 0 {
		r.mu.Unlock()
		return nil
	}
	pending, dropped := r.pending, r.dropped
	r.pending, r.dropped = map[columnID]*column{}, map[string]bool{}
	change, axes := r.change(pending, dropped)
	r.mu.Unlock()

	err := r.store.SaveHeat(ctx, cluster, change)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		for _, a := range axes {
			a.saved = true
		}
		return nil
	}
	for at, c := range pending {
		if _, newer := r.pending[at]; !newer && !r.dropped[at.picture] {
			r.pending[at] = c
		}
	}
	for name := range dropped {
		r.dropped[name] = true
	}
	return fmt.Errorf("save heat maps: %w", err)
}

// change is what to store: columns with the axes they need, and axes that no column uses any more.
func (r *Recorder) change(pending map[columnID]*column, dropped map[string]bool) (out store.HeatChange, axes []*axis) {
	for name := range dropped {
		out.GonePictures = append(out.GonePictures, name)
	}
	lost := map[string]bool{} // pictures that lost columns
	for at, c := range pending {
		row := store.HeatColumn{Picture: at.picture, At: time.UnixMilli(at.at).UTC(), Step: at.step}
		if c == nil {
			out.GoneColumns = append(out.GoneColumns, row)
			lost[at.picture] = true
			continue
		}
		if c.axis != nil {
			row.Axis = c.axis.id
			if !c.axis.saved && !slices.Contains(axes, c.axis) {
				axes = append(axes, c.axis)
				out.Axes = append(out.Axes, store.HeatAxis{Picture: at.picture, ID: c.axis.id, Body: c.axis.pack()})
			}
		}
		row.Body = c.pack()
		out.Columns = append(out.Columns, row)
	}
	for name := range lost {
		if p := r.pictures[name]; p != nil && p.by == ByKey {
			for _, id := range p.unusedAxes() {
				out.GoneAxes = append(out.GoneAxes, store.HeatAxis{Picture: name, ID: id})
			}
		}
	}
	return out, axes
}

// unusedAxes returns the ids of stored axes that no column uses; each is returned once.
func (p *picture) unusedAxes() (ids []int64) {
	used := map[int64]bool{}
	for _, c := range p.columns {
		used[c.axis.id] = true
	}
	for id := range p.kept {
		if !used[id] {
			ids = append(ids, id)
			delete(p.kept, id)
		}
	}
	p.kept = used
	return ids
}

// axisName identifies a stored axis.
type axisName struct {
	picture string
	id      int64
}

// load adds the stored columns before those counted since the start.
func (r *Recorder) load(ctx context.Context, cluster string) error {
	kept, known, err := r.read(ctx, cluster)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.addAllStored(kept, known)
	return nil
}

// read reads the stored columns, by picture, and axes.
func (r *Recorder) read(ctx context.Context, cluster string) (map[string][]*column, map[axisName]*axis, error) {
	ctx, cancel := context.WithTimeout(ctx, 3*saveTimeout)
	defer cancel()
	axes, columns, err := r.store.LoadHeat(ctx, cluster)
	if err != nil {
		return nil, nil, fmt.Errorf("load heat maps: %w", err)
	}
	known := map[axisName]*axis{}
	for _, a := range axes {
		if read, err := unpackAxis(a.ID, a.Body); err == nil {
			known[axisName{a.Picture, a.ID}] = read
		} else {
			r.log.Warn("the rows of a heat map are unreadable", "picture", a.Picture, "error", err)
		}
	}
	kept := map[string][]*column{}
	for _, row := range columns {
		c, err := unpackColumn(row.Body)
		if err == nil {
			c.From, c.Step, c.axis = row.At, row.Step, known[axisName{row.Picture, row.Axis}]
		}
		if _, by, _, ok := parsePicture(row.Picture); err != nil || !ok || (by == ByKey) != (c.axis != nil) || !c.valid() {
			continue // treated as a gap
		}
		kept[row.Picture] = append(kept[row.Picture], c)
	}
	return kept, known, nil
}

// addAllStored gives all pictures their stored columns. The caller holds the lock.
func (r *Recorder) addAllStored(kept map[string][]*column, known map[axisName]*axis) {
	for name, cols := range kept {
		r.addStored(name, cols)
	}
	for a := range known {
		if p := r.pictures[a.picture]; p != nil && p.kept != nil {
			p.kept[a.id] = true
		}
	}
}

// addStored gives a picture its stored columns.
func (r *Recorder) addStored(name string, cols []*column) {
	ns, by, life, _ := parsePicture(name)
	p := r.pictures[name]
	if p == nil {
		if c := r.tables.Table().Collection(ns); by == ByKey && (c == nil || incarnationName(c.Incarnation) != life) || r.find(ns, by) != nil {
			r.forget(name)
			return
		}
		p = &picture{name: name, ns: ns, by: by, life: life}
		r.pictures[name] = p
	}
	slices.SortFunc(cols, func(a, b *column) int { return a.From.Compare(b.From) })
	p.kept = map[int64]bool{}
	highest := int64(0)
	for _, c := range cols {
		if c.axis != nil {
			highest = max(highest, c.axis.id)
		}
	}
	// Columns counted before the stored ones were loaded have used low ids.
	for _, c := range p.columns {
		if c.axis != nil && !c.axis.saved && c.axis.id <= highest {
			c.axis.id += highest
		}
	}
	p.nextID = max(p.nextID, 0) + highest
	if n := len(p.columns); n > 0 {
		first := p.columns[0].From
		cols = slices.DeleteFunc(cols, func(c *column) bool { return c.End().After(first) })
	} else if last := cols[len(cols)-1]; p.rows == nil {
		p.rows = last.axis
	}
	p.columns = append(cols, p.columns...)
	p.version++
}
