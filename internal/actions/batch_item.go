package actions

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/natural"
)

// PlannedChange is one item of a batch as it is asked for: a kind with its arguments.
type PlannedChange struct {
	Kind Kind
	Args Args
}

// WithoutWaits returns steps whose moves do not wait for the donor's clean-up.
func WithoutWaits(steps []operation.Step) []operation.Step {
	out := slices.Clone(steps)
	for i := range out {
		out[i].Wait = false
	}
	return out
}

// plannedChangeJSON is a PlannedChange in JSON.
type plannedChangeJSON struct {
	Kind string          `json:"kind"`
	Args json.RawMessage `json:"args,omitempty"`
}

// readPlans reads a list of kinds with their arguments.
func readPlans(name string, raw json.RawMessage) ([]PlannedChange, error) {
	var list []plannedChangeJSON
	if err := readValue(name, raw, &list); err != nil {
		return nil, err
	}
	if len(list) > MostItems {
		return nil, tooManyItems(name, len(list))
	}
	// An item takes no list of items, so that no list can be nested without end.
	all := slices.DeleteFunc(Arguments(), func(x Argument) bool { return x.Type == TypePlans })
	out := make([]PlannedChange, 0, len(list))
	for i, in := range list {
		if err := checkText(name+"["+strconv.Itoa(i)+"].kind", in.Kind); err != nil {
			return nil, err
		}
		if Kind(in.Kind) == Batch {
			return nil, itemError(i+1, fault.New(fault.Invalid, "A batch cannot contain a batch."))
		}
		a, err := readArgs(in.Args, all)
		if err != nil {
			return nil, itemError(i+1, err)
		}
		out = append(out, PlannedChange{Kind: Kind(in.Kind), Args: a})
	}
	return out, nil
}

func writePlans(plans []PlannedChange) []plannedChangeJSON {
	var out []plannedChangeJSON
	for _, p := range plans {
		out = append(out, plannedChangeJSON{Kind: string(p.Kind), Args: p.Args.JSON()})
	}
	return out
}

// itemError names the item that an error is about.
func itemError(number int, err error) error {
	return fault.Wrap(fault.Of(err), err, "Item %d: %s", number, fault.Text(err))
}

// ItemArgs are the arguments of an item. The error says that they are of a release that writes them differently.
func ItemArgs(x *operation.Item) (a Args, err error) {
	if len(x.Args) == 0 {
		return a, nil
	}
	if err := json.Unmarshal(x.Args, &a); err != nil {
		return a, fmt.Errorf("arguments of item %d: %w", x.Number, err)
	}
	return a, nil
}

// SetItemArgs gives an item other arguments.
func SetItemArgs(x *operation.Item, a Args) (err error) {
	if x.Args, err = json.Marshal(a); err != nil {
		return fmt.Errorf("arguments of item %d: %w", x.Number, err)
	}
	return nil
}

// itemOf describes a drafted item. n is its number.
func itemOf(n int, kind Kind, a Args, out Draft) (*operation.Item, error) {
	x := &operation.Item{Number: n, Kind: kind, Summary: out.Summary, Limits: out.Limits, Bytes: out.Effect.Bytes, Steps: out.Steps,
		Sends: out.Sends(), Shards: slices.Clone(out.Limits.Shards), Moves: operation.Moves(out.Steps)}
	for _, m := range out.Effect.Moves {
		x.Shards = append(x.Shards, m.From, m.To)
	}
	x.Shards = natural.Unique(x.Shards)
	return x, SetItemArgs(x, a)
}

// groupItems numbers the groups of items: the canary alone, then so many in each.
func groupItems(items []*operation.Item, canary bool, size int) {
	first := 0
	if canary {
		first = 1
	}
	for i, x := range items {
		switch {
		case i < first:
			x.Group = 1
		default:
			x.Group = 1 + first + (i-first)/size
		}
	}
}
