package words

// pins are what the plans that made pins said of them.
var pins = map[string]string{
	"pinned.to":      "Pinned to {shards}.",
	"pinned.nowhere": "Pinned, and no shard has its zone.",
	"pinned.expires": "Expires {at}.",
	"pinned.never":   "Does not expire.",
	"pinned.owner":   "Owner:",
	"pinned.nobody":  "No owner was named.",
	"pinned.unknown": "Expiry and owner: not known here.",
}
