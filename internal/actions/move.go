package actions

import (
	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// MoveChunk moves a chunk, or the part of it between min and max, to another shard.
const MoveChunk Kind = "move"

func describeMove() Description {
	return Description{
		Kind:  MoveChunk,
		Title: "Move a chunk",
		Lead:  "Moves a whole chunk, or the part of it between two keys.",
		Proof: "The whole range is on the shard.",
		Undo:  "Moves it back and merges what was split.",
		Arguments: []Argument{argNS.needed(), argChunk, argBounds, argTo.needed(),
			argMin.help("The lower bound of the part to move, to move only a part of the chunk."),
			argMax.help("The upper bound of the part to move, to move only a part of the chunk."), argForce, argPause},
		InBatches: true,
		Sends:     []operation.Op{operation.OpMove, operation.OpMoveRange},
		plan:      planMove,
	}
}

func planMove(d *draftBuilder) (Draft, Args, error) {
	s, a, c := d.s, d.a, d.c
	ch, err := s.chunkOf(c, MoveChunk, a)
	if err != nil {
		return Draft{}, a, err
	}
	d.nameByBounds(c, ch)
	part, err := d.part(c, ch)
	if err != nil {
		return Draft{}, a, err
	}
	k := d.future(c)
	if ch.Shard == a.To {
		d.block("recipient", d.fromTable(topology.PartRouting), message.New("recipient.same",
			"The chunk is already on {shard}.", message.Shard("shard", a.To)))
	} else {
		d.move(k, part.Min, part.Max, a.To)
	}
	undo := Undo{Possible: true, Text: message.New("move",
		"Moves it back to {shard}.",
		message.Namespace("ns", c.NS), message.Shard("shard", ch.Shard)), Kind: MoveChunk,
		Args: Args{NS: c.NS, Bounds: d.boundsAsDocuments(c, part.Min, part.Max), To: ch.Shard, Force: a.Force}}
	if d.cuts > 0 || part.Min.Compare(ch.Min) != 0 || part.Max.Compare(ch.Max) != 0 {
		undo.Kind, undo.Args = "", Args{} // the undo also merges what was split, so it is more than one move
	}
	return d.finish(message.New("move", "Move {min} → {max} of {ns} from {shard} to {to}.",
		append(chunkFacts(c, part), message.Shard("to", a.To))...), undo)
}

// part returns the part of the chunk that moves.
func (d *draftBuilder) part(c *topology.Collection, ch topology.Chunk) (topology.Chunk, error) {
	var err error
	part := ch
	if d.a.Min != nil {
		if part.Min, err = d.s.completeKey(c, "min", d.a.Min); err != nil {
			return ch, err
		}
	}
	if d.a.Max != nil {
		if part.Max, err = d.s.completeKey(c, "max", d.a.Max); err != nil {
			return ch, err
		}
	}
	if part.Min.Compare(part.Max) >= 0 {
		return ch, fault.New(fault.Invalid,
			"The part to move ends before it begins: the argument \"min\" must be below \"max\", both inside the chunk.")
	}
	if part.Min.Compare(ch.Min) < 0 {
		return ch, fault.New(fault.Invalid, "The argument \"min\" is outside of the named chunk.")
	}
	if part.Max.Compare(ch.Max) > 0 {
		return ch, fault.New(fault.Invalid, "The argument \"max\" is outside of the named chunk.")
	}
	return part, nil
}
