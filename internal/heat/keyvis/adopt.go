package keyvis

import "context"

// adopt makes the pictures those of the store, continued by what was counted here since its last
// column. It is called when this process begins to lead: what the leader before stored counts, and
// what it had not stored yet was counted here too.
func (r *Recorder) adopt(ctx context.Context, cluster string) error {
	kept, known, err := r.read(ctx, cluster)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	own := r.pictures
	r.pictures, r.pending, r.dropped, r.saving = map[string]*picture{}, map[columnID]*column{}, map[string]bool{}, true
	r.addAllStored(kept, known)
	for name, p := range own {
		stored := r.pictures[name]
		if stored == nil {
			for other, q := range r.pictures {
				if q.ns == p.ns && q.by == p.by { // of another incarnation of the collection
					delete(r.pictures, other)
					r.forget(other)
				}
			}
			stored = &picture{name: p.name, ns: p.ns, by: p.by, life: p.life}
			r.pictures[name] = stored
		}
		for _, c := range stored.continueWith(p) {
			r.pending[columnIDOf(stored, c)] = c
		}
	}
	select { // there may be something to save
	case r.wake <- struct{}{}:
	default:
	}
	return nil
}

// stopSaving is called when this process no longer leads.
func (r *Recorder) stopSaving() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.saving, r.pending, r.dropped = false, map[columnID]*column{}, map[string]bool{}
}

// continueWith adds what was counted here after the last stored column, and returns the added
// columns. Its axes get ids that no stored axis has.
func (p *picture) continueWith(own *picture) (added []*column) {
	if n := len(p.columns); n > 0 {
		p.until = p.columns[n-1].End()
	}
	p.chunks, p.chosenAt, p.recentRows = own.chunks, own.chosenAt, own.recentRows
	if own.open != nil && !own.open.From.Before(p.until) {
		p.open = own.open
	}
	axes := map[*axis]*axis{}
	as := func(a *axis) *axis {
		switch {
		case a == nil:
			return nil
		case axes[a] != nil:
		case p.rows != nil && sameBounds(a.bounds, p.rows.bounds):
			axes[a] = p.rows
		default:
			p.nextID++
			axes[a] = &axis{id: p.nextID, bounds: a.bounds}
		}
		return axes[a]
	}
	for _, c := range own.columns {
		if c.From.Before(p.until) {
			continue
		}
		copied := *c
		copied.axis = as(c.axis)
		p.columns = append(p.columns, &copied)
		added = append(added, &copied)
	}
	if own.rows != nil {
		p.rows = as(own.rows)
	}
	p.version += own.version + 1
	return added
}
