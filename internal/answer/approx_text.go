package answer

import (
	"shardboard/internal/api"
	"shardboard/internal/topology"
)

// ApproxText writes a figure in plain text, with how exact it is: "about 1.2 GiB
// (± 20 MiB)". One that is not known says why.
func ApproxText(f api.Figure, write func(int64) string) string {
	text := ValueOrReason(f, write)
	switch {
	case f.Value == nil || f.Exact || *f.Value == 0:
		return text
	case f.PlusMinus > 0:
		return "about " + text + " (± " + write(f.PlusMinus) + ")"
	}
	return "about " + text
}

// ValueOrReason writes the value of a figure, or why it is not known.
func ValueOrReason(f api.Figure, write func(int64) string) string {
	if f.Value == nil {
		return topology.ReasonText(f.Reason)
	}
	return write(*f.Value)
}
