package cluster

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/balance"
	"shardboard/internal/fault"
	"shardboard/internal/topology"
)

// changelogLimit is how many entries are read. The log has no index, so a query by
// namespace would read all of it.
const changelogLimit = 1000

// Changelog returns the entries of a namespace since a server time, oldest first; if
// there are more than limit, the newest.
func (c *Client) Changelog(ctx context.Context, ns topology.Namespace, since time.Time, limit int) ([]topology.Event, error) {
	all, _, err := c.events(withOwnWrites(ctx), "", changelogLimit)
	if err != nil {
		return nil, err
	}
	var out []topology.Event
	for _, e := range topology.CorrectTimes(all) {
		if len(out) < limit && e.NS == string(ns) && !e.Time.Before(since) {
			out = append(out, e)
		}
	}
	slices.Reverse(out)
	return out, nil
}

// clockSkew is how far the servers' clocks may be behind ours.
const clockSkew = 2 * time.Second

// Trace looks for a sent command in the operations of the mongos and the shards, in
// config.migrations (up to 7.x) and in the changelog. Without the privilege for
// operations ($currentOp needs inprog) it uses the other two.
func (c *Client) Trace(ctx context.Context, run string, s operation.Step, since time.Time) (t operation.Trace, err error) {
	ctx, cancel := c.bounded(withOwnWrites(ctx))
	defer cancel()
	if s.Effects().InBackground {
		return c.traceResharding(ctx, run, s, since)
	}
	if ns := loggedAs(s); ns != "" {
		events, err := c.Changelog(ctx, ns, since.Add(-clockSkew), changelogLimit)
		if err != nil {
			return t, err
		}
		var begun bool
		t.Events, begun, t.Ended = entriesOf(s, events)
		t.Running = begun && !t.Ended
		t.Ended = t.Ended && begun // an end alone may be that of an earlier command
	}
	ops, err := c.operations(ctx)
	if err != nil && fault.Of(err) != fault.Forbidden {
		return t, err
	}
	seen := err == nil
	atWork := false
	for _, o := range ops {
		if !o.matches(run, s) {
			continue
		}
		atWork = true
		if step, steps := migrationStep(o, ops); steps > 0 {
			t.Step, t.Steps = step, steps
		}
	}
	if s.Migrates() && !atWork {
		kept, err := c.migrations(ctx, bson.D{
			{Key: "ns", Value: bson.D{{Key: "$eq", Value: string(s.NS)}}},
			{Key: "min", Value: bson.D{{Key: "$eq", Value: s.Min}}},
		})
		if err != nil && fault.Of(err) != fault.Forbidden {
			return t, err
		}
		atWork = len(kept) > 0
	}
	// A donor that fails over never logs the end of its migration, so operations, if
	// readable, take precedence over the changelog.
	t.Running = atWork || t.Running && !seen
	return t, nil
}

// migrationStep is the current step of a migration. The donor's thread shows it, except
// while the recipient copies, which begins after the third of the donor's six steps.
func migrationStep(o operationRow, all []operationRow) (step, steps int) {
	if step, steps = o.steps(); steps > 0 {
		return step, steps
	}
	m, ok := o.migration()
	if !ok || m.From == "" {
		return 0, 0
	}
	for _, row := range all {
		switch {
		case row.thread == donorThread && row.shard == m.From:
			return row.steps()
		case row.thread == recipientThread && row.shard == m.To:
			step, steps = 3, 6
		}
	}
	return step, steps
}

// steps parses the progress message of an operation, zero if there is none.
func (o operationRow) steps() (step, steps int) {
	if n, _ := fmt.Sscanf(o.message, "step %d of %d", &step, &steps); n != 2 || step <= 0 || step > steps {
		return 0, 0
	}
	return step, steps
}

// entriesOf selects the changelog entries with a step's bounds and reports whether they
// contain its start and its end.
func entriesOf(s operation.Step, events []topology.Event) (out []topology.Event, begun, ended bool) {
	for _, e := range events {
		if !s.Migrates() {
			out = append(out, e)
			begun, ended = primaryMoved(s, e, begun, ended)
			continue
		}
		lo, _ := e.Details.Lookup("min").DocumentOK()
		to, _ := e.Details.Lookup("to").StringValueOK()
		if !strings.HasPrefix(e.What, "moveChunk.") || !bytes.Equal(lo, s.Min) || to != "" && to != s.Shard {
			continue
		}
		out = append(out, e)
		switch e.What {
		case "moveChunk.start":
			begun, ended = true, false
		case "moveChunk.commit", "moveChunk.error", "moveChunk.from":
			ended = true
		}
	}
	return out, begun, ended
}

// migrationLimit is more than a cluster can have at once, because each migration needs
// two shards.
const migrationLimit = 1000

// migrations reads config.migrations, which exists up to 7.x and has the migrations
// started by the config server. Needs find on it.
func (c *Client) migrations(ctx context.Context, filter bson.D) (out []balance.Migration, err error) {
	cmd := find("migrations", filter, append(singleBatch(migrationLimit), fields("ns", "min", "fromShard", "toShard"), withMajority)...)
	err = c.each(ctx, "config", cmd, findOn("migrations", "read the migrations"), func(doc bson.Raw) error {
		var m balance.Migration
		ns, _ := doc.Lookup("ns").StringValueOK()
		m.NS = topology.Namespace(ns)
		m.From, _ = doc.Lookup("fromShard").StringValueOK()
		m.To, _ = doc.Lookup("toShard").StringValueOK()
		m.Min, _ = doc.Lookup("min").DocumentOK()
		m.Min = bytes.Clone(m.Min)
		out = append(out, m)
		return nil
	})
	return out, err
}
