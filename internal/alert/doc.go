// Package alert sends problems to people by webhooks: generic JSON, Slack and Alertmanager. A
// problem is sent once when it has lasted, once when it is resolved, and in between only at the
// receiver's repeat interval, also over restarts. A failing receiver is retried at growing
// intervals without delaying others. A receiver's address is a secret: it is in no log, error, page
// or stored row. The sentences are made elsewhere and may contain untrusted text, so every format
// sends them as plain text.
//
// A message that arrived just before a crash is sent again, which only the receiver could prevent.
// So every message carries the alert's id and start time.
package alert

import (
	"context"
	"time"
)

// Severity is how urgent a problem is.
type Severity string

// The severities, lowest first.
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

// Notice is one current problem.
type Notice struct {
	ID       string // stable while the problem lasts
	Rule     string
	Severity Severity
	Subject  string // untrusted text, like the next two
	Title    string
	Text     string
	Path     string // path of the page about it, such as "/advice"
}

// Observed is all current problems.
type Observed struct {
	Cluster string // id
	Notices []Notice
	// Unsure reports whether a rule could not be evaluated, for all or for this subject: its alerts
	// then keep their state.
	Unsure func(rule, subject string) bool
}

// Source returns the current problems. After an error nothing is known.
type Source func(ctx context.Context) (Observed, error)

// The states of an alert.
const (
	Pending  = "pending"  // observed, but not for long enough
	Firing   = "firing"   // observed and sent
	Resolved = "resolved" // over, but not all receivers know yet
)

// Alert is a problem with what was sent about it. Stored as JSON; do not rename its fields.
type Alert struct {
	Notice
	State    string
	Since    time.Time       // first seen
	Fired    time.Time       `json:",omitzero"` // sent from then on
	Missing  time.Time       `json:",omitzero"` // not observed since
	Resolved time.Time       `json:",omitzero"`
	Told     map[string]Told `json:",omitempty"` // last message by target
	Silenced bool            `json:"-"`
}

// Told is the last message to a target about an alert.
type Told struct {
	State    string
	Severity Severity
	At       time.Time
}
