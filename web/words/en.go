package words

// english is the catalogue: key → sentence with {placeholders}, a file for
// each part of the product. Never written after start.
var english = assembled(
	pages,
	signIn,
	refusedSignIn,
	acting,
	audited,
	advising,
	problems,
	history,
	inflight,
	failing,
	folding,
	orphaned,
	dataDirectory,
	withheld,
)

// assembled joins the parts. A key in two of them would make one of its
// sentences unreachable, so that is a defect that no build gets past.
func assembled(parts ...map[string]string) map[string]string {
	all := map[string]string{}
	for _, part := range parts {
		for key, sentence := range part {
			if _, twice := all[key]; twice {
				panic("words: two sentences for " + key)
			}
			all[key] = sentence
		}
	}
	return all
}

// pages are the sentences of what everybody sees. Keys that end
// in .one and .many are chosen by a count. Codes of other packages follow a
// prefix (reason., method., can., event., …); the prefix's "other" sentence
// covers codes that this catalogue does not know yet.
var pages = map[string]string{
	// Around every page.
	"nav.overview":    "Overview",
	"nav.locate":      "Locate",
	"nav.projects":    "Projects",
	"nav.collections": "Collections",
	"nav.zones":       "Zones",
	"nav.activity":    "Activity",

	// Column headers.

	// The live dot.

	// Parts of the table and what can be wrong with them.

	// Collections.

	// Projects.

	// One project.

	// Locate.

	// Shard keys beside those of the known layouts.
	"nav.layout": "Layout",

	// Why it is there, why it does not move, and the proof.

	// The balancer's rules and what they say of a chunk.

	// Locate: how a question was understood, and ids taken apart.

	// Zones.

	// Activity.
	"activity.kind.outcomes":                  "what came of it",
	"activity.kind.all":                       "every entry",
	"activity.kind.move":                      "moves",
	"activity.kind.split":                     "splits",
	"activity.kind.merge":                     "merges",
	"activity.kind.collection":                "collections",
	"activity.kind.shard":                     "shards",
	"event.to":                                "to",
	"event.unreadable":                        "(unreadable)",
	"event.moveChunk.start":                   "Began to move a chunk",
	"event.moveChunk.commit":                  "Moved a chunk",
	"event.moveChunk.error":                   "Failed to move a chunk",
	"event.moveChunk.from":                    "Donor finished giving a chunk",
	"event.moveChunk.to":                      "Recipient finished taking a chunk",
	"event.moveChunk.from.aborted":            "Donor gave up moving a chunk",
	"event.moveChunk.to.aborted":              "Recipient gave up taking a chunk",
	"event.moveChunk.from.same":               "Asked to move a chunk to where it is",
	"event.split":                             "Split a chunk in two",
	"event.multi-split":                       "Split a chunk into {n}",
	"event.merge":                             "Merged {n} chunks",
	"event.autoMerge":                         "Merged {n} chunks automatically",
	"event.shardCollection.start":             "Began to shard",
	"event.shardCollection.end":               "Sharded",
	"event.refineCollectionShardKey.start":    "Began to refine the shard key of",
	"event.refineCollectionShardKey.end":      "Refined the shard key of",
	"event.renameCollection.start":            "Began to rename",
	"event.renameCollection.end":              "Renamed",
	"event.renameCollection.metadata":         "Renamed in the routing table",
	"event.dropCollection.start":              "Began to drop",
	"event.dropCollection":                    "Dropped",
	"event.dropDatabase.start":                "Began to drop the database",
	"event.dropDatabase":                      "Dropped the database",
	"event.movePrimary.start":                 "Began to move the primary of",
	"event.movePrimary.commit":                "Moved the primary of",
	"event.movePrimary.error":                 "Failed to move the primary of",
	"event.resharding.coordinator.transition": "Resharding went on to its next state",
	"event.addShard":                          "Added shard",
	"event.removeShard.start":                 "Began to drain",
	"event.removeShard":                       "Removed shard",
	"event.other":                             "{code}",
}
