package store

import (
	"context"
	"time"
)

// Dismissal is somebody's decision that an advice need not be shown.
type Dismissal struct {
	ID     string // of the advice
	By     string // principal id
	Reason string // hostile text
	At     time.Time
}

// AlertRecord is an alert as it is kept: what it is found by, and its state in a
// form that the store does not look into.
type AlertRecord struct {
	ID   string
	At   time.Time // of the last change
	Body []byte
}

// AlertChange is what is new and what is gone.
type AlertChange struct {
	Saved []AlertRecord // replace those of the same id
	Gone  []string      // ids
}

// Silence keeps alerts from being sent until a time.
type Silence struct {
	ID     string
	Alert  string // id of the one alert; "" = by rule
	Rule   string // every alert of this rule; "" = by alert
	By     string // principal id
	Reason string // hostile text
	At     time.Time
	Until  time.Time
}

// Delivery is how the last message to a receiver went. It never holds an
// address.
type Delivery struct {
	Target string // name
	At     time.Time
	Code   string // "ok", or what went wrong, by catalogue
	Status int    // of the HTTP answer; 0 when there was none
	Alerts int    // how many it told of
	Test   bool
	Failed int // how many messages in a row did not get through
}

// Watch is something that somebody wants to see wherever it goes.
type Watch struct {
	Kind    string // "chunk", "project"
	Subject string // its reference
	By      string // principal id
	At      time.Time
}

// Notices keeps dismissed advice, alerts and watches. What people decide is
// written together with the audit entry that tells of it.
type Notices interface {
	// Dismiss keeps a decision; one about the same advice is replaced.
	Dismiss(ctx context.Context, cluster string, d Dismissal, e AuditEntry) error
	// Restore takes it back; fault.NotFound when there is none.
	Restore(ctx context.Context, cluster, id string, e AuditEntry) error
	// Dismissals are all, newest first.
	Dismissals(ctx context.Context, cluster string) ([]Dismissal, error)

	// SaveAlerts applies a change, all or nothing.
	SaveAlerts(ctx context.Context, cluster string, c AlertChange) error
	// Alerts are all that are kept, by id.
	Alerts(ctx context.Context, cluster string) ([]AlertRecord, error)

	// AddSilence begins one; EndSilence ends it before its time, fault.NotFound
	// when there is none. Silences are those that end after now, first to end first;
	// the others are forgotten with the next one that is added.
	AddSilence(ctx context.Context, cluster string, s Silence, e AuditEntry) error
	EndSilence(ctx context.Context, cluster, id string, e AuditEntry) error
	Silences(ctx context.Context, cluster string, now time.Time) ([]Silence, error)

	// SaveDelivery replaces the target's, together with the audit entries of who
	// asked for it; Deliveries are the last of each, by name.
	SaveDelivery(ctx context.Context, cluster string, d Delivery, told ...AuditEntry) error
	Deliveries(ctx context.Context, cluster string) ([]Delivery, error)

	// AddWatch does nothing when it is there already, EndWatch when it is not.
	AddWatch(ctx context.Context, cluster string, w Watch) error
	EndWatch(ctx context.Context, cluster string, w Watch) error
	// Watches are one person's, oldest first.
	Watches(ctx context.Context, cluster, by string) ([]Watch, error)
}
