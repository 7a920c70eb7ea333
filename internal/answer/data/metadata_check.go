package data

import (
	"context"
	"strings"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/balance"
	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// MetadataChecker runs the server's own check of its metadata.
type MetadataChecker interface {
	// CheckMetadata checks the whole cluster (db ""), a database (collection "") or one collection; more tells that
	// not all findings are returned.
	CheckMetadata(ctx context.Context, db, collection string) (found []topology.Inconsistency, more bool, err error)
}

// metadataCheckLimit bounds one check, here and on the server.
const metadataCheckLimit = 45 * time.Second

// CheckMetadata asks the server for what contradicts itself in its metadata, and waits for the answer. checker is nil
// on a server that cannot ask. Errors: fault.Conflict before MongoDB 7.0, fault.Invalid for names that are none, and
// those of the server.
func CheckMetadata(ctx context.Context, v answer.View, checker MetadataChecker, in api.MetadataCheckStart) (api.MetadataCheck, error) {
	out := api.MetadataCheck{Of: in.DB, At: v.Now, Items: []api.MetadataFinding{}}
	db, collection := in.DB, ""
	if in.NS != "" {
		if in.DB != "" {
			return out, fault.New(fault.Invalid, "Give a database or a collection, not both.")
		}
		ns := topology.Namespace(in.NS)
		if db, collection = ns.Database(), ns.Collection(); db == "" || collection == "" {
			return out, fault.New(fault.Invalid, "%s is no collection: write database.collection.", sanitize.Quoted(in.NS))
		}
		out.Of = in.NS
	}
	if strings.ContainsAny(db, ". $\x00/\\") {
		return out, fault.New(fault.Invalid, "%s is no name of a database.", sanitize.Quoted(db))
	}
	switch release := balance.ReleaseOf(v.Table.ServerInfo.Version); {
	case checker == nil || v.Past != nil:
		return out, fault.New(fault.Unavailable, "The metadata cannot be checked here.")
	case !release.Known():
		return out, v.Table.NotLoaded()
	case !release.AtLeast(7, 0, 0):
		return out, fault.New(fault.Conflict, "%s has no checkMetadataConsistency: it came with MongoDB 7.0. "+
			"What shardboard itself finds is among the problems.", v.Table.ServerInfo.Release())
	}
	ctx, cancel := context.WithTimeout(ctx, metadataCheckLimit)
	defer cancel()
	found, more, err := checker.CheckMetadata(ctx, db, collection)
	if err != nil {
		return out, err
	}
	out.More = more
	for _, f := range found {
		item := api.MetadataFinding{Kind: f.Kind, Text: inconsistencyText(f).String(), NS: string(f.NS), Shard: f.Shard, Details: f.Details}
		if v.Table.Hiding() != nil {
			item.Details = ""
		}
		out.Items = append(out.Items, item)
	}
	return out, nil
}

// inconsistencyWords say what the server's kinds mean. {ns} and {shard} are what the finding names.
var inconsistencyWords = map[string]string{
	"RoutingTableRangeGap":                        "No shard owns some keys of {ns}.",
	"RoutingTableRangeOverlap":                    "Some keys of {ns} have several owners.",
	"RoutingTableMissingMinKey":                   "No shard owns the first keys of {ns}.",
	"RoutingTableMissingMaxKey":                   "No shard owns the last keys of {ns}.",
	"CorruptedChunkShardKey":                      "A chunk of {ns} has bounds that are no values of the shard key.",
	"CorruptedChunkHistory":                       "A chunk of {ns} has a history that names another owner than the chunk itself.",
	"MissingRoutingTable":                         "{ns} is listed as sharded and has not one chunk: no shard owns any of its keys.",
	"CorruptedZoneShardKey":                       "A zone's range in {ns} has bounds that are no values of the shard key.",
	"ZonesRangeOverlap":                           "Two ranges of zones in {ns} have keys in common.",
	"TrackedUnshardedCollectionHasMultipleChunks": "{ns} is listed as not sharded (unsplittable), and has several chunks.",
	"TrackedUnshardedCollectionHasInvalidKey":     "{ns} is listed as not sharded, with another key than {_id: 1}.",
	"HiddenShardedCollection":                     "{ns} is listed as sharded, and config.databases has no row for its database.",
	"CollectionUUIDMismatch":                      "{shard} has {ns} with another UUID than the metadata: it may be another collection.",
	"MisplacedCollection":                         "{ns} is on {shard}, where the metadata does not place it: nobody sees these documents.",
	"MissingLocalCollection":                      "{shard} owns chunks of {ns} and does not have the collection.",
	"ShardMissingCollectionRoutingEntry":          "{shard} does not know that {ns} is sharded.",
	"MissingShardKeyIndex":                        "{shard} has no index that supports the shard key of {ns}.",
	"InconsistentIndex":                           "An index of {ns} is not on every shard that owns chunks, or differs.",
	"CollectionOptionsMismatch":                   "The options of {ns} differ between shards or from the metadata.",
	"CollectionAuxiliaryMetadataMismatch":         "The data that a shard stores about {ns} differs from that of another.",
	"RangeDeletionMissingShardKeyIndex":           "{shard} has old documents of {ns} to delete and no index of the shard key for it.",
}

// inconsistencyText says what a finding means; a kind without words, or without the names that these need, in the
// server's.
func inconsistencyText(f topology.Inconsistency) message.Message {
	words, known := inconsistencyWords[f.Kind]
	if !known || f.NS == "" || f.Shard == "" && strings.Contains(words, "{shard}") {
		return message.New("inconsistency.server", "{text}", message.Server("text", f.Description))
	}
	return message.New("inconsistency", words, message.Namespace("ns", f.NS), message.Shard("shard", f.Shard))
}
