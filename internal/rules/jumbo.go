package rules

import (
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// Jumbo finds chunks that the balancer flagged as too large to move.
const Jumbo Rule = "jumbo"

var jumbo = rule{id: Jumbo, name: "Jumbo chunks", find: findJumbo,
	playbooks: []Playbook{PlaybookJumboChunk}}

func findJumbo(ev *evaluation) {
	for _, c := range ev.sharded() {
		n := c.Chunks.Jumbo()
		if n == 0 {
			continue
		}
		ns := string(c.NS)
		var first topology.Chunk
		for _, ch := range c.Chunks.All() {
			if ch.Jumbo {
				first = ch
				break
			}
		}
		p := Problem{
			Subject:  ns,
			NS:       c.NS,
			Shard:    first.Shard,
			Severity: Warn,
			Why:      message.New("jumbo.stays", "The balancer never moves them."),
			Weight:   float64(n),
			Text: message.New("jumbo",
				"{ns} has chunks flagged jumbo, which the balancer skips: {n}.",
				message.Namespace("ns", ns), message.Count("n", n)),
			Evidence: []Evidence{
				ev.counted(message.New("jumbo.chunks", "Jumbo chunks"), n),
				ev.counted(message.New("jumbo.of", "All chunks"), c.Chunks.Len()),
				ev.text(message.New("jumbo.first", "The first begins at"), message.Key("value", c.Key.ExtJSON(first.Min)), topology.PartRouting),
			},
		}
		if since := ev.Table.FlagsRead[c.NS]; !since.IsZero() {
			p.Evidence = append(p.Evidence, timeFrom(message.New("jumbo.since", "Every flag was read since"), since, "routing",
				ev.Table.Health[topology.PartRouting].At))
		}
		if s := ev.Table.Shard(first.Shard); s != nil && s.Draining {
			p.Severity, p.Why = Critical, message.New("jumbo.draining",
				"Their shard is draining and cannot be emptied.")
		}
		clear := plan("clear-jumbo", message.New("clear-jumbo",
			"Clear the jumbo flag of the first such chunk of {ns}. Do this when it has become small, or after a split.",
			message.Namespace("ns", ns)), "ns", ns, "bounds", bounds(c, first))
		if ev.single(c, first) {
			p.Remedy.WhyNot = message.New("jumbo.single",
				"The first such chunk holds one value of {key}, so no split divides it. Only a longer key "+
					"helps. Clearing the flag lets the balancer try again.",
				message.Text("key", c.Key.String()))
			p.Remedy.Plans = []Plan{clear}
			ev.widerKey(&p.Remedy, c)
		} else {
			p.Remedy.Plans = []Plan{splitInTwo(c, first), clear}
		}
		ev.add(p)
	}
}
