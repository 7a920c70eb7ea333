package alert

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"
)

// pagerDutyEvents is where PagerDuty takes events, but for accounts in the EU region.
const pagerDutyEvents = "https://events.pagerduty.com/v2/enqueue"

// Bounds of PagerDuty's Events API v2, in characters.
const (
	maxSummary  = 1024
	maxDedupKey = 255
)

// pagerDutyEvent is one event of the Events API v2. A message has one event.
type pagerDutyEvent struct {
	RoutingKey string            `json:"routing_key"`
	Action     string            `json:"event_action"` // trigger or resolve
	DedupKey   string            `json:"dedup_key"`    // the same for all events of an alert
	Payload    *pagerDutyPayload `json:"payload,omitempty"`
	Client     string            `json:"client,omitempty"`
	ClientURL  string            `json:"client_url,omitempty"`
	Links      []pagerDutyLink   `json:"links,omitempty"`
}

type pagerDutyPayload struct {
	Summary   string            `json:"summary"`
	Source    string            `json:"source"`
	Severity  string            `json:"severity"` // critical, error, warning or info
	Timestamp time.Time         `json:"timestamp"`
	Component string            `json:"component,omitempty"`
	Group     string            `json:"group,omitempty"`
	Class     string            `json:"class,omitempty"`
	Details   map[string]string `json:"custom_details,omitempty"`
}

type pagerDutyLink struct {
	Href string `json:"href"`
	Text string `json:"text"`
}

// pagerDuty is the first alert of the batch, which has no more than one in this format.
func (b batch) pagerDuty(key string) ([]byte, error) {
	a := b.alerts[0]
	out := pagerDutyEvent{RoutingKey: key, Action: "trigger", DedupKey: b.dedupKey(a), Client: "shardboard", ClientURL: b.url(a)}
	if b.status(a) == Resolved || b.testOver {
		out.Action = "resolve"
		return json.Marshal(out)
	}
	title := plain(a.Title, maxTitle)
	if b.test {
		title = "[test] " + title
	}
	out.Payload = &pagerDutyPayload{
		Summary: plain(title, maxSummary), Source: "shardboard " + b.cluster, Severity: prometheusSeverity(a.Severity), Timestamp: a.Fired,
		Component: plain(a.Subject, maxSubject), Group: b.cluster, Class: a.Rule,
		Details: map[string]string{"text": plain(a.Text, maxText), "id": a.ID, "since": a.Since.UTC().Format(time.RFC3339)},
	}
	if link := b.url(a); link != "" {
		out.Links = []pagerDutyLink{{link, "Open it in shardboard"}}
	}
	if to := b.playbook(a); to != "" {
		out.Links = append(out.Links, pagerDutyLink{to, "What to do: the playbook"})
	}
	return json.Marshal(out)
}

// dedupKey tells alerts of different clusters apart, because several shardboards may use one integration.
func (b batch) dedupKey(a Alert) string {
	key := "shardboard/" + b.cluster + "/" + a.ID
	if len(key) <= maxDedupKey {
		return key
	}
	sum := sha256.Sum256([]byte(key))
	return "shardboard/" + hex.EncodeToString(sum[:])
}

// prometheusSeverity is a severity as PagerDuty and the rules of Prometheus call it.
func prometheusSeverity(s Severity) string {
	if s == Warn {
		return "warning"
	}
	return string(s)
}
