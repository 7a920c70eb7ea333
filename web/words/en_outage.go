package words

// outage is what an answer says while the cluster does not answer: the title is
// fault.NoAnswerTitle, then come what happened and what it means, from whoever
// met it, and one of these.
var outage = map[string]string{

	"error.conflict":        "Not possible as things are",
	"error.outcome":         "Outcome unknown",
	"error.advice.conflict": "The state has changed or something else is under way. Go back and look at the page again.",
	"error.advice.outcome":  "Read the cluster before you try again.",
}
