package words

// folding are the sentences of the server's own collections, which lists leave out.
var folding = map[string]string{
	"internal.entries.one":      "1 entry of internal collections is hidden.",
	"internal.entries.many":     "{n} entries of internal collections are hidden.",
	"internal.moves.one":        "1 ended move of an internal collection is hidden.",
	"internal.moves.many":       "{n} ended moves of internal collections are hidden.",
	"internal.moves.with":       "With the moves of internal collections.",
	"internal.entries.with":     "With the entries of internal collections.",
	"internal.collections.one":  "1 internal collection is hidden.",
	"internal.collections.many": "{n} internal collections are hidden.",
	"internal.collections.with": "With internal collections.",
	"internal.only":             "Nothing is logged but entries of internal collections.",
	"internal.show":             "show",
	"internal.hide":             "hide",
	"internal.what":             "Internal collections are the server's own: the databases config, admin and local, and system collections. A new cluster moves config.system.sessions a thousand times in its first hour.",
	"internal.title":            "Internal collections",
	"internal.sums":             "Sums and shares above are without them.",
	"internal.uncounted":        "writes of the server's own collections are not counted",
}
