package actions

import (
	"slices"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// RefineKey adds fields to the end of a collection's shard key.
const RefineKey Kind = "refine-key"

func describeRefineKey() Description {
	return Description{
		Kind:  RefineKey,
		Title: "Refine a shard key",
		Lead: "Adds fields to the end of the shard key, so that chunks of a single value can be split. No data moves. " +
			"It cannot be undone.",
		Proof:     "The collection has the new shard key.",
		Undo:      "Cannot be undone: no command shortens a shard key. Resharding (MongoDB 5.0) rewrites the whole collection.",
		Arguments: []Argument{argNS.needed(), argKey.needed()},
		LeastRisk: High,
		Sends:     []operation.Op{operation.OpRefineKey},
		plan:      planRefineKey,
	}
}

func planRefineKey(d *draftBuilder) (Draft, Args, error) {
	c := d.c
	next, err := shardkey.ParsePattern(d.a.Key)
	if err != nil {
		return Draft{}, d.a, fault.Wrap(fault.Invalid, err, "The argument \"key\" cannot be a shard key. %s", fault.Text(err))
	}
	if err := extends(c, next); err != nil {
		return Draft{}, d.a, err
	}
	d.a.Key = next.Raw()
	facts := []message.Fact{
		message.Namespace("ns", c.NS), message.Text("old", c.Key.String()), message.Text("new", next.String()),
		message.Count("chunks", c.Chunks.Len()), message.Count("ranges", len(d.s.Table.ZonesOf(c.NS))),
	}
	if next.Equal(c.Key) {
		d.block("refine", d.fromTable(topology.PartRouting), message.New("refine.already",
			"The shard key of {ns} is already {new}.", facts...))
	} else {
		need := sameCollection(c)
		proof := operation.Fact{Kind: operation.FactCollection, NS: c.NS, Want: map[string]string{"key": next.String()}}
		if uuid := need.Want["uuid"]; uuid != "" {
			proof.Want["uuid"] = uuid // a collection that was created again is another one
		}
		d.step(operation.Step{Op: operation.OpRefineKey, NS: c.NS, Key: d.a.Key, Needs: []operation.Fact{need}, Proof: []operation.Fact{proof}})
		d.add(d.checkRewrite(c, facts))
		d.add(d.checkShardKeyIndex(c, next))
		d.add(d.checkFoundBy(c, next))
	}
	return d.finish(message.New("refine-key",
		"Refine the shard key of {ns} from {old} to {new}. No data moves.", facts...), Undo{Text: d.noWayBack()})
}

// noWayBack says why a refined key stays, and what comes close to an undo.
func (d *draftBuilder) noWayBack() message.Message {
	if d.s.Release.Known() && !d.s.Release.AtLeast(5, 0, 0) {
		return message.New("refine-key.before50",
			"Cannot be undone: no command of this release shortens a shard key. MongoDB 5.0 and later can reshard the "+
				"collection by another key, which rewrites all of it.")
	}
	return message.New("refine-key",
		"Cannot be undone: no command shortens a shard key. Resharding the collection by another key rewrites all of it.")
}

// extends refuses a pattern that is not the shard key, or the shard key with more fields
// at its end. The server refuses it too, but not before it has been confirmed.
func extends(c *topology.Collection, next shardkey.Pattern) error {
	have, want := c.Key.Fields(), next.Fields()
	wrong := func(format string, args ...any) error {
		return fault.New(fault.Invalid, "The argument \"key\" must begin with the present shard key %s of %s and add fields after it: "+
			format, append([]any{c.Key, string(c.NS)}, args...)...)
	}
	for i, f := range have {
		switch {
		case i >= len(want):
			return wrong("it lacks the field %q.", f.Name)
		case want[i].Name != f.Name && slices.ContainsFunc(want, func(o shardkey.Field) bool { return o.Name == f.Name }):
			return wrong("the field %q is not in its place.", f.Name)
		case want[i].Name != f.Name:
			return wrong("field %d is %q, not %q.", i+1, want[i].Name, f.Name)
		case want[i].Hashed && !f.Hashed:
			return wrong("the field %q is hashed, and is not hashed now.", f.Name)
		case !want[i].Hashed && f.Hashed:
			return wrong("the field %q is not hashed, and is hashed now.", f.Name)
		}
	}
	return nil
}

// manyRewritten is how many chunks and zone ranges are rewritten at once before the plan
// warns: the config server does it in one transaction, which it ends after a minute.
const manyRewritten = 100_000

// checkRewrite says what the config server rewrites.
func (d *draftBuilder) checkRewrite(c *topology.Collection, facts []message.Fact) (out findings) {
	chunks, ranges := c.Chunks.Len(), len(d.s.Table.ZonesOf(c.NS))
	what := message.Plural(chunks, "the only chunk", "all {chunks} chunks")
	if d.zonesRead() {
		what += " and " + message.Plural(ranges, "the only zone range", "all {ranges} zone ranges")
		if ranges == 0 {
			what = message.Plural(chunks, "the only chunk (no zone range)", "all {chunks} chunks (no zone ranges)")
		}
	} else {
		what += " and all zone ranges, whose number is not known"
	}
	text := message.New("rewrite", "Rewrites "+what+" of {ns}: bounds get MinKey in the new fields, jumbo flags are cleared, and "+
		"every router reads the collection again.", facts...)
	if chunks+ranges < manyRewritten {
		out.pass("rewrite", d.fromTable(topology.PartRouting), text)
		return out
	}
	text.Code, text.Pattern = "rewrite.many", text.Pattern+" The config server does this in one transaction, which is heavy and may "+
		"exceed its limit of a minute. Choose a quiet hour, or merge chunks first."
	out.warn("rewrite", d.fromTable(topology.PartRouting), text)
	return out
}
