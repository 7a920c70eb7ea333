package alert

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"shardboard/internal/clock"
	"shardboard/internal/fault"
	"shardboard/internal/store"
)

const (
	firstPause = 5 * time.Second
	maxPause   = 5 * time.Minute
)

// sender is a receiver with its sending state.
type sender struct {
	Target
	wake chan struct{}
	busy sync.Mutex     // one message at a time
	last store.Delivery // guarded by the engine's lock
}

// send sends one receiver its due alerts until the context ends. They are collected from the alerts
// each time, so nothing queues up while a receiver fails.
func (e *Engine) send(ctx context.Context, t *sender) {
	pause := time.Duration(0)
	for {
		if pause > 0 {
			wait := time.NewTimer(pause)
			select {
			case <-ctx.Done():
				wait.Stop()
				return
			case <-wait.C:
			}
		} else {
			select {
			case <-ctx.Done():
				return
			case <-t.wake:
			}
		}
		for {
			out, some := e.sendDue(ctx, t)
			if !some || ctx.Err() != nil {
				pause = 0
				break
			}
			if out.ok() {
				pause = 0
				continue // there may be more alerts than fit into one message
			}
			pause = max(out.after, min(max(2*pause, firstPause), maxPause))
			break
		}
	}
}

// sendDue sends one message with due alerts; some is false when none is due.
func (e *Engine) sendDue(ctx context.Context, t *sender) (out outcome, some bool) {
	t.busy.Lock()
	defer t.busy.Unlock()
	e.mu.Lock()
	now := e.o.Now()
	due := e.due(t, now)
	b := batch{cluster: e.cluster, link: e.config.Link, at: now.UTC(), repeat: t.Repeat, alerts: due}
	e.mu.Unlock()
	if len(due) == 0 {
		return outcome{}, false
	}
	body, err := b.body(t.Format)
	if err != nil {
		e.o.Log.Error("write alert message", "target", t.Name, "err", err)
		return outcome{code: "network"}, true
	}
	out = post(ctx, e.client, t.to, body)
	if out.code == "stopped" {
		return out, true
	}
	_ = e.recordDelivery(ctx, t, out, due, nil) // logged
	return out, true
}

// due returns the alerts to send to a receiver now. A repeat interval that ends within half a check
// interval counts as over, otherwise each repetition would be one check late.
func (e *Engine) due(t *sender, now time.Time) []Alert {
	var out []Alert
	for _, a := range e.alerts {
		told, has := a.Told[t.Name]
		is := false
		switch a.State {
		case Firing:
			switch {
			case a.Severity.level() < t.MinSeverity.level() && !(has && told.State == Firing), e.silenced(a, now):
			case !has || told.State != Firing, a.Severity.level() > told.Severity.level(), now.Sub(told.At) >= t.Repeat-e.o.Every/2, clock.Ahead(told.At, now):
				is = true
			}
		case Resolved:
			is = has && told.State == Firing
		}
		if is {
			one := *a
			one.Told = nil
			out = append(out, one)
		}
	}
	slices.SortFunc(out, func(a, b Alert) int {
		if d := b.Severity.level() - a.Severity.level(); d != 0 {
			return d
		}
		return strings.Compare(a.ID, b.ID)
	})
	return out[:min(len(out), maxBatch)]
}

func (e *Engine) silenced(a *Alert, now time.Time) bool {
	return slices.ContainsFunc(e.silences, func(s store.Silence) bool {
		return now.Before(s.Until) && !clock.Ahead(s.At, now) && (s.Alert == a.ID || s.Rule != "" && s.Rule == a.Rule)
	})
}

// recordDelivery stores the result of a message and what the receiver now knows. by is who
// requested a test; nil: not a test.
func (e *Engine) recordDelivery(ctx context.Context, t *sender, out outcome, sent []Alert, by *store.AuditEntry) error {
	// The message was sent, so this is stored even if the program is stopping.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	e.mu.Lock()
	defer e.mu.Unlock()
	now, test := e.o.Now(), by != nil
	failed := t.last.Failed + 1
	if out.ok() {
		failed = 0
	}
	t.last = store.Delivery{Target: t.Name, At: now, Code: out.code, Status: out.status, Alerts: len(sent), Test: test, Failed: failed}
	if !out.ok() {
		e.o.Log.Warn("an alert message was not delivered", "target", t.Name, "code", out.code, "status", out.status, "failed", failed)
	}
	if out.ok() && !test {
		for _, s := range sent {
			a := e.alerts[s.ID]
			if a == nil {
				continue
			}
			if a.Told == nil {
				a.Told = map[string]Told{}
			}
			a.Told[t.Name] = Told{State: s.State, Severity: s.Severity, At: now}
			if e.unsaved[s.ID] = true; a.State == Resolved && e.allKnowResolved(a, now) {
				delete(e.alerts, s.ID)
			}
		}
	}
	err := e.save(ctx, now)
	if err == nil && e.kept != nil && e.cluster != "" {
		var told []store.AuditEntry
		if test {
			told = append(told, testEntry(*by, e.cluster, t.last))
		}
		err = e.kept.SaveDelivery(ctx, e.cluster, t.last, told...)
	}
	if err != nil {
		e.o.Log.Error("store the delivery of an alert message", "target", t.Name, "err", err)
	}
	return err
}

// testEntry is the audit entry of a test. It names the receiver, whose address is secret.
func testEntry(by store.AuditEntry, cluster string, d store.Delivery) store.AuditEntry {
	by.Cluster, by.At, by.What, by.Subject, by.Outcome = cluster, d.At, "alert.tested", d.Target, "ok"
	if d.Failed > 0 {
		by.Outcome = "failed"
	}
	by.Details = map[string]string{"code": d.Code}
	if d.Status != 0 {
		by.Details["status"] = strconv.Itoa(d.Status)
	}
	return by
}

// Test sends a test message to one receiver, records who requested it, and returns the result.
// fault.NotFound for an unknown receiver, fault.Conflict while another message to it is being sent,
// fault.Unavailable while nothing can be recorded.
func (e *Engine) Test(ctx context.Context, name string, by store.AuditEntry) (store.Delivery, error) {
	i := slices.IndexFunc(e.targets, func(t *sender) bool { return t.Name == name })
	if i < 0 {
		return store.Delivery{}, fault.New(fault.NotFound, "No receiver of alerts has that name.")
	}
	t := e.targets[i]
	if !t.busy.TryLock() {
		return store.Delivery{}, fault.New(fault.Conflict, "A message to this receiver is being sent; try again in a few seconds.")
	}
	defer t.busy.Unlock()
	now := e.o.Now()
	e.mu.Lock()
	cluster := e.cluster
	e.mu.Unlock()
	if e.kept != nil && cluster == "" {
		return store.Delivery{}, fault.New(fault.Unavailable, "It is not known yet which cluster this is, so a test could not be recorded. Try again in a few seconds.")
	}
	a := Alert{Notice: Notice{ID: "test", Rule: "test", Severity: Info, Subject: "test", Title: "shardboard: a test of alerts",
		Text: "Somebody pressed the test button. Nothing is wrong.", Path: "/alerts"}, State: Firing, Since: now, Fired: now}
	b := batch{cluster: cluster, link: e.config.Link, at: now.UTC(), repeat: t.Repeat, alerts: []Alert{a}, test: true}
	if t.Format == Alertmanager {
		b.alerts[0].Resolved = now.Add(time.Minute) // it expires there by itself
	}
	body, err := b.body(t.Format)
	if err != nil {
		return store.Delivery{}, err
	}
	if err := e.recordDelivery(ctx, t, post(ctx, e.client, t.to, body), nil, &by); err != nil {
		return store.Delivery{}, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return t.last, nil
}
