package words

// outage is what an answer says while the cluster does not answer: the title is
// fault.NoAnswerTitle, then come what happened and what it means, from whoever
// met it, and one of these.
var outage = map[string]string{
	"outage.again": "Try again in a few seconds. Pages show the cluster as it was at {at}.",
	"outage.never": "Try again in a few seconds. The cluster has not been read since shardboard was started.",

	"error.conflict":        "Not possible as things are",
	"error.outcome":         "Outcome unknown",
	"error.advice.conflict": "The state has changed or something else is under way. Go back and look at the page again.",
	"error.advice.outcome":  "Read the cluster before you try again.",

	"outage.locate": "Nothing was found and nothing is ruled out.",
}
