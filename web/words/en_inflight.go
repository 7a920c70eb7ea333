package words

// inflight are the sentences about migrations under way.
var inflight = map[string]string{

	"reason.title.countedOnce":       "A second count tells how many documents came.",
	"reason.title.countFell":         "The recipient’s count fell: what is copied cannot be told from other writes.",
	"reason.title.recipientNotAsked": "The recipient has no chunk of this collection yet, so mongos does not ask it.",
	"method.recipientCount":          "Growth of the recipient’s count",
}
