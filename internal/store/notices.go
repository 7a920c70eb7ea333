package store

import (
	"context"
	"time"
)

// Dismissal is somebody's decision to hide a piece of advice.
type Dismissal struct {
	ID     string // id of the advice
	By     string // principal id
	Reason string // hostile text
	At     time.Time
}

// Take is somebody's note that they deal with a problem.
type Take struct {
	ID   string // id of the problem
	By   string // principal id
	Note string // hostile text
	At   time.Time
}

// AlertRecord is a stored alert: the fields to find it by, and its state in Body, which the store
// does not interpret.
type AlertRecord struct {
	ID   string
	At   time.Time // time of the last change
	Body []byte
}

// AlertChange lists alerts to save and to delete.
type AlertChange struct {
	Saved []AlertRecord // replace alerts with the same id
	Gone  []string      // ids
}

// Silence suppresses alerts until a time.
type Silence struct {
	ID     string
	Alert  string // id of one alert; "" if by rule
	Rule   string // all alerts of this rule; "" if by alert
	By     string // principal id
	Reason string // hostile text
	At     time.Time
	Until  time.Time
}

// Delivery is the result of the last message to a receiver. It never contains an address.
type Delivery struct {
	Target string // name
	At     time.Time
	Code   string // "ok", or what went wrong, by catalogue
	Status int    // status of the HTTP answer; 0 without one
	Alerts int    // number of alerts in the message
	Test   bool
	Failed int // consecutive messages that failed
}

// Watch is an object that somebody follows.
type Watch struct {
	Kind    string // "chunk", "project"
	Subject string // reference of the object
	By      string // principal id
	At      time.Time
}

// Notices stores dismissed advice, alerts, silences and watches. Decisions of people are written in
// one transaction with their audit entry.
type Notices interface {
	// Dismiss stores a decision; it replaces one about the same advice.
	Dismiss(ctx context.Context, cluster string, d Dismissal, e AuditEntry) error
	// Restore deletes a dismissal; fault.NotFound when there is none.
	Restore(ctx context.Context, cluster, id string, e AuditEntry) error
	// Dismissals returns all dismissals, newest first.
	Dismissals(ctx context.Context, cluster string) ([]Dismissal, error)

	// Take stores who deals with a problem, instead of who did before. Leave deletes that; fault.NotFound when
	// nobody did.
	Take(ctx context.Context, cluster string, t Take, e AuditEntry) error
	Leave(ctx context.Context, cluster, id string, e AuditEntry) error
	// Takes returns all of them, newest first.
	Takes(ctx context.Context, cluster string) ([]Take, error)

	// SaveAlerts applies a change, all or nothing.
	SaveAlerts(ctx context.Context, cluster string, c AlertChange) error
	// Alerts returns all stored alerts, by id.
	Alerts(ctx context.Context, cluster string) ([]AlertRecord, error)

	// AddSilence starts a silence and deletes expired ones. EndSilence ends one early;
	// fault.NotFound when there is none. Silences returns those that end after now, first to end
	// first.
	AddSilence(ctx context.Context, cluster string, s Silence, e AuditEntry) error
	EndSilence(ctx context.Context, cluster, id string, e AuditEntry) error
	Silences(ctx context.Context, cluster string, now time.Time) ([]Silence, error)

	// SaveDelivery replaces the target's delivery, in one transaction with the audit entries of
	// whoever asked for it. Deliveries returns the last of each target, by name.
	SaveDelivery(ctx context.Context, cluster string, d Delivery, told ...AuditEntry) error
	Deliveries(ctx context.Context, cluster string) ([]Delivery, error)

	// AddWatch does nothing when the watch exists, EndWatch when it does not.
	AddWatch(ctx context.Context, cluster string, w Watch) error
	EndWatch(ctx context.Context, cluster string, w Watch) error
	// Watches returns one person's watches, oldest first.
	Watches(ctx context.Context, cluster, by string) ([]Watch, error)
}
