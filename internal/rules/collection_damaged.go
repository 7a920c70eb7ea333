package rules

import (
	"strings"
	"time"

	"shardboard/internal/message"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// CollectionDamaged finds collections whose routing table is none: keys without an owner or with several, bounds that
// are no values of the shard key, no chunks at all. mongos refuses every operation on such a collection and on no
// other.
const CollectionDamaged Rule = "collection-damaged"

var collectionDamaged = rule{id: CollectionDamaged, name: "Damaged routing table", page: PageMetadata, find: findDamaged, alone: neverOne,
	noPlaybook: "MongoDB mends it with its support, or a backup of the config servers is restored; nothing that shardboard sends may"}

// unreadFor is how long a collection is not read, as one that changes during each read, before that is a problem.
const unreadFor = time.Minute

func findDamaged(ev *evaluation) {
	for _, d := range ev.Table.Damaged {
		if d.Kind == topology.DamageUnread {
			if ev.Now.Sub(d.Since) >= unreadFor {
				ev.cannot(string(d.NS), DamageText(d))
			}
			continue
		}
		p := Problem{
			Subject:  string(d.NS),
			Severity: Critical,
			Why:      message.New("damaged.refused", "MongoDB refuses every operation on the collection until this is repaired."),
			NS:       d.NS,
			Text:     DamageText(d),
			Evidence: []Evidence{
				timeFrom(message.New("damaged.since", "First seen"), d.Since, "watched", ev.Table.Health[topology.PartRouting].At),
				ev.text(message.New("damaged.kind", "MongoDB's name for it"),
					message.Text("value", d.Kind.Inconsistency()), topology.PartRouting),
			},
		}
		for _, r := range d.Places {
			p.Evidence = append(p.Evidence, damagedEvidence(ev, d, r)...)
		}
		p.Remedy = Remedy{WhyNot: message.New("damaged.support",
			"No command of shardboard repairs it. Turn the balancer off, keep a backup of the config servers, and follow MongoDB's advice for "+
				"{kind}: its support repairs the metadata, or the config servers are restored from a backup.",
			message.Text("kind", d.Kind.Inconsistency()))}
		if ev.release().AtLeast(7, 0, 0) {
			p.Remedy.Commands = append(p.Remedy.Commands, readCommand(collection(d.NS)+".checkMetadataConsistency()",
				"damaged.check", "everything that contradicts itself in the metadata of this collection"))
		} else {
			p.Remedy.Commands = append(p.Remedy.Commands, readCommand(
				`db.getSiblingDB("config").collections.find({_id: `+sanitize.Quoted(string(d.NS))+`})`,
				"damaged.row", "the collection's row; its uuid finds its chunks in config.chunks"))
		}
		ev.add(p)
	}
}

// damagedEvidence are the bounds and owners of one damaged range.
func damagedEvidence(ev *evaluation, d *topology.Damage, r topology.DamagedRange) []Evidence {
	from, to := damagedBounds(d, r)
	owners := "no shard"
	if len(r.Shards) > 0 {
		owners = strings.Join(r.Shards, " and ")
	}
	return []Evidence{
		ev.text(message.New("damaged.from", "From"), message.Key("value", from), topology.PartRouting),
		ev.text(message.New("damaged.to", "To"), message.Key("value", to), topology.PartRouting),
		ev.text(message.New("damaged.owners", "Owned by"), message.Text("value", owners), topology.PartRouting),
	}
}

func damagedBounds(d *topology.Damage, r topology.DamagedRange) (from, to string) {
	if r.Min.IsZero() {
		return sanitize.Line(r.RawMin.String()), sanitize.Line(r.RawMax.String())
	}
	return d.Key.ExtJSON(r.Min), d.Key.ExtJSON(r.Max)
}

// DamageText says what is wrong with a collection's routing table.
func DamageText(d *topology.Damage) message.Message {
	ns := message.Namespace("ns", d.NS)
	switch {
	case d.NoRoom != nil:
		return d.NoRoom.Message(d.NS)
	case d.Kind == topology.DamageEmpty:
		return message.New("damaged.empty", "{ns} is listed as sharded and has not one chunk: no shard owns any of its keys.", ns)
	case d.Kind == topology.DamageUnread:
		return message.New("damaged.unread", "{ns} has not been read since {since}. {reason}", ns, message.Time("since", d.Since),
			message.Server("reason", d.Text))
	case len(d.Places) == 0:
		return message.New("damaged.other", "The chunks of {ns} do not form a routing table.", ns)
	}
	first := d.Places[0]
	from, to := damagedBounds(d, first)
	more := len(d.Places) + d.More - 1
	facts := []message.Fact{ns, message.Key("from", from), message.Key("to", to), message.Count("more", more)}
	others := ""
	if more > 0 {
		others = message.Plural(more, " So it is in 1 more place.", " So it is in {more} more places.")
	}
	switch {
	case first.Min.IsZero():
		return message.New("damaged.bound", "{ns}: a chunk on {shard} has bounds that are no values of the shard key: {from} and {to}."+others,
			append(facts, message.Text("shard", strings.Join(first.Shards, " and ")))...)
	case len(first.Shards) == 0:
		return message.New("damaged.gap", "{ns}: no shard owns the keys from {from} to {to}."+others, facts...)
	}
	return message.New("damaged.overlap", "{ns}: the keys from {from} to {to} have several owners: {shards}."+others,
		append(facts, message.Text("shards", strings.Join(first.Shards, " and ")))...)
}
