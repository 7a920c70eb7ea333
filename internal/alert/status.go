package alert

import (
	"cmp"
	"context"
	"crypto/rand"
	"maps"
	"slices"
	"strings"
	"time"

	"shardboard/internal/clock"
	"shardboard/internal/fault"
	"shardboard/internal/store"
)

// TargetStatus is a receiver as it may be shown.
type TargetStatus struct {
	Name        string
	Format      string
	MinSeverity Severity
	Repeat      time.Duration
	Last        store.Delivery // zero: nothing was sent yet
	Due         int            // alerts that were not sent to it yet
}

// Status is everything that may be shown of an engine.
type Status struct {
	At       time.Time // of the last check; zero: none yet
	Err      error     // why the last check failed
	For      time.Duration
	Dropped  int // problems beyond the bound on alerts
	Kept     bool
	Targets  []TargetStatus
	Alerts   []Alert // most severe first, then those that began first
	Over     []Alert // resolved within the last day, and all receivers know; newest first
	Silences []store.Silence
}

// Status is a copy.
func (e *Engine) Status() Status {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.o.Now()
	s := Status{At: e.checked, Err: e.checkErr, For: e.config.For, Dropped: e.dropped, Kept: e.store != nil}
	for _, t := range e.targets {
		s.Targets = append(s.Targets, TargetStatus{Name: t.Name, Format: t.Format, MinSeverity: t.MinSeverity,
			Repeat: t.Repeat, Last: t.last, Due: len(e.due(t, now))})
	}
	for _, a := range e.alerts {
		one := *a
		one.Sent, one.Silenced = maps.Clone(a.Sent), e.silenced(a, now)
		if a.Over {
			s.Over = append(s.Over, one)
			continue
		}
		s.Alerts = append(s.Alerts, one)
	}
	slices.SortFunc(s.Over, func(a, b Alert) int {
		return cmp.Or(b.Resolved.Compare(a.Resolved), strings.Compare(a.ID, b.ID))
	})
	slices.SortFunc(s.Alerts, func(a, b Alert) int {
		return cmp.Or(b.Severity.level()-a.Severity.level(), a.Since.Compare(b.Since), strings.Compare(a.ID, b.ID))
	})
	for _, q := range e.silences {
		if now.Before(q.Until) && !clock.Ahead(q.At, now) {
			s.Silences = append(s.Silences, q)
		}
	}
	return s
}

// Bounds of a silence.
const (
	LongestSilence = 30 * 24 * time.Hour
	maxReason      = 500
)

// Silence stops sending alerts of an id or of a rule for a while. The end of an alert
// that was sent before is still sent.
func (e *Engine) Silence(ctx context.Context, s store.Silence, d time.Duration, by store.AuditEntry) (store.Silence, error) {
	cluster, err := e.storedCluster()
	switch {
	case err != nil:
		return s, err
	case (s.Alert == "") == (s.Rule == ""), len(s.Alert)+len(s.Rule) > 200:
		return s, fault.New(fault.Invalid, "A silence needs one alert or one rule.")
	case d < time.Minute || d > LongestSilence:
		return s, fault.New(fault.Invalid, "A silence lasts from a minute to 30 days.")
	case s.Reason == "" || len(s.Reason) > maxReason:
		return s, fault.New(fault.Invalid, "Give a reason of at most %d bytes.", maxReason)
	}
	s.ID, s.At, s.By = rand.Text(), e.o.Now(), by.By
	s.Until = s.At.Add(d)
	by.Cluster, by.At, by.What, by.Subject, by.Outcome = cluster, s.At, "alert.silenced", s.Alert+s.Rule, "ok"
	by.Details = map[string]string{"reason": s.Reason, "until": s.Until.UTC().Format(time.RFC3339)}
	if err := e.store.AddSilence(ctx, cluster, s, by); err != nil {
		return s, err
	}
	return s, e.readSilences(ctx, cluster)
}

// Unsilence ends a silence before its time.
func (e *Engine) Unsilence(ctx context.Context, id string, by store.AuditEntry) error {
	cluster, err := e.storedCluster()
	if err != nil {
		return err
	}
	by.Cluster, by.At, by.What, by.Subject, by.Outcome = cluster, e.o.Now(), "alert.unsilenced", id, "ok"
	if err := e.store.EndSilence(ctx, cluster, id, by); err != nil {
		return err
	}
	err = e.readSilences(ctx, cluster)
	e.wakeAll()
	return err
}

func (e *Engine) readSilences(ctx context.Context, cluster string) error {
	list, err := e.store.Silences(ctx, cluster, e.o.Now())
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.silences = list
	return nil
}

func (e *Engine) storedCluster() (cluster string, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.store == nil || e.cluster == "" {
		return "", fault.New(fault.Unavailable,
			"Nothing can be silenced here: this shardboard keeps no data, or does not know yet which cluster it looks at.")
	}
	return e.cluster, nil
}
