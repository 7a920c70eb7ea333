package words

// withheld are the sentences that stand where a role does not see something:
// texts that servers wrote, and with --hide-bounds key values.
var withheld = map[string]string{
	"hidden.chunk": "The page of a chunk shows its bounds, which are key values. On this server that needs the role support.",
	"hidden.key":   "Looking up a key shows chunk bounds, which are key values. On this server that needs the role support.",
}
