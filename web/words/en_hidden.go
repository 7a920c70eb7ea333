package words

// withheld are the sentences that stand where a role does not see something:
// texts that servers wrote, and with --hide-bounds key values.
var withheld = map[string]string{
	"hidden.bounds":     "hidden: needs the role support",
	"hidden.text":       "{phrase} (the server's whole text needs the role operator)",
	"hidden.text.other": "hidden: the server's text needs the role operator",
	"hidden.chunk":      "Pages of single chunks show chunk bounds, which are key values: on this server they need the role support.",
	"hidden.key":        "Where a key belongs tells chunk bounds, which are key values: on this server, looking for a key needs the role support.",
}
