package shardkey

import "encoding/json"

// Hiding replaces key values for users who may not see them. Immutable.
type Hiding struct {
	Text string              // shown instead of the value
	Name func(string) string // an opaque name, the same for equal values
}

// ExtJSON replaces a value in JSON: null with the reason.
func (h *Hiding) ExtJSON() string {
	reason, _ := json.Marshal(h.Text) // a string
	return `{"value":null,"reason":` + string(reason) + `}`
}

// Hide returns a pattern whose texts of keys come from h. Computations with it do not
// change.
func (p Pattern) Hide(h *Hiding) Pattern {
	p.hiding = h
	return p
}

// Hiding is the pattern's hiding of key values, or nil.
func (p Pattern) Hiding() *Hiding { return p.hiding }
