package actions

import (
	"slices"

	"shardboard/internal/actions/operation"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// The kinds that abort what is built on resharding.
const (
	MoveCollectionAbort Kind = "move-collection-abort"
	UnshardAbort        Kind = "unshard-collection-abort"
)

func describeMoveCollectionAbort() Description {
	return Description{
		Kind:  MoveCollectionAbort,
		Title: "Abort the move of a collection",
		Lead: "Ends a running move of an unsharded collection (MongoDB 8.0 and later). The collection stays where it is, and what was " +
			"copied is deleted. Runs beside the run that moves it.",
		Proof:     "The collection is on its shard and no longer being moved.",
		Undo:      "Cannot be undone. Plan the move again.",
		Arguments: []Argument{argNS.needed().of(TypeNamespace).help("The collection that is being moved, as database.collection.")},
		LeastRisk: High,
		Sends:     []operation.Op{operation.OpAbortMove},
		plan:      func(d *draftBuilder) (Draft, Args, error) { return planAbort(d, operation.OpAbortMove) },
	}
}

func describeUnshardAbort() Description {
	return Description{
		Kind:  UnshardAbort,
		Title: "Abort the unsharding of a collection",
		Lead: "Ends a running unsharding of a collection (MongoDB 8.0 and later). The collection stays sharded as it is, and what was " +
			"copied is deleted. Runs beside the run that unshards it.",
		Proof:     "The collection is sharded and no longer being unsharded.",
		Undo:      "Cannot be undone. Plan the unsharding again.",
		Arguments: []Argument{argNS.needed()},
		LeastRisk: High,
		Sends:     []operation.Op{operation.OpAbortUnshard},
		plan:      func(d *draftBuilder) (Draft, Args, error) { return planAbort(d, operation.OpAbortUnshard) },
	}
}

// planAbort plans to abort the running operation of the collection.
func planAbort(d *draftBuilder, op operation.Op) (Draft, Args, error) {
	if err := d.needsRelease(8); err != nil {
		return Draft{}, d.a, err
	}
	command, what := "moveCollection", "move"
	if op == operation.OpAbortUnshard {
		command, what = "unshardCollection", "unsharding"
	}
	ns := message.Namespace("ns", d.a.NS)
	act := d.s.Activity
	i := slices.IndexFunc(act.Reshardings, func(r operation.Resharding) bool { return r.NS == d.a.NS && r.Command == command })
	switch {
	case i < 0 && act.ReshardingsReason != "":
		d.block("resharding", d.fromCluster(), message.New("abort.unknown",
			"It is not known whether {ns} is being moved ({reason}).", ns,
			message.Coded("reason", act.ReshardingsReason, topology.ReasonText(act.ReshardingsReason))))
	case i < 0:
		d.block("resharding", d.fromCluster(), message.New("abort.none",
			"There is nothing to do: no {command} of {ns} is running.", ns, message.Text("command", command)))
	case committing(act.Reshardings[i].State):
		d.block("resharding", d.fromCluster(), message.New("abort.committing",
			"The {what} of {ns} is committing: the server no longer aborts it.", ns, message.Words("what", what)))
	default:
		r := act.Reshardings[i]
		place := operation.Fact{Kind: operation.FactPlace, NS: d.a.NS, Want: map[string]string{"sharded": "true"}}
		if op == operation.OpAbortMove {
			now := operation.PlaceFields(d.s.Table, d.a.NS)
			place.Want = map[string]string{"sharded": "false", "shard": now["shard"]}
		}
		d.step(operation.Step{Op: op, NS: d.a.NS,
			Needs: []operation.Fact{{Kind: operation.FactResharding, NS: d.a.NS, Want: map[string]string{"id": r.ID}}},
			Proof: []operation.Fact{place, {Kind: operation.FactResharding, NS: d.a.NS, Want: map[string]string{"id": ""}}}})
		d.pass("resharding", d.fromCluster(), message.New("abort.possible",
			"The {what} of {ns} is in the state {state} and can be aborted. What was copied is deleted.", ns,
			message.Words("what", what), message.Text("state", r.State)))
	}
	return d.finish(message.New("abort", "Abort the {what} of {ns}.", ns, message.Words("what", what)),
		Undo{Text: message.New("abort", "Cannot be undone. To do it after all, plan it again from the beginning.")})
}
