package actions

import (
	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// planMove brings a chunk, or the part of it that min and max name, to another
// shard. Takes ns, chunk or bounds, to; min, max and force.
func planMove(s Situation, a Args) (Draft, Args, error) {
	if err := a.only(MoveChunk, "ns", "chunk", "bounds", "to", "min", "max", "force", "pause"); err != nil {
		return Draft{}, a, err
	}
	if err := a.checkPause(MoveChunk); err != nil {
		return Draft{}, a, err
	}
	c, err := collectionOf(s.Table, MoveChunk, a.NS)
	if err != nil {
		return Draft{}, a, err
	}
	if _, err := shardOf(s.Table, MoveChunk, "to", a.To); err != nil {
		return Draft{}, a, err
	}
	_, ch, err := s.chunkOf(c, MoveChunk, a)
	if err != nil {
		return Draft{}, a, err
	}
	d := draft(s, MoveChunk, a)
	d.resolved(c, ch)
	part, err := d.part(c, ch)
	if err != nil {
		return Draft{}, a, err
	}
	k := d.sketch(c)
	if ch.Shard == a.To {
		d.block("recipient", d.fromTable(topology.PartRouting), message.New("recipient.same",
			"The chunk is already on {shard}.", message.Shard("shard", a.To)))
	} else {
		d.move(k, part.Min, part.Max, a.To)
	}
	undo := Undo{Possible: true, Text: message.New("move",
		"It is moved back to {shard}.",
		message.Namespace("ns", c.NS), message.Shard("shard", ch.Shard)), Kind: MoveChunk,
		Args: Args{NS: c.NS, Bounds: d.bounds(c, part.Min, part.Max), To: ch.Shard, Force: a.Force}}
	if d.cuts > 0 || part.Min.Compare(ch.Min) != 0 || part.Max.Compare(ch.Max) != 0 {
		undo.Kind, undo.Args = "", Args{} // there and back, and joined again
	}
	return d.finish(message.New("move", "Move {min} → {max} of {ns} from {shard} to {to}.",
		append(chunkFacts(c, part), message.Shard("to", a.To))...), undo)
}

// part is what of the chunk is to move.
func (d *drafting) part(c *topology.Collection, ch topology.Chunk) (topology.Chunk, error) {
	var err error
	part := ch
	if d.a.Min != nil {
		if part.Min, err = d.s.bound(c, "min", d.a.Min); err != nil {
			return ch, err
		}
	}
	if d.a.Max != nil {
		if part.Max, err = d.s.bound(c, "max", d.a.Max); err != nil {
			return ch, err
		}
	}
	if part.Min.Compare(part.Max) >= 0 {
		return ch, fault.New(fault.Invalid, "The part to move ends before it begins: the argument \"min\" must be below \"max\", both inside the chunk.")
	}
	if part.Min.Compare(ch.Min) < 0 {
		return ch, fault.New(fault.Invalid, "The argument \"min\" is outside of the chunk that is named.")
	}
	if part.Max.Compare(ch.Max) > 0 {
		return ch, fault.New(fault.Invalid, "The argument \"max\" is outside of the chunk that is named.")
	}
	return part, nil
}
