// Package alert sends problems to webhooks as generic JSON, to Slack, PagerDuty
// and Alertmanager. It promises:
//
//   - a problem is sent once when it has lasted, once when it is over, and again only
//     after the receiver's interval, across restarts too;
//   - a receiver that fails is tried again, more and more slowly, without delaying the
//     others;
//   - a receiver's address or key is a secret: it is in no log, error, page or stored row;
//   - texts come from other packages and may be hostile; every format sends them as
//     plain text.
//
// A message that was delivered just before a crash, or whose answer did not come in time,
// is sent again. Only the receiver can tell, so PagerDuty gets one key for all events of an
// alert, Alertmanager the same labels, and a webhook an id for each announcement. Slack has
// no such thing.
package alert

import (
	"context"
	"time"
)

// Severity is how much a problem matters.
type Severity string

// The severities, least first.
const (
	Info     Severity = "info"
	Warn     Severity = "warn"
	Critical Severity = "critical"
)

func (s Severity) level() int {
	switch s {
	case Critical:
		return 2
	case Warn:
		return 1
	}
	return 0
}

// Below tells whether it is less severe than another.
func (s Severity) Below(o Severity) bool { return s.level() < o.level() }

// Notice is one problem that exists now.
type Notice struct {
	ID       string // the same as long as it lasts
	Rule     string
	Severity Severity
	Subject  string // hostile text, as the next two
	Title    string
	Text     string
	Path     string // of the page about it, such as "/advice"
	Also     []Also `json:",omitempty"` // problems that have the same cause and no alert of their own
	Playbook string `json:",omitzero"`  // path of the page that says what to do; "" if there is none
}

// Also is a problem that follows from another one; a silence of either holds for both.
type Also struct{ ID, Rule string }

// Observed is all problems that exist now.
type Observed struct {
	Cluster string // id
	Notices []Notice
	// Unsure tells whether a rule could not check a subject, or anything. It is then not
	// known whether an alert of it still holds, so it stays as it is.
	Unsure func(rule, subject string) bool
}

// Source lists the problems of now. An error means that they are not known.
type Source func(ctx context.Context) (Observed, error)

// The states of an alert.
const (
	Pending  = "pending"  // exists, but not for long enough yet
	Firing   = "firing"   // exists
	Resolved = "resolved" // over, but not all receivers know yet
)

// Alert is a problem and what has been sent about it. It is stored as JSON.
type Alert struct {
	Notice
	State    string
	Since    time.Time       // first seen
	Fired    time.Time       `json:",omitzero"` // since when it is sent
	Missing  time.Time       `json:",omitzero"` // since when it is not there any more
	Resolved time.Time       `json:",omitzero"`
	Sent     map[string]Sent `json:"Told,omitempty"` // by receiver
	Over     bool            `json:",omitzero"`      // resolved, and all receivers know; listed for a day
	Silenced bool            `json:"-"`

	announced time.Time // in a message: when the receiver was last sent this alert; zero: never
}

// Sent is the last message to a receiver about an alert.
type Sent struct {
	State    string
	Severity Severity
	At       time.Time
}
