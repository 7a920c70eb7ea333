package words

// damaged is what pages say while our own data cannot be used, and after a defect of
// ours. What is wrong with which file, and what to do, comes from the store.
var damaged = map[string]string{
	"trouble.banner":       "{title}. {cause} {remedy}",
	"trouble.banner.brief": "{title}. Part of this site does not work until it is repaired. Tell who runs shardboard: the log says which file it is and what to do.",
	"trouble.since":        "Since {at}.",
	"trouble.public":       "Nothing can be done from here. The log of the server says which file it is and what to do; tell who runs shardboard, and try again later.",

	"rows.left.one":  "1 row of the database is unreadable and left out of its list ({tables}). The log names it.",
	"rows.left.many": "{n} rows of the database are unreadable and left out of their lists ({tables}). The log names them.",

	"change.unreadable":       "unreadable",
	"outcome.note.unreadable": "What was measured of this run is unreadable: its row in the database is not as it was written.",

	"bug.reference": "Whoever runs shardboard finds the cause in its log by ref={ref}, at {at}.",
}
