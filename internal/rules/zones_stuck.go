package rules

import (
	"cmp"
	"slices"

	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// ZonesStuck finds chunks outside their zone that nothing moves back, because the balancer is
// off or skips their collection. Their data is where its zone forbids it, so this is critical
// once it lasts.
const ZonesStuck Rule = "zones-stuck"

var zonesStuck = rule{id: ZonesStuck, name: "Zones violated, balancing off", page: PageZones, find: findZonesStuck,
	needs:     []topology.Part{topology.PartZones, topology.PartShards, topology.PartSettings},
	playbooks: []Playbook{PlaybookBalancerDoesNothing}}

func findZonesStuck(ev *evaluation) {
	type wrong struct {
		c *topology.Collection
		n int
	}
	var list []wrong
	total := 0
	for _, c := range ev.sharded() {
		if n := ev.outsideOf(c); n > 0 {
			list, total = append(list, wrong{c, n}), total+n
		}
	}
	slices.SortStableFunc(list, func(a, b wrong) int { return cmp.Compare(b.n, a.n) })
	if len(list) > 0 && ev.switchedOff() {
		p := Problem{
			Subject:  "balancer",
			NS:       list[0].c.NS,
			Severity: Warn,
			Why: message.New("zonesStuck.short",
				"The balancer was turned off less than an hour ago, perhaps for maintenance."),
			Weight: float64(total),
			Text: message.New("zonesStuck.balancerOff",
				message.Plural(total,
					"The balancer {idle}, and one chunk is outside its zone.",
					"The balancer {idle}, and {n} chunks are outside their zone. Collections with such "+
						"chunks: {collections}."),
				message.Count("n", total), message.Count("collections", len(list)), ev.idle()),
			Evidence: []Evidence{ev.offEvidence()},
			Remedy:   ev.idleRemedy(),
		}
		if ev.offLong() {
			p.Severity, p.Why = Critical, outsideForGood()
		}
		for _, w := range list[:min(len(list), 5)] {
			p.Evidence = append(p.Evidence, ev.outsideZone(w.c.NS, w.n))
		}
		ev.add(p)
		return
	}
	for _, w := range list {
		ns := string(w.c.NS)
		p := Problem{
			Subject:  ns,
			NS:       w.c.NS,
			Severity: Critical,
			Why:      outsideForGood(),
			Weight:   float64(w.n),
			Evidence: []Evidence{ev.outsideZone(w.c.NS, w.n), ev.chunksOf(w.c)},
		}
		switch {
		case w.c.Resharding:
			continue // nothing of it moves until that is done, and its own rule lists it
		case w.c.MigrationsBlocked:
			p.Text = message.New("zonesStuck.blocked",
				message.Plural(w.n,
					"Moves of {ns} are blocked, and one of its chunks is outside its zone, {where}.",
					"Moves of {ns} are blocked, and {n} of its chunks are outside their zone, {where}."),
				message.Namespace("ns", ns), message.Count("n", w.n), ev.misplacedText(w.c))
			p.Remedy = ev.allowMoves(ns)
		case w.c.NoBalance:
			p.Text = message.New("zonesStuck.collectionOff",
				message.Plural(w.n,
					"Balancing of {ns} is off, and one of its chunks is outside its zone, {where}.",
					"Balancing of {ns} is off, and {n} of its chunks are outside their zone, {where}."),
				message.Namespace("ns", ns), message.Count("n", w.n), ev.misplacedText(w.c))
			p.Remedy = balanceCollection(ns)
		default:
			continue // the balancer brings them back
		}
		ev.add(p)
	}
}

// outsideForGood is why chunks outside their zone are critical.
func outsideForGood() message.Message {
	return message.New("zonesStuck.nobody", "Data is where its zone forbids it, and nothing moves it back.")
}
