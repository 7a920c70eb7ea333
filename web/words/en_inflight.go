package words

// inflight are the sentences about migrations under way.
var inflight = map[string]string{

	"inflight.left.why.copied":    "Copying is over; committing takes a moment.",
	"inflight.left.why.noRate":    "The rate is not known yet.",
	"inflight.left.why.other":     "What it is made from is not known: {code}.",
	"inflight.left.why.countFell": "The recipient’s count fell: what is copied cannot be told from other writes.",

	"inflight.left.why.beginUnseen":       "The begin was not seen: how much was copied until then is not known.",
	"inflight.left.why.beyondEstimate":    "More documents than were estimated are copied.",
	"inflight.left.why.notLoaded":         "The recipient is not counted yet.",
	"inflight.left.why.countedOnce":       "The recipient is counted once; a second count tells the rate.",
	"inflight.left.why.recipientNotAsked": "The recipient has no chunk of this collection yet, so mongos does not ask it.",
	"inflight.left.why.notPermitted":      "The cluster user may not count; that needs collStats, which clusterMonitor has.",
	"inflight.left.why.unreachable":       "A shard did not answer.",

	"reason.title.countedOnce":       "A second count tells how many documents came.",
	"reason.title.countFell":         "The recipient’s count fell: what is copied cannot be told from other writes.",
	"reason.title.recipientNotAsked": "The recipient has no chunk of this collection yet, so mongos does not ask it.",
	"method.recipientCount":          "Growth of the recipient’s count",
}
