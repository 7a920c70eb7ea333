package locate

import (
	"shardboard/internal/api"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
	"shardboard/web/parts"
	"shardboard/web/templates"
)

// count is a counted figure of an answer.
func count(f api.Figure) templates.Figure {
	t := topology.Figure{Reason: f.Reason}
	if f.Value != nil {
		t = topology.Figure{Known: true, Value: *f.Value, Exact: f.Exact, PlusMinus: f.PlusMinus, Method: f.Method, At: f.At}
	}
	return parts.CountFigure(t)
}

// proofLevel is how serious the result of a proof is.
func proofLevel(state string) string {
	switch placement.ProofState(state) {
	case placement.ProofAgrees, placement.ProofCaughtUp:
		return "ok"
	case placement.ProofDiffers:
		return "bad"
	}
	return "note"
}
