package actions

import (
	"cmp"

	"shardboard/internal/actions/operation"
	"shardboard/internal/balance"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// ChunkSize sets the chunk size of a collection.
const ChunkSize Kind = "chunk-size"

func describeChunkSize() Description {
	return Description{
		Kind:  ChunkSize,
		Title: "Set the chunk size of a collection",
		Lead: "Sets how large a chunk of this collection may become. Since MongoDB 6.0.3 it also decides when the balancer " +
			"moves data: from a difference of three times this size between two shards.",
		Proof:     "The setting of the collection.",
		Undo:      "Restores the previous chunk size. Chunks that the balancer has moved by then stay where they are.",
		Since:     balance.Release{5, 3, 0},
		Arguments: []Argument{argNS.needed(), argSize.needed()},
		Sends:     []operation.Op{operation.OpChunkSize},
		plan:      planChunkSize,
	}
}

func planChunkSize(d *draftBuilder) (Draft, Args, error) {
	c, size := d.c, *d.a.Size
	cluster := d.s.Table.Balancer.ChunkBytes // 0: not known
	was, next := c.MaxChunkBytes, int64(size)<<20
	changed := c.Meta
	changed.MaxChunkBytes = next
	ns, src := message.Namespace("ns", c.NS), d.fromTable(topology.PartRouting)
	step := d.setting(c, operation.Step{Op: operation.OpChunkSize, Size: size})
	undo := Undo{Text: message.New("chunk-size.odd",
		"Cannot be undone: the previous chunk size was not a whole number of MB, which no command can set.")}
	if mb, ok := step.PreviousChunkSize(); ok {
		undo = Undo{Possible: true, Kind: ChunkSize, Args: Args{NS: c.NS, Size: &mb},
			Text: message.New("chunk-size", "Sets the chunk size of {ns} to {size} again.", ns, message.Bytes("size", was))}
		if was == 0 {
			undo.Text = message.New("chunk-size.default", "Lets the cluster’s chunk size count for {ns} again.", ns)
		}
	}
	if was == next {
		d.block("switch", src, message.New("switch.size", "The chunk size of {ns} is this already.", ns))
	} else {
		d.step(step)
		d.add(d.checkChunkSize(c, cmp.Or(was, cluster), cmp.Or(next, cluster)))
		d.add(d.checkFollowing(c, changed))
	}
	if size == 0 {
		return d.finish(message.New("chunk-size.default", "Use the cluster’s chunk size for {ns} again.", ns), undo)
	}
	return d.finish(message.New("chunk-size", "Set the chunk size of {ns} to {size}.", ns, message.Bytes("size", int64(size)<<20)), undo)
}

// checkChunkSize says what another chunk size means to the balancer; 0 is a size that is
// not known.
func (d *draftBuilder) checkChunkSize(c *topology.Collection, was, next int64) (out findings) {
	ns := message.Namespace("ns", c.NS)
	const factor = 3 // of the chunk size, from which data moves since 6.0.3
	switch {
	case was == 0 || next == 0:
		out.warn("threshold", d.fromTable(topology.PartSettings), message.New("threshold.unknown",
			"The cluster’s chunk size is not known, so the effect on {ns} is not known either.", ns))
		return out
	case !d.s.Release.Known():
	case d.s.Release.ByData():
		out.pass("threshold", d.fromRule(), message.New("threshold.data",
			"The balancer moves data of {ns} when one shard has {after} more than another; until now it is {before}.",
			ns, message.Bytes("after", factor*next), message.Bytes("before", factor*was)))
	default:
		out.pass("threshold", d.fromRule(), message.New("threshold.count",
			"The balancer of this release compares numbers of chunks: it moves nothing because of this. Chunks of {ns} are split "+
				"when they grow beyond {after}; until now it is {before}.",
			ns, message.Bytes("after", next), message.Bytes("before", was)))
	}
	if next > was {
		out.pass("chunks", d.fromRule(), message.New("chunks.larger",
			"Existing chunks stay as they are. Larger chunks take longer to move.", ns))
		return out
	}
	for _, sh := range d.s.Table.Shards {
		n, size := c.Chunks.CountByShard()[sh.Name], d.s.Table.SizeOn(c.NS, sh.Name).Bytes
		if n == 0 || !size.Known || size.Value/int64(n) <= 2*next {
			continue
		}
		out.warn("chunks", d.fromRule(), message.New("chunks.tooBig",
			"Chunks of {ns} on {shard} have {mean} on average, by its size. Above {limit}, twice the new chunk size, a whole chunk cannot be moved "+
				"any more before it is split.",
			ns, message.Shard("shard", sh.Name), message.Bytes("mean", size.Value/int64(n)), message.Bytes("limit", 2*next)))
		return out
	}
	out.pass("chunks", d.fromRule(), message.New("chunks.smaller",
		"Existing chunks stay as they are. Smaller chunks mean more of them, and more and shorter moves.", ns))
	return out
}
