package parts

import (
	"shardboard/internal/answer"
	"shardboard/internal/topology"
	"shardboard/web/templates"
)

// InFlightView is a list of migrations under way, of which a page shows the
// oldest.
func InFlightView(v answer.View, list []topology.InFlight, most int) templates.InFlight {
	var m templates.InFlight
	if v.Past != nil {
		return m // what moved then is in the changelog
	}
	h := v.Table.Health[topology.PartMoves]
	if !h.At.IsZero() || h.Err != nil {
		m.State = PartState(v, topology.PartMoves)
	}
	switch {
	case len(list) == 0 && h.At.IsZero():
		m.None = "Whether anything moves now is not known yet."
	case len(list) == 0:
		m.None = "Nothing moves now."
	}
	if p := v.Table.Moves.ListPrivilege; p != "" && len(list) > 0 {
		m.Note = "Found in the changelog, which never logs the end of a move whose donor failed over. " +
			"Reading the list of migrations is not permitted: it needs " + p + "."
	}
	r, shown := RefsOf(v.Table), min(len(list), most)
	m.More = len(list) - shown
	for _, x := range answer.InFlightOf(v, list[:shown]) {
		m.Rows = append(m.Rows, templates.InFlightRow{InFlight: x, Donor: r.Of(x.From), Recipient: r.Of(x.To),
			Begun: templates.Ago(x.Since, v.Now)})
	}
	return m
}
