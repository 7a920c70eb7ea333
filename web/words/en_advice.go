package words

// advising are the labels of the pages of advice and alerts. What is wrong, why,
// and what helps is written by package rules.
var advising = map[string]string{
	"nav.advise": "Advice",
	"nav.heat":   "Heat",
}
