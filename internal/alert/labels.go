package alert

import (
	"cmp"
	"fmt"

	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/store"
)

var stateLabels = map[string]string{
	Pending:  "new, not sent yet",
	Firing:   "active",
	Resolved: "over, not yet sent to all",
}

// StateLabel is an alert's state for people.
func StateLabel(state string) string { return cmp.Or(stateLabels[state], state) }

var formatLabels = map[string]string{
	Generic:      "JSON",
	Slack:        "Slack",
	Alertmanager: "Alertmanager",
	PagerDuty:    "PagerDuty",
}

// FormatLabel is the name of a message format for people.
func FormatLabel(format string) string { return cmp.Or(formatLabels[format], format) }

var failureTexts = map[string]string{"timeout": "no answer in time", "refused": "connection refused", "dns": "name not found",
	"tls": "certificate not valid", "network": "not reached", "stopped": "given up"}

// DeliveryText is the result of the last message to a receiver.
func DeliveryText(d store.Delivery) string {
	var text string
	switch d.Code {
	case "ok":
		if d.Test {
			return "test delivered"
		}
		return "delivered with " + format.Count(int64(d.Alerts)) + message.Plural(d.Alerts, " alert", " alerts")
	case "status":
		text = fmt.Sprintf("refused with status %d", d.Status)
	case "redirect":
		text = fmt.Sprintf("redirected (status %d), which is not followed", d.Status)
	default:
		if text = failureTexts[d.Code]; text == "" {
			return d.Code
		}
	}
	return text + ", " + format.Count(int64(d.Failed)) + " in a row"
}
