package words

// advising are the labels of the pages of advice and alerts. What is wrong, why,
// and what helps is written by package rules.
var advising = map[string]string{
	"nav.advise": "Advice",
	"nav.heat":   "Heat",

	"audit.what.advice.dismissed": "Problem dismissed",
	"audit.what.advice.restored":  "Dismissal undone",
	"audit.what.alert.silenced":   "Alerts silenced",
	"audit.what.alert.unsilenced": "Silence ended",
}
