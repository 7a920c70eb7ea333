package alert

import (
	"fmt"

	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/store"
)

// StateLabel is an alert's state for people.
func StateLabel(state string) string {
	switch state {
	case Pending:
		return "new, not sent yet"
	case Firing:
		return "active"
	case Resolved:
		return "over, not yet sent to all"
	}
	return state
}

// FormatLabel is the name of a message format for people.
func FormatLabel(format string) string {
	switch format {
	case Generic:
		return "JSON"
	case Slack:
		return "Slack"
	case Alertmanager:
		return "Alertmanager"
	case PagerDuty:
		return "PagerDuty"
	}
	return format
}

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
	case "timeout":
		text = "no answer in time"
	case "refused":
		text = "connection refused"
	case "dns":
		text = "name not found"
	case "tls":
		text = "certificate not valid"
	case "network":
		text = "not reached"
	case "stopped":
		text = "given up"
	default:
		return d.Code
	}
	return text + ", " + format.Count(int64(d.Failed)) + " in a row"
}
