package words

// located is what an answer of locate says first of each thing that it found.
// The shards stand between an answer and its end.
var located = map[string]string{
	"locate.answer.belongs":        "It belongs on",
	"locate.answer.counted":        "Rows of it are on",
	"locate.answer.counted.maybe":  "Rows of it are on some of",
	"locate.answer.counted.key":    "Rows with this key are on",
	"locate.answer.counted.where":  "Rows of it are stored; on which shard is not known",
	"locate.answer.key.maybe":      "Rows with this key belong on some of",
	"locate.answer.belongs.maybe":  "Its rows belong on some of",
	"locate.answer.keyCount.maybe": "Rows with this key are on some of",

	"locate.end.rows.one":       " ({n} row)",
	"locate.end.rows.many":      " ({n} rows)",
	"locate.end.none":           " — no row is stored there",
	"locate.end.noneCounted":    " — no row was found where it was counted",
	"locate.end.uncounted":      " — its rows were not counted: {why}",
	"locate.end.uncountedIn":    "; not counted in {where}",
	"locate.end.differs":        "; the mongos routes elsewhere, see the proof",
	"locate.uncounted":          "{name} ({why})",
	"locate.there.rows.one":     "{n} row",
	"locate.there.rows.many":    "{n} rows",
	"locate.there.none":         "no row",
	"ticket.rows.one":           "{n} row counted there",
	"ticket.rows.many":          "{n} rows counted there",
	"ticket.rows.none":          "no row is stored there",
	"ticket.rows.unknown":       "rows not counted: {why}",
	"reason.title.notAsked":     "One answer counts a limited number of places. Locate one thing at a time.",
	"reason.count.notTargeted":  "a count would ask every shard",
	"reason.count.notPermitted": "the cluster user may not read it",
	"reason.count.unreachable":  "the cluster did not answer",
}
