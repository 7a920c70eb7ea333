package words

// advising are the labels of the pages of advice and alerts. What is wrong, why,
// and what helps is written by package rules.
var advising = map[string]string{
	"nav.advise": "Advice",
	"nav.heat":   "Heat",

	"method.writes":           "New rows counted",
	"method.history":          "From placement history",
	"method.watched":          "Seen by this process",
	"method.pinPlan":          "From the plan that made it",
	"method.clientsTimesMean": "Clients of the project times the mean row",

	"audit.what.advice.dismissed": "Problem dismissed",
	"audit.what.advice.restored":  "Dismissal undone",
	"audit.what.alert.silenced":   "Alerts silenced",
	"audit.what.alert.unsilenced": "Silence ended",
}
