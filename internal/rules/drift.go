package rules

import (
	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

// drift: not sharded as the schema means it to be.
func drift(l *look) {
	if l.Profile == nil {
		return
	}
	for _, db := range l.Profile.Match(l.Table) {
		for _, f := range l.Profile.DriftOf(l.Table, db, "").Findings {
			if f.Code == profile.FindUnlisted {
				l.cannot(string(f.NS), "unlisted")
				continue
			}
			if !f.Look {
				continue
			}
			i := Problem{Subject: string(f.NS), NS: f.NS, Severity: Info, Why: say("drift.some"), Text: say("drift."+f.Code, "ns", string(f.NS), "want", f.Want, "have", f.Have, "layout", f.Layout),
				Evidence: []Evidence{l.text("drift.have", f.Have, topology.PartRouting), l.text("drift.want", f.Want, topology.PartRouting)}}
			if f.Code == profile.FindUnsharded || f.Code == profile.FindDifferent && f.Variant == "" {
				i.Severity, i.Why = Warn, say("drift.much")
			}
			if i.Remedy = (Remedy{WhyNot: say("noAction"), Commands: typed(f)}); len(i.Remedy.Commands) == 0 {
				i.Remedy.WhyNot = say("drift.noCommand")
			}
			l.add(i)
		}
	}
}
