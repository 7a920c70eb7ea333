package actions

import (
	"slices"
	"strings"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// MoveCollection moves a collection that is not sharded.
const MoveCollection Kind = "move-collection"

func describeMoveCollection() Description {
	return Description{
		Kind:  MoveCollection,
		Title: "Move an unsharded collection",
		Lead: "Moves one collection that is not sharded to another shard (MongoDB 8.0 and later). The server copies it as in a " +
			"resharding, which takes at least 5 minutes. Clients can use it meanwhile.",
		Proof: "The collection is not sharded, and on the shard.",
		Undo:  "Moves it back. The collection stays tracked: move-primary no longer moves it.",
		Arguments: []Argument{argNS.needed().of(TypeNamespace).help("The unsharded collection, as database.collection."),
			argTo.needed()},
		LeastRisk: High,
		Sends:     []operation.Op{operation.OpMoveCollection},
		plan:      planMoveCollection,
	}
}

func planMoveCollection(d *draftBuilder) (Draft, Args, error) {
	if err := d.needsRelease(8); err != nil {
		return Draft{}, d.a, err
	}
	ns, to := d.a.NS, d.a.To
	from, err := d.shardOfMovable(ns)
	if err != nil {
		return Draft{}, d.a, err
	}
	facts := []message.Fact{message.Namespace("ns", ns), message.Shard("from", from), message.Shard("shard", to)}
	if from == to {
		d.block("recipient", d.fromTable(topology.PartRouting), message.New("recipient.sameWhole", "{ns} is already on {shard}.", facts...))
	} else {
		d.moveCollection(ns, from, to)
	}
	return d.finish(message.New("move-collection", "Move {ns} from {from} to {shard}.", facts...),
		Undo{Possible: true, Kind: MoveCollection, Args: Args{NS: ns, To: from}, Text: message.New("move-collection",
			"Moves {ns} back to {shard}. It stays tracked, so that move-primary no longer moves it.",
			message.Namespace("ns", ns), message.Shard("shard", from))})
}

// shardOfMovable returns the shard of a collection that moveCollection can move.
func (d *plannedCluster) shardOfMovable(ns topology.Namespace) (string, error) {
	t := d.now
	place := operation.PlaceFields(t, ns)
	switch db := ns.Database(); {
	case ns.Collection() == "":
		return "", fault.New(fault.Invalid, "The argument \"ns\" must be a collection as database.collection.")
	case topology.IsServerDatabase(db) || topology.IsTemporary(ns):
		return "", fault.New(fault.Invalid, "The argument \"ns\" names %q, which belongs to the server and must not be moved.", string(ns))
	case place["sharded"] == "true":
		return "", fault.New(fault.Invalid,
			"The argument \"ns\" names %q, which is sharded. Move its chunks (move), or unshard it (unshard-collection).", string(ns))
	case place["exists"] != "true" && t.Unsharded == nil:
		return "", fault.New(fault.Unavailable, "The argument \"ns\" names %q, and the unsharded collections are not known: "+
			"they could not be listed.", string(ns))
	case place["exists"] != "true":
		return "", fault.New(fault.NotFound, "The argument \"ns\" names %q, and there is no collection with that name.", string(ns))
	case place["shard"] == "":
		return "", fault.New(fault.Unavailable, "It is not known yet on which shard %q is; try again in a moment.", string(ns))
	}
	return place["shard"], nil
}

// moveCollection plans the command with its checks.
func (d *draftBuilder) moveCollection(ns topology.Namespace, from, to string) {
	needs := []operation.Fact{placedAs(d.s.Table, ns), drainingIs(to, d.isDraining(to))}
	d.step(operation.Step{Op: operation.OpMoveCollection, NS: ns, Shard: to, Needs: append(needs, d.noneResharding()...),
		Proof: []operation.Fact{unshardedOn(ns, to)}})
	d.receivers = append(d.receivers, to)
	d.moveWhole(ns, from, to)
	d.add(d.checkCollectionRecipient(ns, to))
	d.add(d.checkWholeDisk(to))
	d.add(d.checkOtherResharding())
	d.add(d.checkSeries(ns))
	d.add(d.checkIndexBuilds(&topology.Collection{Meta: topology.Meta{NS: ns}}))
	d.add(d.checkReshardWrites(&topology.Collection{Meta: topology.Meta{NS: ns}}))
}

// noneResharding: nothing that is built on resharding runs, as far as that may be read.
func (d *draftBuilder) noneResharding() []operation.Fact {
	if !d.s.Activity.Known || d.s.Activity.ReshardingsReason != "" {
		return nil
	}
	return []operation.Fact{{Kind: operation.FactResharding, Want: map[string]string{"running": ""}}}
}

// checkSeries: 8.0 refuses to move the data of a time series.
func (d *draftBuilder) checkSeries(ns topology.Namespace) (out findings) {
	if !strings.HasPrefix(ns.Collection(), "system.buckets.") {
		return out
	}
	verdict := Warn
	if d.s.Release.Known() && !d.s.Release.AtLeast(8, 1, 0) {
		verdict = Block
	}
	out.check(Check{ID: "time-series", Verdict: verdict, Source: d.fromRule(), Text: message.New("time-series.refused",
		"{ns} has the data of a time series, which not every release since 8.0 moves.", message.Namespace("ns", ns))})
	return out
}

// undoMoveCollection moves a collection back.
func (d *draftBuilder) undoMoveCollection(s operation.Step) error {
	i := slices.IndexFunc(s.Needs, func(f operation.Fact) bool { return f.Kind == operation.FactPlace })
	if i < 0 || s.Needs[i].Want["shard"] == "" {
		return fault.New(fault.Conflict, "This cannot be undone: the earlier shard is not known.")
	}
	back, place := s.Needs[i].Want["shard"], operation.PlaceFields(d.s.Table, s.NS)
	switch {
	case place["exists"] != "true":
		return collectionGone(s.NS)
	case place["sharded"] == "true":
		return undoConflict("the collection has been sharded", d.differences(unshardedOn(s.NS, s.Shard))...)
	case place["shard"] == back:
		return nil // moved back already
	case place["shard"] != s.Shard:
		return undoConflict("the collection is on another shard now", d.differences(unshardedOn(s.NS, s.Shard))...)
	case d.shard(back) == nil:
		return undoConflict("a shard no longer exists", d.differences(shardExists(back))...)
	}
	d.moveCollection(s.NS, s.Shard, back)
	return nil
}
