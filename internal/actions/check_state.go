package actions

import (
	"slices"

	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// checkStale blocks plans from an old table, whose chunks may no longer exist. It only
// fails early: the preconditions of each command are read again before it is sent.
func (d *draftBuilder) checkStale() (out findings) {
	for _, p := range []topology.Part{topology.PartRouting, topology.PartShards, topology.PartZones} {
		if !d.s.Table.Stale(p, d.s.Now) {
			continue
		}
		c := Check{ID: "stale", Verdict: Warn, Text: message.New("stale.old",
			"{part}: the last read failed or is old, so the plan may not match the cluster any more.",
			message.Coded("part", string(p), p.Name())), Source: d.fromTable(p)}
		if p == topology.PartRouting {
			c.Verdict = Block
		}
		out.check(c)
		return out
	}
	out.pass("stale", d.fromTable(topology.PartRouting), message.New("stale.fresh", "The routing table is up to date."))
	return out
}

// checkRelease blocks when the release is not known, because its rules then cannot be
// checked, and releases before 4.4, which have other commands and another
// catalogue.
func (d *draftBuilder) checkRelease() (out findings) {
	switch r := d.s.Release; {
	case !r.Known():
		out.block("release", message.New("rules", "A rule of MongoDB, version unknown"), message.New("release.unknown",
			"The MongoDB version is not known, so its rules could not be checked."))
	case !r.AtLeast(4, 4, 0):
		out.block("release", d.fromRule(), message.New("release.old",
			"MongoDB {release} is too old: version 4.4 or later is required.",
			message.Text("release", r.String())))
	case d.description.Since.Known() && !r.AtLeast(d.description.Since[0], d.description.Since[1], d.description.Since[2]):
		out.block("release", d.fromRule(), message.New("release.since",
			"{kind} needs MongoDB {since} or later; this cluster runs {release}.",
			message.Text("kind", string(d.description.Kind)), message.Text("since", d.description.Since.String()),
			message.Text("release", r.String())))
	default:
		out.pass("release", d.fromRule(), message.New("release.has",
			"MongoDB {release} supports all of these commands.", message.Text("release", r.String())))
	}
	return out
}

// maxSteps is how many commands a plan may have. More would not finish within a day.
const maxSteps = 1000

// checkSteps blocks plans with nothing to do, or with too many commands.
func (d *draftBuilder) checkSteps() (out findings) {
	switch n := len(d.steps); {
	case n == 0 && !d.blocked() && !d.continuing:
		out.block("steps", d.fromTable(topology.PartRouting), message.New("steps.none",
			"There is nothing to do: the cluster is already in this state."))
	case n > maxSteps:
		out.block("steps", d.fromTable(topology.PartRouting), message.New("steps.many",
			"This needs more than {most} commands, the limit of one plan. Plan a smaller part, or leave the "+
				"moves to the balancer with the mode “balancer”.",
			message.Count("most", maxSteps)))
	}
	return out
}

func (d *findings) blocked() bool {
	return slices.ContainsFunc(d.checks, func(c Check) bool { return c.Verdict == Block })
}
