package engine

import (
	"context"
	"slices"
	"strconv"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/natural"
	"shardboard/internal/topology"
)

// Gate is the result of a look at the cluster's health after a group.
type Gate struct {
	Group    int
	At       time.Time
	Findings []message.Message // what is wrong; none: the batch goes on
	Unknown  []message.Message // what could not be checked
}

// GateLatency are the operations on a collection on one shard: their number and the time that
// they took, since the start of the shard's server.
type GateLatency struct {
	NS                  topology.Namespace
	Shard               string
	Reads, Writes       int64
	ReadTime, WriteTime time.Duration
}

// An operation is slow if it takes slowFactor times as long as before the batch and slowLeast
// longer. Fewer than slowOps operations say nothing: one that waits for the critical section of a
// migration would count as much as all others.
const (
	slowFactor = 3
	slowLeast  = 20 * time.Millisecond
	slowOps    = 50
)

// gateCollections is how many collections of a batch are looked at, so that a look takes a few
// seconds at most.
const gateCollections = 16

// A shard that does not answer may do so in a moment, after an election for example. The batch pauses
// only if it does not answer at any of gateTries looks.
const (
	gateTries = 3
	gateAgain = 15 * time.Second
)

// gateTimeout limits one look at the cluster's health.
const gateTimeout = 15 * time.Second

// readLatencies reads the operations of the batch's collections. An error means that a shard did
// not answer; unknown says why nothing could be read.
func (b *batchRun) readLatencies() (out []GateLatency, unknown message.Message, err error) {
	x := b.x
	if x.e.opts.Latencies == nil {
		return nil, message.New("health.off", "Not known: latencies. They are not read here."), nil
	}
	ctx, cancel := context.WithTimeout(x.ctx, gateTimeout)
	defer cancel()
	for _, ns := range b.plan.Limits.Collections[:min(len(b.plan.Limits.Collections), gateCollections)] {
		shards, err := x.e.opts.Latencies.OperationTimes(ctx, ns)
		switch {
		case fault.Of(err) == fault.Forbidden:
			return nil, message.New("health.denied", "Not known: latencies of {ns}. The cluster user may not read them.",
				message.Namespace("ns", ns)), nil
		case err != nil:
			return nil, message.Message{}, err
		}
		for shard, o := range shards {
			out = append(out, GateLatency{NS: ns, Shard: shard, Reads: o.Reads, Writes: o.Writes, ReadTime: o.ReadTime, WriteTime: o.WriteTime})
		}
	}
	slices.SortFunc(out, func(a, b GateLatency) int {
		if x := natural.Compare(a.NS, b.NS); x != 0 {
			return x
		}
		return natural.Compare(a.Shard, b.Shard)
	})
	return out, message.Message{}, nil
}

// readBaseline reads the latencies before the first item. Later looks are compared with it.
func (b *batchRun) readBaseline() bool {
	batch := b.x.current().Batch
	if batch.Base != nil || batch.Done > 0 || len(batch.Open) > 0 || batch.Checked > 0 {
		b.last = batch.Base
		return true
	}
	base, _, err := b.readLatencies()
	if err != nil {
		b.x.e.opts.Log.Warn("read the latencies before a batch", "run", b.x.id, "err", err)
	}
	if len(base) == 0 {
		return b.x.ctx.Err() == nil
	}
	b.last = base
	return b.x.persist(withBatch(func(b *Batch) { b.Base = base }))
}

// checkGroup looks at the health of the cluster and at the rows after a group. If something is
// wrong, the batch pauses until a person lets it go on.
func (b *batchRun) checkGroup(group int) bool {
	x := b.x
	var g Gate
	var now []GateLatency
	for try := range gateTries {
		if try > 0 && !b.waitForLook() {
			return false
		}
		g, now = b.look(group)
		if x.ctx.Err() != nil {
			return false
		}
		if x.stopRequested() {
			return true // the caller ends the batch
		}
		if len(g.Findings) == 0 {
			break
		}
	}
	batch := x.current().Batch
	g.Findings = append(g.Findings, slower(batch.Base, b.last, now)...)
	if now != nil {
		b.last = now
	}
	rows, err := b.groupRows(group)
	if err != nil {
		x.e.opts.Log.Warn("read the rows of a group of a batch", "run", x.id, "err", err)
		g.Unknown = append(g.Unknown, message.New("health.rows",
			"Not known: whether the group has as many rows as before. They could not be read."))
	}
	g.Findings = append(g.Findings, missingRows(rows)...)
	last := group == batch.Groups
	hold := Hold{Code: HoldGate, Group: group, At: g.At}
	if len(g.Findings) > 0 && !last {
		hold.Why = message.New("batch.unhealthy", "Paused after group {group}: ", message.Count("group", group))
		hold.Why = joined(hold.Why, g.Findings[0])
		if !x.audit(auditRunPaused, "ok", map[string]string{"why": g.Findings[0].Code, "group": listNumbers([]int{group})}) {
			return false
		}
	}
	return x.persist(func(r *Run) {
		withBatch(func(b *Batch) {
			b.Gates = append(b.Gates, g)
			b.Gates = b.Gates[max(0, len(b.Gates)-gatesKept):]
			b.Rows = compareRows(rows)
			if len(g.Findings) == 0 || last { // after the last group nothing is left to hold
				b.Checked = max(b.Checked, group)
			}
		})(r)
		if len(g.Findings) > 0 && !last {
			holdRun(hold)(r)
		}
	})
}

// look asks whether all shards answer, and how long their operations take.
func (b *batchRun) look(group int) (Gate, []GateLatency) {
	now, unknown, err := b.readLatencies()
	g := Gate{Group: group, At: b.x.e.now()}
	if err != nil {
		g.Findings = append(g.Findings, message.New("health.unread", "The health of the cluster could not be read: {why}",
			message.Server("why", fault.Text(err))))
	}
	if !unknown.IsZero() {
		g.Unknown = append(g.Unknown, unknown)
	}
	findings, unread := reachability(b.x.e.opts.Tables.Table())
	g.Findings, g.Unknown = append(g.Findings, findings...), append(g.Unknown, unread...)
	g.Unknown = append(g.Unknown, message.New("health.members",
		"Not known: secondaries, replication lag and tickets. Shardboard reads from a mongos, which does not report them."))
	return g, now
}

// waitForLook waits until it is time to look again, or somebody stops the batch. It returns false when
// the process ends.
func (b *batchRun) waitForLook() bool {
	select {
	case <-time.After(gateAgain):
	case <-b.x.newStopSignal():
	case <-b.x.ctx.Done():
		return false
	}
	return true
}

// joined is a sentence after another.
func joined(first, second message.Message) message.Message {
	return message.New(first.Code, first.Pattern+second.Pattern, append(slices.Clone(first.Facts), second.Facts...)...)
}

// slower finds operations that took much longer since the last look than they did before the
// batch. A shard whose counts went down was restarted; what it took before is not known.
func slower(base, last, now []GateLatency) (out []message.Message) {
	find := func(list []GateLatency, of GateLatency) (GateLatency, bool) {
		i := slices.IndexFunc(list, func(l GateLatency) bool { return l.NS == of.NS && l.Shard == of.Shard })
		if i < 0 {
			return GateLatency{}, false
		}
		return list[i], true
	}
	for _, n := range now {
		before, known := find(base, n)
		from, also := find(last, n)
		if !known || !also {
			continue
		}
		add := func(code, pattern string, ops int64, took time.Duration, baseOps int64, baseTook time.Duration) {
			if ops < slowOps || took < 0 || baseOps < slowOps {
				return
			}
			is, was := took/time.Duration(ops), baseTook/time.Duration(baseOps)
			if is > slowFactor*was && is-was >= slowLeast {
				out = append(out, message.New(code, pattern, message.Namespace("ns", n.NS), message.Shard("shard", n.Shard),
					message.Words("is", millis(is)), message.Words("was", millis(was))))
			}
		}
		add("health.reads", "a read of {ns} on {shard} takes {is} on average, and took {was} before the batch.",
			n.Reads-from.Reads, n.ReadTime-from.ReadTime, before.Reads, before.ReadTime)
		add("health.writes", "a write to {ns} on {shard} takes {is} on average, and took {was} before the batch.",
			n.Writes-from.Writes, n.WriteTime-from.WriteTime, before.Writes, before.WriteTime)
	}
	return out
}

// millis writes the time of an operation, which is often less than a millisecond.
func millis(d time.Duration) string {
	return strconv.FormatFloat(d.Round(10*time.Microsecond).Seconds()*1000, 'f', -1, 64) + " ms"
}

// reachability is what the watcher knows about the shards, those that the batch does not change
// included: whether all of them answered the last read of statistics, and the config servers that
// of the routing table.
func reachability(t *topology.Table) (findings, unknown []message.Message) {
	if h := t.Health[topology.PartRouting]; h.Err != nil {
		findings = append(findings, message.New("health.routing", "The routing table could not be read since {at}: {why}",
			message.Time("at", h.At), message.Server("why", fault.Text(h.Err))))
	}
	switch h := t.Health[topology.PartSizes]; {
	case h.Denied:
		unknown = append(unknown, message.New("health.shardsDenied",
			"Not known: whether all shards answer. The cluster user may not read the statistics of collections."))
	case h.Err != nil && fault.Of(h.Err) == fault.Unavailable:
		findings = append(findings, message.New("health.shards", "A shard did not answer the last read of statistics: {why}",
			message.Server("why", fault.Text(h.Err))))
	case h.Err != nil || h.At.IsZero():
		unknown = append(unknown, message.New("health.shardsUnread",
			"Not known: whether all shards answer. The statistics of collections have not been read."))
	}
	return findings, unknown
}
