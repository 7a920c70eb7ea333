package rules

import (
	"shardboard/internal/message"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// MetadataContradiction finds rows of the config database that cannot both be true.
const MetadataContradiction Rule = "metadata-contradiction"

var metadataContradiction = rule{id: MetadataContradiction, name: "Metadata contradicts itself", page: PageMetadata,
	find:       findContradictions,
	noPlaybook: "MongoDB mends it with its support, or a backup of the config servers is restored; nothing that shardboard sends may"}

func findContradictions(ev *evaluation) {
	for _, c := range ev.Table.Contradictions {
		if !c.Confirmed {
			continue
		}
		p := Problem{
			Subject:  contradictionSubject(c),
			Severity: Critical,
			Why:      contradictionMeans(c),
			Weight:   float64(c.Chunks),
			NS:       c.NS,
			Text:     ContradictionText(c),
			Evidence: []Evidence{
				timeFrom(message.New("contradiction.since", "First seen"), c.Since, "watched", ev.Table.Health[topology.PartRouting].At),
				ev.text(message.New("contradiction.kind", "MongoDB's name for it"), message.Text("value", c.Kind.Name()), topology.PartRouting),
			},
		}
		p.Remedy = Remedy{WhyNot: message.New("contradiction.support",
			"No command of shardboard repairs it. Turn the balancer off, keep a backup of the config servers, and ask MongoDB's support, "+
				"or restore the config servers from a backup.")}
		if c.Kind == topology.ZoneBound || c.Kind == topology.ZonesOverlap {
			p.Remedy.WhyNot = message.New("contradiction.zones",
				"Remove the range and set it again with bounds of the shard key; sh.removeRangeFromZone needs the bounds as they are stored.")
		}
		p.Remedy.Commands = append(p.Remedy.Commands, contradictionCommands(ev, c)...)
		ev.add(p)
	}
}

func contradictionSubject(c topology.Contradiction) string {
	subject := string(c.NS)
	if subject == "" {
		subject = c.Database
	}
	switch c.Kind {
	case topology.ChunkOwnerUnknown:
		return subject + " on " + c.Shard
	case topology.ZoneBound, topology.ZonesOverlap:
		return subject + " " + string(c.Kind) + " " + c.Zone
	case topology.DatabaseUnknown:
		return subject + " without a database"
	}
	return subject
}

// ContradictionText says which rows contradict each other.
func ContradictionText(c topology.Contradiction) message.Message {
	ns, shard, database := message.Namespace("ns", c.NS), message.Text("shard", c.Shard), message.Text("database", c.Database)
	zone := message.Zone("zone", c.Zone)
	switch c.Kind {
	case topology.ChunkOwnerUnknown:
		return message.New("contradiction.owner", message.Plural(c.Chunks,
			"{n} chunk of {ns} is owned by {shard}, which the cluster does not have: config.shards does not list it.",
			"{n} chunks of {ns} are owned by {shard}, which the cluster does not have: config.shards does not list it."),
			message.Count("n", c.Chunks), ns, shard)
	case topology.PrimaryUnknown:
		return message.New("contradiction.primary",
			"The primary shard of the database {database} is {shard}, which the cluster does not have: config.shards does not list it.",
			database, shard)
	case topology.DatabaseUnknown:
		return message.New("contradiction.database",
			"{ns} is listed as sharded, and config.databases has no row for the database {database}.", ns, database)
	case topology.ManyChunks:
		return message.New("contradiction.unsplittable", "{ns} is listed as not sharded (unsplittable), and has {n} chunks instead of one.",
			ns, message.Count("n", c.Chunks))
	case topology.ZoneBound:
		return message.New("contradiction.bound", "A range of the zone {zone} in {ns} has bounds that are no values of the shard key.", zone, ns)
	}
	return message.New("contradiction.overlap", "Ranges of the zones {zone} and {other} in {ns} have keys in common.",
		zone, message.Zone("other", c.Other), ns)
}

// contradictionMeans is what the cluster cannot do because of it.
func contradictionMeans(c topology.Contradiction) message.Message {
	switch c.Kind {
	case topology.ChunkOwnerUnknown:
		return message.New("contradiction.owner.why",
			"Operations on keys of these chunks fail with ShardNotFound, and the balancer cannot move them.")
	case topology.PrimaryUnknown:
		return message.New("contradiction.primary.why", "Operations on the database's unsharded collections fail with ShardNotFound.")
	case topology.DatabaseUnknown:
		return message.New("contradiction.database.why",
			"MongoDB takes the database for not existing; operations on the collection fail or find nothing.")
	case topology.ManyChunks:
		return message.New("contradiction.unsplittable.why", "MongoDB expects all of an unsharded collection in one chunk.")
	}
	return message.New("contradiction.zones.why", "The balancer skips the collection: none of its chunks is moved.")
}

func contradictionCommands(ev *evaluation, c topology.Contradiction) []Command {
	if c.NS != "" && ev.release().AtLeast(7, 0, 0) {
		return []Command{readCommand(collection(c.NS)+".checkMetadataConsistency()",
			"damaged.check", "everything that contradicts itself in the metadata of this collection")}
	}
	config := `db.getSiblingDB("config").`
	switch c.Kind {
	case topology.PrimaryUnknown:
		return []Command{readCommand(config+"databases.find({_id: "+sanitize.Quoted(c.Database)+"})",
			"contradiction.databases", "the database's row")}
	case topology.ZoneBound, topology.ZonesOverlap:
		return []Command{readCommand(config+"tags.find({ns: "+sanitize.Quoted(string(c.NS))+"})",
			"contradiction.tags", "the collection's zone ranges")}
	}
	return []Command{readCommand(config+"collections.find({_id: "+sanitize.Quoted(string(c.NS))+"})",
		"contradiction.row", "the collection's row; its uuid finds its chunks in config.chunks")}
}
