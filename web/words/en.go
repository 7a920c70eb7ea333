package words

// english is the catalogue: key → sentence with {placeholders}, a file for
// each part of the product. Never written after start.
var english = assembled(
	pages,
	signIn,
	refusedSignIn,
	acting,
	audited,
	heat,
	advising,
	problems,
	disks,
	inflight,
	sizes,
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
	"reason.title.noRows":            "The project has no rows in collections whose shard key begins with the project.",
	"reason.title.other":             "No reason is known beyond the code {code}.",
	"reason.title.notLoaded":         "The first statistics read has not come to this yet.",
	"reason.title.notPermitted":      "The cluster user may not read this; collStats needs the clusterMonitor role.",
	"reason.title.unreachable":       "The shard did not answer the last statistics read.",
	"reason.title.notAsked":          "One answer counts a limited number of places. Locate one thing at a time.",
	"reason.title.unsharded":         "The collection is not sharded.",
	"reason.title.notSurveyed":       "No index leads to one project's rows here, so only a survey could tell.",
	"reason.title.notCounted":        "No count is stored with this project (Yorkie stores one since 0.7.10).",
	"reason.title.notKept":           "History keeps what was set and where data was, not what the balancer was doing or how full disks were.",
	"reason.title.notReported":       "This MongoDB version does not report it.",
	"method.collStats":               "Reported by $collStats, orphaned documents included",
	"method.dbStats":                 "Reported by dbStats",
	"method.shardedDataDistribution": "Reported by $shardedDataDistribution",
	"method.routing":                 "Counted in the routing table",
	"method.rowBounds":               "Between bounds: the counts stored with the project, and none to all rows of collections without one",
	"method.chunkShare":              "Estimated from the share of chunks",
	"method.projectStats":            "Counted by the application and stored with the project",
	"method.partial":                 "Sum of what is known so far",
	"method.other":                   "Measured by {code}",

	// Collections.
	"flag.unique":           "unique",
	"flag.unique.title":     "The shard key is unique.",
	"flag.jumbo":            "{n} jumbo",
	"flag.jumbo.title":      "Chunks that the balancer passes over because they were too big to move.",
	"flag.blocked":          "migrations blocked",
	"flag.blocked.title":    "allowMigrations is false: no chunk can be moved, not even by hand.",
	"flag.nobalance":        "no balancing",
	"flag.nobalance.title":  "The balancer leaves this collection alone.",
	"flag.resharding":       "resharding",
	"flag.resharding.title": "The collection is being rebuilt under another shard key.",

	// Projects.

	// One project.

	// Locate.

	// Shard keys beside those of the known layouts.
	"nav.layout":             "Layout",
	"layout.state.sharded":   "sharded",
	"layout.state.unsharded": "not sharded",
	"layout.state.absent":    "absent",
	"layout.state.unlisted":  "not sharded or absent",
	"finding.missing":        "absent",
	"finding.unsharded":      "not sharded",
	"finding.unlisted":       "not sharded or absent",
	"finding.different":      "other key",
	"finding.sharded":        "sharded",
	"finding.documented":     "as released, not as documented",
	"finding.older":          "of an older layout",
	"finding.newer":          "of a newer layout",
	"finding.foreign":        "not of this schema",
	"finding.other":          "{code}",
	"means.missing":          "Not there: {name}. No data is misplaced; what the application then creates by itself is not sharded.",
	"means.unsharded":        "{name} should be sharded by {want} and is not: all its rows are on the database's primary shard, whatever the other shards have room for.",
	"means.unlisted":         "{name} should be sharded by {want} and is not. Whether it exists is not known.",
	"means.different":        "{name} is sharded by {have} and should be by {want}. A changed rule never reshards a collection that is there: this one keeps the key it was created with.",
	"means.back":             "{name} is sharded by {have} here and by {want} in the layout that is compared with.",
	"means.sharded":          "{name} is sharded by {have}; the layout leaves it on the primary shard. Queries without that key ask every shard.",
	"means.documented":       "Documentation says {want}, but no release's set-up shards {name}: all its rows are on the database's primary shard, here as everywhere.",
	"means.older":            "{name} belongs to {layout} and earlier. Newer releases neither read nor write it; it only takes room.",
	"means.newer":            "{name} belongs to {layout}, which is newer than the layout that is compared with.",
	"means.foreign":          "{name} is in no layout that is known. It is shown with the collections and otherwise left alone.",
	"means.other":            "{code}",
	"variant.chartClients":   "A known cause: the Helm chart kept {project_id: 1} for clients until 0.6.41, though the documentation changed in 0.6.38.",
	"variant.chartSchemas":   "A known cause: the Helm chart had no rule for schemas until 0.6.41, though the documentation had one from 0.6.20.",
	"variant.lateVectors":    "A known cause: releases 0.5.3 to 0.5.6 created versionvectors before any rule sharded it.",
	"variant.lateRevisions":  "A known cause: release 0.6.39 created revisions before any rule sharded it.",
	"variant.other":          "{code}",
	"todo.none":              "Nothing has to be done.",
	"todo.missing":           "Nothing has to be done for a release that runs without. Before one that needs it starts, shard it while it is empty, which takes no time.",
	"todo.documented":        "Nothing has to be done while it is small. To shard it, make the index first; the rows stay where they are until the balancer moves chunks.",
	"todo.newer":             "Compare with {layout} to see every key that lags behind, then bring them up one collection at a time.",
	"todo.shard":             "Make the index, then shard it. The rows stay where they are until the balancer moves chunks.",
	"todo.refine":            "The key only lacks fields at its end, so it can be refined in place: no row moves, no chunk is cut until somebody splits it, and there is no way back. Make the index first.",
	"todo.reshard":           "Resharding rewrites the whole collection: it needs free room of more than its size, runs for as long as the copy takes, and stops writes for about two seconds at its end. One at a time.",
	"todo.back":              "Nothing has to be done: what is here is newer than the layout compared with.",
	"todo.copy":              "This MongoDB version cannot change a shard key. Upgrade to 5.0 or later, or dump, drop, shard and restore the collection while nothing writes.",
	"todo.unshard":           "It can be gathered on one shard again. That rewrites it as resharding does.",
	"todo.drop":              "Once no server as old as {layout} runs and a backup exists, look at its size and drop it.",
	"todo.other":             "{code}",

	// Why it is there, why it does not move, and the proof.
	"reason.title.notTargeted":  "The shard key is not known, so counting would ask every shard.",
	"reason.title.notCountable": "There is no value to count by, or it is of a type that is not sent.",
	"reason.title.tooSlow":      "The count did not end within two seconds and was given up.",
	"method.count":              "Counted by a query",

	// The balancer's rules and what they say of a chunk.

	// Locate: how a question was understood, and ids taken apart.

}
