package actions

import (
	"slices"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// MovePrimary makes another shard the primary of a database.
const MovePrimary Kind = "move-primary"

func describeMovePrimary() Description {
	return Description{
		Kind:  MovePrimary,
		Title: "Move the primary of a database",
		Lead: "Moves all collections of a database that are not sharded to another shard, with one command that may take hours. " +
			"Stop the clients that use these collections first.",
		Proof: "The database has the shard as its primary.",
		Undo:  "Makes the earlier shard the primary again, which moves the collections back.",
		Arguments: []Argument{argDB.asked().needed().help("The database whose unsharded collections move."),
			argTo.needed().help("The shard that becomes the primary of the database.")},
		LeastRisk: High,
		Sends:     []operation.Op{operation.OpMovePrimary},
		plan:      planMovePrimary,
	}
}

func planMovePrimary(d *draftBuilder) (Draft, Args, error) {
	db, to := d.a.DB, d.a.To
	from, err := d.primaryOf(db)
	if err != nil {
		return Draft{}, d.a, err
	}
	facts := []message.Fact{message.Text("db", db), message.Shard("from", from), message.Shard("shard", to)}
	if from == to {
		d.block("recipient", d.fromTable(topology.PartDatabases), message.New("recipient.primary",
			"{shard} is the primary shard of {db} already.", facts...))
	} else {
		d.movePrimary(db, from, to)
	}
	return d.finish(message.New("move-primary", "Make {shard} the primary shard of {db}, instead of {from}.", facts...),
		Undo{Possible: true, Kind: MovePrimary, Args: Args{DB: db, To: from}, Text: message.New("move-primary",
			"Makes {shard} the primary shard of {db} again, which moves the collections back.",
			message.Text("db", db), message.Shard("shard", from))})
}

// primaryOf returns the primary shard of a database that can be moved.
func (d *plannedCluster) primaryOf(db string) (string, error) {
	if topology.IsServerDatabase(db) {
		return "", fault.New(fault.Invalid,
			"The argument \"db\" names %q, which belongs to the server: it has no primary shard that could be moved.", db)
	}
	i := slices.IndexFunc(d.now.Databases, func(x topology.Database) bool { return x.Name == db })
	switch {
	case i < 0:
		return "", fault.New(fault.NotFound, "The argument \"db\" names the database %q, which does not exist.", db)
	case d.now.Databases[i].Primary == "":
		return "", fault.New(fault.Unavailable, "The primary shard of %q is not known yet; try again in a moment.", db)
	}
	return d.now.Databases[i].Primary, nil
}

// movePrimary plans the command, what moves with it, and its checks.
func (d *draftBuilder) movePrimary(db, from, to string) {
	d.step(operation.Step{Op: operation.OpMovePrimary, DB: db, Shard: to,
		Needs: []operation.Fact{sameDatabase(d.s.Table, db), shardTakesChunks(to)}, Proof: []operation.Fact{primaryIs(db, to)}})
	d.receivers = append(d.receivers, to)
	for _, ns := range d.s.Table.Unsharded {
		if ns.Database() == db {
			d.moveWhole(ns, from, to)
		}
	}
	for _, c := range d.s.Table.Collections {
		if c.NS.Database() == db && c.Unsplittable && c.Chunks.Len() > 0 {
			d.stays = append(d.stays, message.New("tracked",
				"{ns} is not sharded but has been moved by itself before, so it stays on {shard}.",
				message.Namespace("ns", c.NS), message.Shard("shard", c.Chunks.Owner(0))))
		}
	}
	if n := d.shardedIn(db); n > 0 {
		d.stays = append(d.stays, message.New("sharded",
			message.Plural(n, "The chunks of the sharded collection of {db} stay where they are.",
				"The chunks of the {n} sharded collections of {db} stay where they are."),
			message.Count("n", n), message.Text("db", db)))
	}
	d.add(d.checkWhatMoves(db))
	d.add(d.checkWholeRecipient(to))
	d.add(d.checkWholeDisk(to))
	d.add(d.checkDatabaseBusy(db))
	d.add(d.checkWritesLost(db))
	d.add(d.checkNames(db, to))
	d.add(d.checkRouters())
	d.add(d.checkProfile(db))
}

// shardedIn is the number of sharded collections of a database.
func (d *plannedCluster) shardedIn(db string) (n int) {
	for _, c := range d.now.Collections {
		if c.NS.Database() == db && !c.Unsplittable && !c.Temporary {
			n++
		}
	}
	return n
}

// undoMovePrimary makes the earlier shard the primary again.
func (d *draftBuilder) undoMovePrimary(s operation.Step) error {
	for _, f := range s.Needs {
		back := f.Want["primary"]
		if f.Kind != operation.FactDatabase || back == "" {
			continue
		}
		switch is := d.s.Table.Primary(s.DB); {
		case is == back:
			return nil // moved back already
		case is != s.Shard:
			return undoConflict("the database has another primary shard now", d.differences(primaryIs(s.DB, s.Shard))...)
		case d.shard(back) == nil:
			return undoConflict("a shard no longer exists", d.differences(shardExists(back))...)
		}
		d.movePrimary(s.DB, s.Shard, back)
		return nil
	}
	return fault.New(fault.Conflict, "This cannot be undone: the earlier primary shard is not known.")
}
