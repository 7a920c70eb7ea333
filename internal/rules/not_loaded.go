package rules

import (
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// NotLoaded finds collections whose routing table shardboard does not read, or not as it is now, because its memory is
// short.
const NotLoaded Rule = "not-loaded"

// MoreMemory is what helps where routing tables find no room.
const MoreMemory = "No change to the cluster helps. Raise the limit of shardboard's memory: --memory-limit, or that of its container."

var notLoaded = rule{id: NotLoaded, name: "Not loaded, memory is short", find: findNotLoaded, alone: alwaysOne,
	noPlaybook: "the cluster is as it should be: give shardboard more memory"}

func findNotLoaded(ev *evaluation) {
	at := ev.Table.Health[topology.PartRouting].At
	for _, d := range ev.Table.Damaged {
		n := d.NoRoom
		if n == nil {
			continue
		}
		estimate := func(name message.Message, unit string, value int64) Evidence {
			e := Evidence{Name: name, Unit: unit, Known: true, Value: float64(value), Method: "routing", At: at}
			if unit == "count" {
				e.Known, e.Reason = value > 0, "notCounted"
			}
			return e
		}
		needs := estimate(message.New("notLoaded.needs", "Memory that it needs"), "bytes", n.Bytes)
		needs.AtLeast = n.Chunks == 0
		ev.add(Problem{
			Subject: string(d.NS), NS: d.NS, Severity: Warn, Weight: float64(n.Bytes),
			Why:  message.New("notLoaded.unknown", "What shardboard says of this collection is missing or old, and nothing can be planned for it."),
			Text: n.Message(d.NS),
			Evidence: []Evidence{
				estimate(message.New("notLoaded.chunks", "Chunks that are missing"), "count", int64(n.Chunks)), needs,
				estimate(message.New("notLoaded.left", "Memory that was left"), "bytes", n.Left),
				timeFrom(message.New("notLoaded.since", "Not loaded since"), d.Since, "watched", at),
			},
			Remedy: Remedy{WhyNot: message.New("notLoaded.limit", MoreMemory)},
		})
	}
}
