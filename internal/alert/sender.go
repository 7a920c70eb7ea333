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

// sender is a receiver and the state of sending to it.
type sender struct {
	Target
	wake chan struct{}
	busy sync.Mutex     // one message at a time
	last store.Delivery // guarded by the engine's lock
}

// send sends one receiver what is due until the context ends. What is due is computed
// from the alerts each time, so nothing queues up while a receiver fails.
func (e *Engine) send(ctx context.Context, t *sender) {
	pause := time.Duration(0)
	for {
		if pause > 0 {
			select {
			case <-ctx.Done():
				return
			case <-time.After(pause):
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
				continue // there may be more than one message's worth
			}
			pause = max(out.after, min(max(2*pause, firstPause), maxPause))
			break
		}
	}
}

// sendDue sends one message with what is due; some is false when nothing is.
func (e *Engine) sendDue(ctx context.Context, t *sender) (out outcome, some bool) {
	t.busy.Lock()
	defer t.busy.Unlock()
	e.mu.Lock()
	now := e.o.Now()
	due := e.due(t, now)
	due = due[:min(len(due), mostIn(t.Format))]
	b := batch{cluster: e.cluster, link: e.config.Link, at: now.UTC(), repeat: t.Repeat, alerts: due}
	e.mu.Unlock()
	if len(due) == 0 {
		return outcome{}, false
	}
	body, err := b.body(t.Target)
	if err != nil {
		e.o.Log.Error("write alert message", "target", t.Name, "err", err)
		return outcome{code: "network"}, true
	}
	out = post(ctx, e.client, t.to, body)
	if out.code == "stopped" {
		return out, true
	}
	_ = e.record(ctx, t, out, due, nil) // logged
	return out, true
}

// due are the alerts to send to a receiver now. A message leaves a moment after the
// check that caused it, so an interval that ends within half a check's counts as over:
// otherwise each repetition would come one check late.
func (e *Engine) due(t *sender, now time.Time) []Alert {
	var out []Alert
	for _, a := range e.alerts {
		last, has := a.Sent[t.Name]
		is := false
		switch a.State {
		case Firing:
			switch {
			case a.Severity.level() < t.MinSeverity.level() && !(has && last.State == Firing), e.silenced(a, now):
			case !has || last.State != Firing, a.Severity.level() > last.Severity.level(),
				now.Sub(last.At) >= t.Repeat-e.o.Every/2, clock.Ahead(last.At, now):
				is = true
			}
		case Resolved:
			is = has && last.State == Firing
		}
		if is {
			one := *a
			one.Sent, one.announced = nil, last.At
			out = append(out, one)
		}
	}
	slices.SortFunc(out, func(a, b Alert) int {
		if d := b.Severity.level() - a.Severity.level(); d != 0 {
			return d
		}
		return strings.Compare(a.ID, b.ID)
	})
	return out
}

func (e *Engine) silenced(a *Alert, now time.Time) bool {
	return slices.ContainsFunc(e.silences, func(s store.Silence) bool {
		return now.Before(s.Until) && !clock.Ahead(s.At, now) && (silences(s, a.ID, a.Rule) ||
			slices.ContainsFunc(a.Also, func(x Also) bool { return silences(s, x.ID, x.Rule) }))
	})
}

func silences(s store.Silence, id, rule string) bool {
	return s.Alert == id || s.Rule != "" && s.Rule == rule
}

// record stores the outcome of a message, and what the receiver knows by it. by is who
// requested a test; nil: it is none.
func (e *Engine) record(ctx context.Context, t *sender, out outcome, sent []Alert, by *store.AuditEntry) error {
	// The message was sent, so that is recorded also when the process ends now.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	now, test := e.o.Now(), by != nil
	cluster, last := e.note(t, out, sent, test, now)
	if !out.ok() {
		e.o.Log.Warn("an alert message was not delivered", "target", t.Name, "code", out.code, "status", out.status, "failed", last.Failed)
	}
	err := e.save(ctx, now)
	if err == nil && e.store != nil && cluster != "" {
		var audit []store.AuditEntry
		if test {
			audit = append(audit, tested(*by, cluster, last))
		}
		err = e.store.SaveDelivery(ctx, cluster, last, audit...)
	}
	if err != nil {
		e.o.Log.Error("record that an alert message was sent", "target", t.Name, "err", err)
	}
	return err
}

// note keeps the outcome of a message in memory and returns the cluster and the delivery.
func (e *Engine) note(t *sender, out outcome, sent []Alert, test bool, now time.Time) (string, store.Delivery) {
	e.mu.Lock()
	defer e.mu.Unlock()
	failed := t.last.Failed + 1
	if out.ok() {
		failed = 0
	}
	t.last = store.Delivery{Target: t.Name, At: now, Code: out.code, Status: out.status, Alerts: len(sent), Test: test, Failed: failed}
	if out.ok() && !test {
		for _, s := range sent {
			a := e.alerts[s.ID]
			if a == nil {
				continue
			}
			if a.Sent == nil {
				a.Sent = map[string]Sent{}
			}
			a.Sent[t.Name] = Sent{State: s.State, Severity: s.Severity, At: now}
			if e.unsaved[s.ID] = true; a.State == Resolved && e.endSent(a, now) {
				e.end(a)
			}
		}
	}
	return e.cluster, t.last
}

// tested is the audit entry of a test. It names the receiver, because its address is a
// secret.
func tested(by store.AuditEntry, cluster string, d store.Delivery) store.AuditEntry {
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

// Test sends a test message to one receiver and returns the outcome. It is recorded
// with who requested it. fault.NotFound when there is no
// receiver of that name, fault.Conflict while another message to it is under
// way, fault.Unavailable while nothing can be recorded.
func (e *Engine) Test(ctx context.Context, name string, by store.AuditEntry) (store.Delivery, error) {
	i := slices.IndexFunc(e.targets, func(t *sender) bool { return t.Name == name })
	if i < 0 {
		return store.Delivery{}, fault.New(fault.NotFound, "No receiver of alerts has that name.")
	}
	t := e.targets[i]
	if !t.busy.TryLock() {
		return store.Delivery{}, fault.New(fault.Conflict, "A message to this receiver is under way; try again in a few seconds.")
	}
	defer t.busy.Unlock()
	now := e.o.Now()
	e.mu.Lock()
	cluster := e.cluster
	e.mu.Unlock()
	if e.store != nil && cluster == "" {
		return store.Delivery{}, fault.New(fault.Unavailable,
			"It is not known yet which cluster this is, so a test could not be recorded. Try again in a few seconds.")
	}
	a := Alert{Notice: Notice{ID: "test", Rule: "test", Severity: Info, Subject: "test", Title: "shardboard: a test of alerts",
		Text: "Somebody pressed the test button. Nothing is wrong.", Path: "/alerts"}, State: Firing, Since: now, Fired: now}
	b := batch{cluster: cluster, link: e.config.Link, at: now.UTC(), repeat: t.Repeat, alerts: []Alert{a}, test: true}
	if t.Format == Alertmanager {
		b.alerts[0].Resolved = now.Add(time.Minute) // it ends by itself there
	}
	body, err := b.body(t.Target)
	if err != nil {
		return store.Delivery{}, err
	}
	out := post(ctx, e.client, t.to, body)
	if t.Format == PagerDuty && out.ok() { // the incident of a test must not stay open
		b.testOver = true
		if body, err = b.body(t.Target); err != nil {
			return store.Delivery{}, err
		}
		out = post(ctx, e.client, t.to, body)
	}
	if err := e.record(ctx, t, out, nil, &by); err != nil {
		return store.Delivery{}, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return t.last, nil
}
