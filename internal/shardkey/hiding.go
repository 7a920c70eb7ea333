package shardkey

import "encoding/json"

// Hiding says what stands in the place of key values for people who may not see
// them. Immutable.
type Hiding struct {
	Text string              // what they read instead
	Name func(string) string // an opaque name of a value, the same for the same one
}

// ExtJSON is what answers have in the place of a value: null, with the reason.
func (h *Hiding) ExtJSON() string {
	reason, _ := json.Marshal(h.Text) // a string
	return `{"value":null,"reason":` + string(reason) + `}`
}

// Hide is the pattern for people who may not see key values: its texts of keys
// are those of h. What is computed with it is the same.
func (p Pattern) Hide(h *Hiding) Pattern {
	p.hiding = h
	return p
}

// Hiding is how the pattern hides key values; nil when it does not.
func (p Pattern) Hiding() *Hiding { return p.hiding }
