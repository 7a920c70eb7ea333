package answer

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// offersOfZones bounds the offers on the page of zones: half of them for shards that
// can leave a zone, the rest for ranges that can be taken from one.
const offersOfZones = 80

// Zones offers what can be done with zones and their ranges.
func (o *Offers) Zones() []api.Offer {
	if o == nil {
		return nil
	}
	out := []api.Offer{
		o.offer(actions.ZoneAddShard, "Add a shard to a zone…", ""),
		o.offer(actions.ZoneSetRange, "Assign a range to a zone…", whyIf(len(o.Table.Collections) == 0, "No collection is sharded.")),
	}
	for _, s := range o.Table.Shards {
		for _, z := range s.Zones {
			if len(out) < offersOfZones/2 {
				out = append(out, o.leaveZone(s.Name, z))
			}
		}
	}
	for _, z := range o.Table.Zones[:min(len(o.Table.Zones), offersOfZones-len(out))] {
		text := message.New("offer.removeRange", "Take {min} → {max} of {ns} from {zone}…", message.Text("min", o.shortBound(z.NS, z.RawMin)),
			message.Text("max", o.shortBound(z.NS, z.RawMax)), message.Namespace("ns", z.NS), message.Text("zone", shortZone(z.Zone)))
		out = append(out, o.offer(actions.ZoneRemoveRange, text.String(), "", "ns", string(z.NS), "zone", z.Zone,
			"min", string(api.Document(z.RawMin)), "max", string(api.Document(z.RawMax))))
	}
	return out
}

func shortZone(name string) string { return sanitize.Truncate(sanitize.Sentence(name), 60) }

// shortBound writes a bound as the server has it, as far as a link has room.
func (o *Offers) shortBound(ns topology.Namespace, doc bson.Raw) string {
	return format.Middle(BoundDocumentText(o.Table, ns, doc), BoundWidth)
}
