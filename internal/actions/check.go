package actions

import (
	"slices"

	"shardboard/internal/topology"
)

// always makes the checks that every plan has, and those that every plan with
// moves has, in the order in which they are told: what blocks most first.
func (d *draftBuilder) always() {
	own := d.checks
	d.checks = nil
	d.checkStale()
	d.checkRelease()
	d.check(own...)
	d.checkCompeting()
	d.checkBalancer()
	d.checkWindow()
	d.checkMaintenance()
	d.checkSteps()
	if len(d.moves) > 0 {
		d.checkMigrations()
		d.checkRecipients()
		d.checkDisks()
		d.checkJumbo()
		d.checkSize()
		d.checkDuplicates()
		d.checkCleanup()
	}
	d.checkUndone()
}

// fromTable says that an answer was read from a part of the table, and when.
func (d *draftBuilder) fromTable(p topology.Part) Say {
	at := d.s.Table.Health[p].At
	if at.IsZero() {
		return say("unread", "part", string(p))
	}
	return say("table", "part", string(p), "at", moment(at))
}

// fromRule says that an answer is a rule of the server's release.
func (d *draftBuilder) fromRule() Say {
	if !d.s.Release.Known() {
		return say("rules")
	}
	return say("rule", "release", d.s.Release.String())
}

func (d *draftBuilder) fromCluster() Say { return say("cluster", "at", moment(d.s.Activity.At)) }

// recipients are the shards that take something, sorted; donors those that give.
func (d *draftBuilder) recipients() []string {
	return d.ends(func(m transfer) string { return m.to })
}

func (d *draftBuilder) donors() []string {
	return d.ends(func(m transfer) string { return m.from })
}

func (d *draftBuilder) ends(of func(transfer) string) []string {
	var out []string
	for _, m := range d.moves {
		out = append(out, of(m))
	}
	slices.Sort(out)
	return slices.Compact(out)
}
