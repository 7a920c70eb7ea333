package actions

import (
	"shardboard/internal/actions/operation"
	"shardboard/internal/balance"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// AllowMigrations allows or blocks every move of a collection's chunks.
const AllowMigrations Kind = "allow-migrations"

func describeAllowMigrations() Description {
	return Description{
		Kind:  AllowMigrations,
		Title: "Allow or block all moves of a collection",
		Lead: "Blocks every move of this collection’s chunks, by the balancer and by hand, or allows them again. " +
			"A block that is forgotten is a classic outage: no shard can be emptied, and one fills up.",
		Proof: "The setting of the collection.",
		Undo:  "Restores the previous setting. Chunks that the balancer has moved by then stay where they are.",
		Since: balance.Release{5, 0, 0},
		Arguments: []Argument{argNS.needed(), argOn.needed().choosing("Moves of its chunks",
			"Whether chunks of the collection may be moved at all, also by hand.", "are allowed", "are all blocked")},
		Sends: []operation.Op{operation.OpMigrations},
		plan:  planAllowMigrations,
	}
}

func planAllowMigrations(d *draftBuilder) (Draft, Args, error) {
	c, on := d.c, *d.a.On
	ns, back := message.Namespace("ns", c.NS), !on
	undo := Undo{Possible: true, Kind: AllowMigrations, Args: Args{NS: c.NS, On: &back}}
	switch {
	case c.MigrationsBlocked != on && on:
		d.block("switch", d.fromTable(topology.PartRouting), message.New("switch.allowed", "Moves of {ns} are allowed already.", ns))
	case c.MigrationsBlocked != on:
		d.block("switch", d.fromTable(topology.PartRouting), message.New("switch.blocked", "Moves of {ns} are blocked already.", ns))
	default:
		d.step(d.setting(c, operation.Step{Op: operation.OpMigrations, On: on}))
	}
	if on {
		changed := c.Meta
		changed.MigrationsBlocked = false
		d.add(d.checkFollowing(c, changed))
		undo.Text = message.New("allow-migrations.on",
			"Blocks all moves of {ns} again. Chunks that the balancer has moved by then stay where they are.", ns)
		return d.finish(message.New("allow-migrations.on", "Allow moves of {ns} again.", ns), undo)
	}
	d.leastRisk = High
	d.add(d.warnOfBlocking(c))
	undo.Text = message.New("allow-migrations.off", "Allows moves of {ns} again.", ns)
	return d.finish(message.New("allow-migrations.off", "Block all moves of {ns}, by the balancer and by hand.", ns), undo)
}

// warnOfBlocking says what it costs that no chunk of a collection can be moved.
func (d *draftBuilder) warnOfBlocking(c *topology.Collection) (out findings) {
	ns := message.Namespace("ns", c.NS)
	out.warn("outage", d.fromRule(), message.New("outage.forgotten",
		"Nothing ends this block by itself. While it lasts, no chunk of {ns} can be moved, not even by hand: a full shard "+
			"cannot be relieved and a shard cannot be removed. Forgotten blocks are a classic cause of outages. Allow moves "+
			"again as soon as the reason is gone.", ns))
	out.add(d.warnOfDraining(c))
	for _, m := range d.s.Activity.Migrations {
		if m.NS == c.NS {
			out.warn("switch", d.fromCluster(), message.New("switch.breaksMove",
				"A move of {ns} from {from} to {to} is running. It may fail when it is about to be committed.",
				ns, message.Shard("from", m.From), message.Shard("to", m.To)))
		}
	}
	return out
}

// warnOfDraining says which shards stay as they are although they are to be emptied.
func (d *draftBuilder) warnOfDraining(c *topology.Collection) (out findings) {
	for _, sh := range d.s.Table.Shards {
		if sh.Draining && c.Chunks.CountByShard()[sh.Name] > 0 {
			out.warn("switch", d.fromTable(topology.PartShards), message.New("switch.drains",
				"{shard} is draining and has chunks of {ns}; they will stay there.",
				message.Namespace("ns", c.NS), message.Shard("shard", sh.Name)))
		}
	}
	return out
}
