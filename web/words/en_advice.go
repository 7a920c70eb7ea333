package words

// advising are the labels of the pages of advice and alerts. What is wrong, why,
// and what helps is written by package rules.
var advising = map[string]string{
	"nav.advise": "Advice",

	"advice.to.chunk":      "Chunk",
	"advice.to.document":   "Document",
	"advice.to.collection": "Collection",
	"advice.to.project":    "Project",
	"advice.to.shard":      "Shard",

	"alert.format.generic":      "JSON",
	"alert.format.slack":        "Slack",
	"alert.format.alertmanager": "Alertmanager",
	"alert.format.other":        "{code}",
	"alert.state.pending":       "waiting",
	"alert.state.firing":        "sent",
	"alert.state.resolved":      "over, not yet sent to all",
	"alert.state.other":         "{code}",
	"alert.sent.never":          "none yet",
	"alert.sent.ok":             "delivered; alerts in it: {n}",
	"alert.sent.test":           "test delivered",
	"alert.sent.status":         "refused with status {status}, {failed} in a row",
	"alert.sent.redirect":       "redirected (status {status}), which is not followed, {failed} in a row",
	"alert.sent.timeout":        "no answer in time, {failed} in a row",
	"alert.sent.refused":        "connection refused, {failed} in a row",
	"alert.sent.dns":            "name not found, {failed} in a row",
	"alert.sent.tls":            "certificate not valid, {failed} in a row",
	"alert.sent.network":        "not reached, {failed} in a row",
	"alert.sent.stopped":        "given up, {failed} in a row",
	"alert.sent.other":          "{code}",
}
