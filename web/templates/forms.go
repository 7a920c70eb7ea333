package templates

import "slices"

// Option is one choice of a select element.
type Option struct {
	Value, Text string
	Selected    bool
}

// Choices are options from values and texts in turn, of which one is selected.
func Choices(selected string, pairs ...string) (out []Option) {
	for p := range slices.Chunk(pairs, 2) {
		out = append(out, Option{Value: p[0], Text: p[1], Selected: p[0] == selected})
	}
	return out
}
