package actions

import (
	"time"

	"shardboard/internal/message"
	"shardboard/internal/natural"
	"shardboard/internal/topology"
)

// commonChecks are the checks of every plan, in the order in which they are shown: those that block most often first.
// nil is where those of its kind stand. A check only reads, and returns what it found.
var commonChecks = []func(*draftBuilder) findings{
	(*draftBuilder).checkStale, (*draftBuilder).checkRelease, nil, (*draftBuilder).checkCompeting, (*draftBuilder).checkBalancer,
	(*draftBuilder).checkWindow, (*draftBuilder).checkMaintenance, (*draftBuilder).checkSteps,
	ofMoves((*draftBuilder).checkMigrations), ofMoves((*draftBuilder).checkRecipients), ofMoves((*draftBuilder).checkDisks),
	ofMoves((*draftBuilder).checkJumbo), ofMoves((*draftBuilder).checkSize), ofMoves((*draftBuilder).checkDuplicates),
	ofMoves((*draftBuilder).checkCleanup), (*draftBuilder).checkBalancerAfter,
}

// ofMoves is a check of plans that move chunks.
func ofMoves(check func(*draftBuilder) findings) func(*draftBuilder) findings {
	return func(d *draftBuilder) findings {
		if len(d.moves) == 0 {
			return findings{}
		}
		return check(d)
	}
}

// addCommonChecks makes the checks of every plan.
func (d *draftBuilder) addCommonChecks() {
	if d.inBatch {
		return
	}
	own := d.checks
	d.checks = nil
	for _, check := range commonChecks {
		if check == nil {
			d.checks = append(d.checks, own...)
			continue
		}
		d.add(check(d))
	}
}

// add adds what a check has found.
func (f *findings) add(o findings) {
	f.checks = append(f.checks, o.checks...)
	f.needs.add(o.needs)
	f.stays, f.reached = append(f.stays, o.stays...), f.reached || o.reached
	if o.leastRisk == High || f.leastRisk == "" {
		f.leastRisk = o.leastRisk
	}
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
	return natural.Unique(out)
}

func (d *plannedCluster) donors() []string {
	return d.shardsOfMoves(func(m transfer) string { return m.from })
}

func (d *plannedCluster) shardsOfMoves(of func(transfer) string) []string {
	var out []string
	for _, m := range d.moves {
		out = append(out, of(m))
	}
	return natural.Unique(out)
}
