package actions

import (
	"slices"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// The kinds that end a running resharding.
const (
	ReshardCommit Kind = "reshard-commit"
	ReshardAbort  Kind = "reshard-abort"
)

func describeReshardCommit() Description {
	return Description{
		Kind:  ReshardCommit,
		Title: "Commit a running resharding",
		Lead: "Lets a running resharding switch to the new key as early as possible. Writes to the collection wait from then on " +
			"until the switch, which can be long while documents are still to be copied. Runs beside the run that reshards.",
		Proof:     "The collection has the new key and the UUID of the resharding, and is no longer being resharded.",
		Undo:      "Cannot be undone by itself. Undo the resharding instead.",
		Arguments: []Argument{argNS.needed()},
		LeastRisk: High,
		Sends:     []operation.Op{operation.OpReshardCommit},
		plan:      planReshardCommit,
	}
}

func describeReshardAbort() Description {
	return Description{
		Kind:  ReshardAbort,
		Title: "Abort a running resharding",
		Lead: "Ends a running resharding. The collection stays as it is, and what was copied is deleted. " +
			"The server refuses this once it is committing. Runs beside the run that reshards.",
		Proof:     "The collection has its old UUID and is no longer being resharded.",
		Undo:      "Cannot be undone. Plan the resharding again.",
		Arguments: []Argument{argNS.needed()},
		LeastRisk: High,
		Sends:     []operation.Op{operation.OpReshardAbort},
		plan:      planReshardAbort,
	}
}

func planReshardCommit(d *draftBuilder) (Draft, Args, error) {
	r, err := d.runningResharding()
	if err != nil {
		return Draft{}, d.a, err
	}
	ns := message.Namespace("ns", d.c.NS)
	if r.ID != "" {
		want := map[string]string{"uuid": r.ID, "resharding": "false"}
		if r.Key != "" {
			want["key"] = r.Key
		}
		d.step(operation.Step{Op: operation.OpReshardCommit, NS: d.c.NS, Needs: d.needsResharding(r),
			Proof: []operation.Fact{{Kind: operation.FactCollection, NS: d.c.NS, Want: want}}})
		text := message.New("resharding.blocks", "Writes to {ns} wait from now on until the switch. {copied} of about {estimate} are copied.",
			ns, message.Bytes("copied", copiedBytes(r)), message.Bytes("estimate", estimatedBytes(r)))
		if r.Reason != "" || estimatedBytes(r) == 0 {
			text = message.New("resharding.blocksUnknown",
				"Writes to {ns} wait from now on until the switch. It is not known how much is still to be copied.", ns)
		}
		d.warn("resharding", d.fromCluster(), text)
	}
	return d.finish(message.New("reshard-commit", "Commit the resharding of {ns} to {key} now.", ns, message.Text("key", r.Key)),
		Undo{Text: message.New("reshard-commit",
			"Cannot be undone by itself. To go back, undo the run that resharded, or reshard to the old key.")})
}

func planReshardAbort(d *draftBuilder) (Draft, Args, error) {
	r, err := d.runningResharding()
	if err != nil {
		return Draft{}, d.a, err
	}
	ns := message.Namespace("ns", d.c.NS)
	switch {
	case r.ID == "":
	case committing(r.State):
		d.block("resharding", d.fromCluster(), message.New("resharding.committing",
			"The resharding of {ns} is committing: the server no longer aborts it.", ns))
	default:
		want := map[string]string{"uuid": operation.UUIDText(d.c.Incarnation.UUID), "key": d.c.Key.String(), "resharding": "false"}
		d.step(operation.Step{Op: operation.OpReshardAbort, NS: d.c.NS, Needs: d.needsResharding(r),
			Proof: []operation.Fact{{Kind: operation.FactCollection, NS: d.c.NS, Want: want}}})
		d.pass("resharding", d.fromCluster(), message.New("resharding.abortable",
			"The resharding of {ns} is in the state {state} and can be aborted. What was copied is deleted.",
			ns, message.Text("state", r.State)))
	}
	return d.finish(message.New("reshard-abort", "Abort the resharding of {ns} to {key}.", ns, message.Text("key", r.Key)),
		Undo{Text: message.New("reshard-abort", "Cannot be undone. To reshard after all, plan it again from the beginning.")})
}

// runningResharding finds the running resharding of the collection. Without one it adds a
// check that blocks and returns the zero value.
func (d *draftBuilder) runningResharding() (operation.Resharding, error) {
	if err := d.needsRelease(5); err != nil {
		return operation.Resharding{}, err
	}
	i := slices.IndexFunc(d.s.Activity.Reshardings, func(r operation.Resharding) bool { return r.NS == d.c.NS })
	ns := message.Namespace("ns", d.c.NS)
	switch {
	case i < 0 && !d.s.Activity.At.IsZero() && d.s.Activity.ReshardingsReason != "":
		reason := d.s.Activity.ReshardingsReason
		d.block("resharding", d.fromCluster(), message.New("resharding.unknown",
			"It is not known whether {ns} is being resharded ({reason}).", ns, message.Coded("reason", reason, topology.ReasonText(reason))))
		return operation.Resharding{}, nil
	case i < 0:
		d.block("resharding", d.fromCluster(), message.New("resharding.none", "There is nothing to do: {ns} is not being resharded.", ns))
		return operation.Resharding{}, nil
	}
	r := d.s.Activity.Reshardings[i]
	if r.Command != operation.OfReshardCollection {
		return operation.Resharding{}, fault.New(fault.Conflict, "%s is being changed by %s, which this does not end.", d.c.NS, r.Command)
	}
	return r, nil
}

// needsResharding: the same operation still runs.
func (d *draftBuilder) needsResharding(r operation.Resharding) []operation.Fact {
	return []operation.Fact{{Kind: operation.FactResharding, NS: d.c.NS, Want: map[string]string{"id": r.ID}}}
}

// committing reports whether the coordinator has decided to commit.
func committing(state string) bool {
	return slices.Contains([]string{"committing", "quiesced", "done"}, state)
}

func copiedBytes(r operation.Resharding) int64 { _, _, n, _ := r.Copied(); return n }

func estimatedBytes(r operation.Resharding) int64 { _, _, _, n := r.Copied(); return n }
