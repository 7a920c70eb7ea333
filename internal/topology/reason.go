package topology

// ReasonText says in a few words why a figure is not known. Codes that are not
// known here, as a newer version may have stored, are shown themselves.
func ReasonText(code string) string {
	if text, ok := reasonTexts[code]; ok {
		return text
	}
	return "unknown (" + code + ")"
}

// reasonTexts are the words for Figure.Reason and for the reasons of measurements.
var reasonTexts = map[string]string{
	"changed":           "the chunk or its shard key has changed",
	"countFell":         "not known",
	"countedOnce":       "not known yet",
	"failed":            "it failed",
	"inPlace":           "its rows are changed in place and have no date of the change",
	"logTooShort":       "the changelog is too short",
	"noBudget":          "the reading budget is used up for some seconds; try again",
	"noDisk":            "not reported",
	"noDocuments":       "no documents",
	"noRows":            "no rows",
	"noneSeen":          "none seen",
	"notAsked":          "over the limit of one answer",
	"notCountable":      "not countable",
	"notCounted":        "not counted",
	"notDone":           "not done",
	"notGiven":          "not given",
	"notKept":           "not kept",
	"notListed":         "not listed",
	"notLoaded":         "not read yet",
	"notLogged":         "not logged",
	"notMeasured":       "not measured",
	"notObserved":       "not observed",
	"notPermitted":      "not permitted",
	"notPlanned":        "not estimated",
	"notRecorded":       "not recorded",
	"notReported":       "not reported",
	"readsByCollection": "not known: servers count reads by collection",
	"notSurveyed":       "not measured",
	"notTargeted":       "not counted",
	"older":             "counted too early",
	"outOfRange":        "not a possible number",
	"outcomeUnknown":    "outcome unknown",
	"recipientNotAsked": "not known",
	"scattered":         "its rows have a date, but the shard key does not begin with the project",
	"tooMany":           "there are too many of them",
	"tooManyMeasured":   "too many chunks were measured in the last minute",
	"tooSlow":           "took too long",
	"unreachable":       "unreachable",
	"unsharded":         "not sharded",
}
