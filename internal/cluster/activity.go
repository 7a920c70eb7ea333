package cluster

import (
	"bytes"
	"context"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/balance"
	"shardboard/internal/fault"
	"shardboard/internal/topology"
)

// operationRow is one row of $currentOp.
type operationRow struct {
	shard   string
	ns      string
	thread  string   // thread name: "conn22", "MoveChunk", "migrateThread"
	command bson.Raw // originatingCommand if the row has one
	message string   // "step 3 of 6"
	running time.Duration
}

// Threads of a migration's donor and recipient. Their rows do not name the migration,
// but a shard takes part in only one at a time. Observed on 5.0.
const (
	donorThread     = "MoveChunk"
	recipientThread = "migrateThread"
)

// operations reads the running operations of the shards and of the mongos. Needs inprog
// on the cluster.
func (c *Client) operations(ctx context.Context) (rows []operationRow, err error) {
	for _, local := range []bool{false, true} {
		cmd := bson.D{
			{Key: "aggregate", Value: 1},
			{Key: "pipeline", Value: bson.A{
				bson.D{{Key: "$currentOp", Value: bson.D{{Key: "allUsers", Value: true}, {Key: "localOps", Value: local}}}},
				bson.D{{Key: "$project", Value: including("shard", "desc", "ns", "command", "originatingCommand", "msg", "secs_running")}},
			}},
			{Key: "cursor", Value: bson.D{}},
		}
		r := readOp{what: "ask what the cluster is doing", privilege: "inprog on the cluster"}
		err = c.each(ctx, "admin", cmd, r, func(doc bson.Raw) error {
			var o operationRow
			o.command, _ = doc.Lookup("originatingCommand").DocumentOK()
			if o.command == nil {
				o.command, _ = doc.Lookup("command").DocumentOK()
			}
			o.command = bytes.Clone(o.command)
			o.shard, _ = doc.Lookup("shard").StringValueOK()
			o.thread, _ = doc.Lookup("desc").StringValueOK()
			o.ns, _ = doc.Lookup("ns").StringValueOK()
			o.message, _ = doc.Lookup("msg").StringValueOK()
			o.running, _ = duration(doc.Lookup("secs_running"), time.Second)
			rows = append(rows, o)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// name is the command's name and the value of its first field, usually a namespace.
func (o operationRow) name() (name, ns string) {
	w := walk(o.command)
	if !w.next() {
		return "", ""
	}
	ns, _ = w.str()
	return string(w.key), ns
}

// migration returns the migration that the operation runs, as shown by its donor or the
// mongos. The internal command names are those of 5.0, and assumed for later releases.
func (o operationRow) migration() (m balance.Migration, ok bool) {
	name, ns := o.name()
	switch name {
	case "moveChunk", "moveRange", "_shardsvrMoveRange", "_configsvrMoveRange", "_configsvrMoveChunk":
	default:
		return m, false
	}
	m.NS = topology.Namespace(ns)
	m.From, _ = o.command.Lookup("fromShard").StringValueOK()
	for _, field := range []string{"toShard", "to"} {
		if m.To == "" {
			m.To, _ = o.command.Lookup(field).StringValueOK()
		}
	}
	if m.Min, ok = o.command.Lookup("min").DocumentOK(); !ok {
		m.Min, _ = o.command.Lookup("bounds", "0").DocumentOK()
	}
	return m, true
}

// matches reports whether the operation may be the step of this run.
func (o operationRow) matches(run string, s operation.Step) bool {
	if comment, ok := o.command.Lookup("comment").StringValueOK(); ok && comment == run {
		return true
	}
	if s.Effects().Refines && o.refines(s.NS) {
		return true
	}
	if s.MovesWhole() {
		return o.movesWhole(s)
	}
	m, ok := o.migration()
	return ok && s.Migrates() && m.NS == s.NS && (m.Min == nil || bytes.Equal(m.Min, s.Min))
}

// ddl lists commands that drop, rename or move a collection, and so invalidate a plan.
var ddl = []string{
	"reshardCollection", "refineCollectionShardKey", "shardCollection", "renameCollection", "drop", "dropDatabase",
	"movePrimary", "moveCollection", "unshardCollection", "collMod", "convertToCapped",
}

// ddl returns the DDL operation, if it is one. Some commands name only a collection of
// their database; dropDatabase and movePrimary name a database.
func (o operationRow) ddl() (op operation.Running, ok bool) {
	name, what := o.name()
	if name == shardMovePrimary { // the command of another mongos, as the old primary shows it
		name = "movePrimary"
	}
	if !slices.Contains(ddl, name) {
		return op, false
	}
	ns := topology.Namespace(what)
	switch name {
	case "drop", "collMod", "convertToCapped":
		db, _ := o.command.Lookup("$db").StringValueOK()
		ns = topology.Namespace(db + "." + what)
	case "dropDatabase":
		db, _ := o.command.Lookup("$db").StringValueOK()
		ns = topology.Namespace(db)
	}
	return operation.Running{NS: ns, What: name, For: o.running}, true
}

// withMigrations adds migrations that are not in the list. Donor and collection
// identify a migration, because a shard donates one range at a time. A known start time
// is copied to an existing entry.
func withMigrations(all []balance.Migration, more ...balance.Migration) []balance.Migration {
	for _, m := range more {
		i := slices.IndexFunc(all, func(k balance.Migration) bool { return k.NS == m.NS && k.From == m.From && k.To == m.To })
		switch {
		case i < 0:
			all = append(all, m)
		case all[i].Begun.IsZero():
			all[i].Begun = m.Begun
		}
	}
	return all
}

// cleanupDelay is when a donor begins to delete a moved range (orphanCleanupDelaySecs,
// which cannot be read through a mongos).
const cleanupDelay = topology.OrphanDelay

// Activity reads the running operations of the shards and the mongos, config.migrations
// (up to 7.x), and from the changelog the migrations whose donors have probably not
// cleaned up yet.
func (c *Client) Activity(ctx context.Context, nss []topology.Namespace) (operation.Activity, error) {
	ctx, cancel := c.bounded(withOwnWrites(ctx))
	defer cancel()
	a := operation.Activity{Known: true, At: time.Now()}
	events, _, err := c.events(ctx, "", changelogLimit)
	if err != nil && fault.Of(err) != fault.Forbidden {
		return a, err
	}
	denied := err != nil
	a.Cleanups = cleanups(events, nss, a.At)
	ops, err := c.operations(ctx)
	if err != nil && fault.Of(err) != fault.Forbidden {
		return a, err
	}
	denied = denied || err != nil
	kept, err := c.migrations(ctx, bson.D{})
	if err != nil && fault.Of(err) != fault.Forbidden {
		return a, err
	}
	a.Migrations = kept
	if denied = denied || err != nil; denied {
		a.Known, a.Reason = false, "notPermitted"
		a.Migrations = withMigrations(a.Migrations, balance.Running(&topology.Table{Events: events})...)
	}
	if err := c.addReshardings(ctx, &a); err != nil {
		return a, err
	}
	for _, o := range ops {
		if build, ok := o.indexBuild(); ok && !slices.Contains(a.IndexBuilds, build) {
			a.IndexBuilds = append(a.IndexBuilds, build)
		}
		if m, ok := o.migration(); ok && m.From != "" {
			m.Begun = a.At.Add(-o.running)
			a.Migrations = withMigrations(a.Migrations, m)
			continue
		}
		if op, ok := o.ddl(); ok && (len(nss) == 0 || slices.Contains(nss, op.NS) || op.NS.Collection() == "") && !slices.Contains(a.DDL, op) {
			a.DDL = append(a.DDL, op)
		}
	}
	return a, nil
}

// firstWithoutConfigMigrations is the first major release without config.migrations.
const firstWithoutConfigMigrations = 8

// MigrationsNow lists the running migrations: from config.migrations up to 7.x, from
// the shards' operations since 8.0.
func (c *Client) MigrationsNow(ctx context.Context) ([]balance.Migration, error) {
	ctx, cancel := c.bounded(withOwnWrites(ctx))
	defer cancel()
	release, err := c.release(ctx)
	if err != nil {
		return nil, err
	}
	if !release.atLeast(firstWithoutConfigMigrations, 0, 0) {
		return c.migrations(ctx, bson.D{})
	}
	ops, err := c.operations(ctx)
	if err != nil {
		return nil, err
	}
	var out []balance.Migration
	for _, o := range ops {
		if m, ok := o.migration(); ok && m.From != "" {
			out = withMigrations(out, m)
		}
	}
	return out, nil
}

// cleanups lists the ranges that shards donated recently. A migration that waited for
// its clean-up looks the same, so its donor may be free earlier than shown.
func cleanups(events []topology.Event, nss []topology.Namespace, now time.Time) []operation.Cleanup {
	var out []operation.Cleanup
	for _, e := range events {
		u, ok := operation.GivenAway(e)
		if u.Until = e.Time.Add(cleanupDelay); !ok || !u.Until.After(now) || len(nss) > 0 && !slices.Contains(nss, u.NS) {
			continue
		}
		out = append(out, u)
	}
	return out
}
