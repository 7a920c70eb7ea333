// Package alert tells people about trouble by webhooks: generic JSON, Slack and
// Alertmanager. It promises that a trouble is told once when it has lasted, once
// when it is over and again only after the interval its receiver asked for, over
// restarts too; that a receiver which fails is tried again, ever more slowly,
// without holding up the others; and that a receiver's address is a secret: it
// is in no log, error, page or stored row. What is told are sentences made
// elsewhere, which may hold hostile text; no format lets it be more than text.
//
// A message that got through just before a crash is sent again: nothing short of
// the receiver's help could avoid that, so every message carries the alert's id
// and the time at which it began.
package alert

import (
	"context"
	"time"
)

// Severity is how much it matters.
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

// Notice is one trouble that is there now.
type Notice struct {
	ID       string // the same as long as it lasts
	Rule     string
	Severity Severity
	Subject  string // hostile text, as the next two
	Title    string
	Text     string
	Path     string // of the page about it, such as "/advice"
}

// Observed is everything that is there now.
type Observed struct {
	Cluster string // id
	Notices []Notice
	// Unsure tells whether a rule could not tell, of all or of this subject: an
	// alert of it is neither there nor over.
	Unsure func(rule, subject string) bool
}

// Source observes. An error means that nothing can be told now.
type Source func(ctx context.Context) (Observed, error)

// The states of an alert.
const (
	Pending  = "pending"  // there, and not for long enough yet
	Firing   = "firing"   // there
	Resolved = "resolved" // over, and not yet told to everybody
)

// Alert is a trouble and what has been told of it. It is kept as JSON.
type Alert struct {
	Notice
	State    string
	Since    time.Time       // first seen
	Fired    time.Time       `json:",omitzero"` // has been told from then on
	Missing  time.Time       `json:",omitzero"` // not there since
	Resolved time.Time       `json:",omitzero"`
	Told     map[string]Told `json:",omitempty"` // by target
	Silenced bool            `json:"-"`
}

// Told is the last message to a target about an alert.
type Told struct {
	State    string
	Severity Severity
	At       time.Time
}
