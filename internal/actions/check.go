package actions

import (
	"slices"
	"time"

	"shardboard/internal/message"
	"shardboard/internal/natural"
	"shardboard/internal/topology"
)

// addCommonChecks adds the checks that every plan has, and those that every plan with
// moves has, in the order in which they are shown: those that block most often first.
func (d *draftBuilder) addCommonChecks() {
	if d.inBatch {
		return
	}
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
	d.checkBalancerAfter()
}

// pass, warn and block add a check with its verdict.
func (d *findings) pass(id string, source, text message.Message) {
	d.check(Check{ID: id, Verdict: Pass, Text: text, Source: source})
}

func (d *findings) warn(id string, source, text message.Message) {
	d.check(Check{ID: id, Verdict: Warn, Text: text, Source: source})
}

func (d *findings) block(id string, source, text message.Message) {
	d.check(Check{ID: id, Verdict: Block, Text: text, Source: source})
}

// fromTable is the source of an answer that comes from a part of the table.
func (d *plannedCluster) fromTable(p topology.Part) message.Message {
	return fromPart(p, d.now.Health[p].At)
}

func fromPart(p topology.Part, at time.Time) message.Message {
	if at.IsZero() {
		return message.New("unread",
			"{part}, not read yet", message.Coded("part", string(p), p.Name()))
	}
	return message.New("table",
		"{part}, read at {at}", message.Coded("part", string(p), p.Name()), message.Time("at", at))
}

// fromRule is the source of an answer that follows from a rule of the server's release.
func (d *draftBuilder) fromRule() message.Message {
	if !d.s.Release.Known() {
		return message.New("rules", "A rule of MongoDB, version unknown")
	}
	return message.New("rule",
		"A rule of MongoDB {release}", message.Text("release", d.s.Release.String()))
}

func (d *draftBuilder) fromCluster() message.Message {
	return message.New("cluster",
		"Read from the cluster at {at}", message.Time("at", d.s.Activity.At))
}

// recipients returns the shards that receive chunks, sorted.
func (d *plannedCluster) recipients() []string {
	return d.shardsOfMoves(func(m transfer) string { return m.to })
}

// allRecipients are also those that take the place of one that is blocked.
func (d *plannedCluster) allRecipients() []string {
	out := d.recipients()
	for _, m := range d.moves {
		out = append(out, m.others...)
	}
	natural.Sort(out)
	return slices.Compact(out)
}

func (d *plannedCluster) donors() []string {
	return d.shardsOfMoves(func(m transfer) string { return m.from })
}

func (d *plannedCluster) shardsOfMoves(of func(transfer) string) []string {
	var out []string
	for _, m := range d.moves {
		out = append(out, of(m))
	}
	natural.Sort(out)
	return slices.Compact(out)
}
