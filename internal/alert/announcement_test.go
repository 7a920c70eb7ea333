package alert

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
)

func TestEachAlertOfASlackMessageHasItsOwnLinks(t *testing.T) {
	b := batch{cluster: "c1", link: "https://shardboard.example", at: start}
	for i := range maxBatch {
		n := notice(fmt.Sprint("id", i), Warn)
		if n.Path = fmt.Sprintf("/c/a&b/advice#id%d", i); i%2 == 0 {
			n.Playbook = "/help/jumbo-chunk"
		}
		b.alerts = append(b.alerts, Alert{Notice: n, State: Firing, Since: start, Fired: start})
	}
	raw, err := b.body(targetOf(Slack))
	if err == nil {
		err = checkSlack(raw)
	}
	must.Do(t, err)
	var m slackMessage
	must.Do(t, json.Unmarshal(raw, &m))
	for i := range maxBatch {
		title, links := m.Blocks[2*i].Text.Text, m.Blocks[2*i+1].Text.Text
		want := fmt.Sprintf("<https://shardboard.example/c/a&amp;b/advice#id%d|shardboard>", i)
		if i%2 == 0 {
			want += " · <https://shardboard.example/help/jumbo-chunk|playbook>"
		}
		if !strings.Contains(title, fmt.Sprintf("title of id%d", i)) || links != want {
			t.Errorf("below %q are the links %q", title, links)
		}
	}
	b.link = ""
	if raw, err = b.body(targetOf(Slack)); err != nil || strings.Contains(string(raw), "mrkdwn") {
		t.Errorf("without an address there are links: %s, %v", raw, err)
	}
}

func TestAnAnnouncementThatIsTriedAgainHasTheSameEvent(t *testing.T) {
	var events []string
	status := http.StatusBadGateway
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m genericMessage
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(body, &m)
		}
		if err != nil || len(m.Alerts) != 1 {
			t.Errorf("%s: %v", body, err)
			return
		}
		events = append(events, m.Alerts[0].Event)
		w.WriteHeader(status)
	}))
	defer s.Close()
	w, now := &world{notices: []Notice{notice("a", Warn)}}, start
	e := engineTo(t, s.URL, Generic)
	e.observe, e.o.Now = w.observe, func() time.Time { return now }
	announce := func(after time.Duration) string {
		t.Helper()
		now = now.Add(after)
		must.Do(t, e.Check(t.Context()))
		events = nil
		if _, some := e.sendDue(t.Context(), e.targets[0]); !some || len(events) != 1 {
			t.Fatalf("sent %v", events)
		}
		return events[0]
	}
	must.Do(t, e.Check(t.Context()))
	first := announce(3 * time.Minute)
	again := announce(10 * time.Second)
	status = http.StatusOK
	delivered := announce(10 * time.Second)
	if first == "" || again != first || delivered != first {
		t.Errorf("three attempts of one announcement have the events %s, %s, %s", first, again, delivered)
	}
	seen := map[string]bool{first: true}
	repeated := announce(5 * time.Hour)
	w.setNotices(notice("a", Critical))
	worse := announce(time.Minute)
	w.setNotices()
	must.Do(t, e.Check(t.Context()))
	over := announce(3 * time.Minute)
	for _, one := range []string{repeated, worse, over} {
		if seen[one] {
			t.Errorf("a repetition, a worse severity and the end have the events %s, %s, %s after %s", repeated, worse, over, first)
		}
		seen[one] = true
	}
}

// stuckStore takes nothing until whoever saves gives up.
type stuckStore struct {
	store.Notices
	stuck atomic.Bool
}

func (s *stuckStore) Alerts(context.Context, string) ([]store.AlertRecord, error)  { return nil, nil }
func (s *stuckStore) Deliveries(context.Context, string) ([]store.Delivery, error) { return nil, nil }
func (s *stuckStore) Silences(context.Context, string, time.Time) ([]store.Silence, error) {
	return nil, nil
}
func (s *stuckStore) SaveDelivery(context.Context, string, store.Delivery, ...store.AuditEntry) error {
	return nil
}

func (s *stuckStore) SaveAlerts(ctx context.Context, _ string, _ store.AlertChange) error {
	if s.stuck.Load() {
		<-ctx.Done()
	}
	return ctx.Err()
}

// /metrics and the page of alerts answer while a shared store does not.
func TestReadingAlertsDoesNotWaitForTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := &stuckStore{}
		r := startEngine(t, oneTarget, kept, &world{notices: []Notice{notice("a", Warn)}}, &receiver{})
		defer r.stop()
		advance(95 * time.Second)
		if c := r.Counts(); c.Firing != 1 || len(c.Failed) != 1 {
			t.Errorf("counted %+v", c)
		}
		kept.stuck.Store(true)
		r.w.setNotices(notice("b", Warn))
		advance(40 * time.Second) // a check is saving now
		began := time.Now()
		c := r.Counts()
		s := r.Status()
		if waited := time.Since(began); waited != 0 || c.Firing != 1 || len(s.Alerts) != 2 {
			t.Errorf("counted %+v, shown %+v after %s", c, s.Alerts, waited)
		}
		if r.saving.TryLock() {
			r.saving.Unlock()
			t.Error("nobody saves, so this shows nothing")
		}
	})
}

// A problem and what follows from it are one alert: a silence of either holds for it.
func TestASilenceOfAConsequenceHoldsForItsCause(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	a := &Alert{Notice: Notice{ID: "hot-project.1", Rule: "hot-project", Also: []Also{{ID: "hot-shard.2", Rule: "hot-shard"}}}}
	for name, c := range map[string]struct {
		silence store.Silence
		want    bool
	}{
		"the cause":                {store.Silence{Alert: "hot-project.1"}, true},
		"the consequence":          {store.Silence{Alert: "hot-shard.2"}, true},
		"the consequence's rule":   {store.Silence{Rule: "hot-shard"}, true},
		"another of its rule":      {store.Silence{Alert: "hot-shard.3"}, false},
		"a rule of neither":        {store.Silence{Rule: "jumbo"}, false},
		"a silence that has ended": {store.Silence{Rule: "hot-shard", Until: now.Add(-time.Minute)}, false},
	} {
		if c.silence.Until.IsZero() {
			c.silence.Until = now.Add(time.Hour)
		}
		c.silence.At = now.Add(-time.Hour)
		e := &Engine{silences: []store.Silence{c.silence}}
		expect.Equal(t, e.silenced(a, now), c.want, "%s is silenced: whether the alert is silent", name)
	}
}
