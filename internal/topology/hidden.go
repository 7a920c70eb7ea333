package topology

import (
	"slices"

	"shardboard/internal/shardkey"
)

// Hide is the table for people who may not see key values: the patterns of its
// collections hide them, and so do those of damaged ones. Zone ranges, log entries and migrations still have
// bounds as documents, for what is computed with them; whoever writes those for
// people asks Hiding.
func (t *Table) Hide(h *shardkey.Hiding) *Table {
	next := *t
	next.hiding = h
	next.Collections = make([]*Collection, len(t.Collections))
	for i, c := range t.Collections {
		hidden := *c
		hidden.Key = c.Key.Hide(h)
		next.Collections[i] = &hidden
	}
	next.Damaged = make([]*Damage, len(t.Damaged))
	for i, d := range t.Damaged {
		hidden := *d
		hidden.Key = d.Key.Hide(h)
		hidden.Places = slices.Clone(d.Places)
		for n := range hidden.Places {
			hidden.Places[n].RawMin, hidden.Places[n].RawMax = nil, nil // no key: nothing says how to hide it
		}
		next.Damaged[i] = &hidden
	}
	return &next
}

// Hiding is how the table hides key values; nil when it does not.
func (t *Table) Hiding() *shardkey.Hiding { return t.hiding }
