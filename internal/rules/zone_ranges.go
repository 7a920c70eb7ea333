package rules

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"shardboard/internal/message"
	"shardboard/internal/natural"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// rangesOf are the ranges of each zone.
func (ev *evaluation) rangesOf() map[string][]topology.ZoneRange {
	out := map[string][]topology.ZoneRange{}
	for _, z := range ev.Table.Zones {
		out[z.Zone] = append(out[z.Zone], z)
	}
	return out
}

// misplaced are the positions of chunks that lie wholly in a range and on a shard
// that does not carry its zone. Empty when no shard carries it.
func (ev *evaluation) misplaced(z topology.ZoneRange) []int {
	if len(ev.Table.CarriersOf(z.Zone)) == 0 {
		return nil // ZoneNoShard lists it
	}
	chunks, _ := ev.Table.RangeChunks(z)
	return chunks.Misplaced
}

// removeRange is the plan that takes a range away.
func removeRange(z topology.ZoneRange) Plan {
	return plan("zone-remove-range", message.New("zone-remove-range",
		"Remove a range of the zone {zone} from {ns}.",
		message.Zone("zone", z.Zone), message.Namespace("ns", z.NS)),
		"ns", string(z.NS), "min", document(z.RawMin), "max", document(z.RawMax), "zone", z.Zone)
}

func removeRangeCommand(z topology.ZoneRange) Command {
	args := sanitize.Quoted(string(z.NS)) + ", " + parsed(document(z.RawMin)) + ", " + parsed(document(z.RawMax))
	return writeCommand("sh.removeRangeFromZone("+args+")",
		"zone.removeRange", "removes the range; no data is touched")
}

// outsideOf counts the chunks of a collection that lie in a zone's range and on
// a shard that does not carry it.
func (ev *evaluation) outsideOf(c *topology.Collection) int {
	n := 0
	for _, z := range ev.Table.ZonesOf(c.NS) {
		n += len(ev.misplaced(z))
	}
	return n
}

// misplacedText names the shards that chunks outside their zone are on, and those that may have them: "on a instead of
// b".
func (ev *evaluation) misplacedText(c *topology.Collection) message.Fact {
	on, carriers := map[string]bool{}, map[string]bool{}
	for _, z := range ev.Table.ZonesOf(c.NS) {
		for _, i := range ev.misplaced(z) {
			on[c.Chunks.Owner(i)] = true
			for _, s := range ev.Table.CarriersOf(z.Zone) {
				carriers[s] = true
			}
		}
	}
	return message.Text("where", "on "+shardList(on, "and")+" instead of "+shardList(carriers, "or"))
}

// shardList is "a", "a and b" or "3 shards".
func shardList(set map[string]bool, word string) string {
	names := slices.SortedFunc(maps.Keys(set), natural.Compare)
	if len(names) > 2 {
		return strconv.Itoa(len(names)) + " shards"
	}
	return strings.Join(names, " "+word+" ")
}

// removeZone adds the plans that remove a zone: ranges first, because a zone with ranges
// keeps its last shard.
func (ev *evaluation) removeZone(p *Problem, zone string, ranges []topology.ZoneRange, shards []string) {
	for _, z := range ranges[:min(len(ranges), fewPlans)] {
		p.Remedy.Plans = append(p.Remedy.Plans, removeRange(z))
		p.Remedy.Commands = append(p.Remedy.Commands, removeRangeCommand(z))
	}
	for _, s := range shards[:min(len(shards), fewPlans)] {
		p.Remedy.Plans = append(p.Remedy.Plans, plan("zone-remove-shard", message.New("zone-remove-shard",
			"Remove {shard} from the zone {zone}.",
			message.Zone("zone", zone), message.Shard("shard", s)), "shard", s, "zone", zone))
		p.Remedy.Commands = append(p.Remedy.Commands, writeCommand("sh.removeShardFromZone("+sanitize.Quoted(s)+", "+sanitize.Quoted(zone)+")",
			"zone.removeShard", "removes the shard from the zone; no data is touched"))
	}
}

func harmlessLeftover() message.Message {
	return message.New("zone.left", "It does no harm but is confusing.")
}
