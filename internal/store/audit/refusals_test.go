package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
)

// refusalFixture is a counter with a clock set by hand and a record in memory.
type refusalFixture struct {
	*Refusals
	at      time.Time
	records []store.AuditEntry
	fails   error
	log     bytes.Buffer
}

func newRefusalFixture() *refusalFixture {
	d := &refusalFixture{at: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	d.Refusals = NewRefusals(RefusalOptions{Now: func() time.Time { return d.at }, Log: slog.New(slog.NewTextHandler(&d.log, nil)),
		Record: func(_ context.Context, e store.AuditEntry) (store.AuditRecord, error) {
			if d.fails == nil {
				d.records = append(d.records, e)
			}
			return store.AuditRecord{}, d.fails
		}})
	return d
}

// passMinute advances the clock by a minute and flushes, like Run.
func (d *refusalFixture) passMinute() {
	d.at = d.at.Add(time.Minute)
	d.flush(false)
}

func (d *refusalFixture) refuse(from, subject, reason string) {
	d.Add(
		store.AuditEntry{At: d.at, Via: "password", From: from, What: "login.refused", Subject: subject, Outcome: "refused",
			Details: map[string]string{"reason": reason}},
	)
}

func (d *refusalFixture) recordedAttempts() (n int) {
	for _, e := range d.records {
		one := 1
		if text := e.Details["count"]; text != "" {
			one, _ = strconv.Atoi(text)
		}
		n += one
	}
	return n
}

func TestTheFirstRefusalIsRecordedAtOnceAndLaterOnesTogether(t *testing.T) {
	d := newRefusalFixture()
	d.refuse("192.0.2.1", "user:anna", "wrong password")
	if len(d.records) != 1 || d.records[0].Subject != "user:anna" || d.records[0].From != "192.0.2.1" || d.records[0].Details["count"] != "" {
		t.Fatalf("unexpected records: %+v", d.records)
	}
	for i := range 10 {
		d.at = d.at.Add(time.Second)
		d.refuse(fmt.Sprintf("192.0.2.%d", i%7), "user:ben", "wrong password")
	}
	must.That(t, len(d.records) == 1, "%d records within the minute", len(d.records))
	d.passMinute()
	must.That(t, len(d.records) == 2, "%d records after the minute", len(d.records))
	e := d.records[1]
	for name, want := range map[string]string{"count": "10", "addresses": "7", "first": "2026-03-01T12:00:01Z",
		"last": "2026-03-01T12:00:10Z", "reason": "wrong password",
		"examples": "192.0.2.0 user:ben, 192.0.2.1 user:ben, 192.0.2.2 user:ben, 192.0.2.3 user:ben, 192.0.2.4 user:ben"} {
		expect.Equal(t, e.Details[name], want, "%s", name)
	}
	if e.Subject != "user:ben" || e.From != "" || e.By != "" || e.What != "login.refused" || e.Via != "password" {
		t.Errorf("unexpected record: %+v", e)
	}
	d.passMinute()
	d.refuse("192.0.2.9", "", "wrong password")
	expect.That(t, len(d.records) == 3 && d.records[2].Details["count"] == "", "after a quiet minute: %+v", d.records)
}

func TestALongFloodMakesFewRecordsThatCountEveryRefusal(t *testing.T) {
	d := newRefusalFixture()
	added := 0
	const days = 1
	for range days * 24 * 60 {
		for i := range 20 {
			d.refuse(fmt.Sprintf("2001:db8:%x::1", added%3000), fmt.Sprint("user:", i%9), fmt.Sprint("reason ", i%20))
			added++
		}
		d.passMinute()
	}
	d.Flush()
	if most := anonymousBurst + days*(24*10+24) + 2; len(d.records) > most {
		t.Errorf("%d records in %d days, want at most %d", len(d.records), days, most)
	}
	if n := d.recordedAttempts(); n != added {
		t.Errorf("the records stand for %d attempts, want %d", n, added)
	}
	sums := 0
	for _, e := range d.records {
		if e.What == AccessFlood {
			sums++
			if !strings.Contains(e.Details["kinds"], "login.refused (reason 3): ") ||
				e.Details["addresses"] != "more than 1000" && e.Details["addresses"] == "" {
				t.Fatalf("unexpected record: %+v", e)
			}
		}
		if size := len(fmt.Sprint(e.Details)); size > 4000 {
			t.Fatalf("a record of %d bytes", size)
		}
	}
	expect.That(t, sums >= days*24-1 && sums <= days*24+2, "%d summaries in %d days", sums, days)
}

func TestManyNamesAndRoutesDoNotFillTheRecord(t *testing.T) {
	d := newRefusalFixture()
	person := func(i int) store.AuditEntry {
		return store.AuditEntry{At: d.at, By: fmt.Sprint("user:", i), What: "access.refused",
			Details: map[string]string{"route": "POST /plans", "why": "role"}}
	}
	for i := range 5000 {
		d.refuse(fmt.Sprint(i), strings.Repeat("x", i), fmt.Sprint("reason ", i))
	}
	before := len(d.records)
	d.Add(person(0))
	expect.Equal(t, len(d.records), before+1, "anonymous clients used up the allowance of accounts")
	for i := range 5000 {
		d.Add(person(i))
	}
	if n := len(d.kinds); n > anonymousKinds+personKinds+2 {
		t.Errorf("%d kinds are counted separately", n)
	}
	if n := len(d.records); n > anonymousBurst+personBurst {
		t.Errorf("%d records at once", n)
	}
	d.Flush()
	if n := d.recordedAttempts(); n != 10_001 {
		t.Errorf("the records stand for %d attempts", n)
	}
	d.at = d.at.Add(20 * time.Hour)
	d.passMinute()
	expect.That(t, len(d.kinds) == 0 && d.anonymous.kinds == 0 && d.people.kinds == 0,
		"%d kinds are still counted", len(d.kinds))
}

func TestRefusalsThatCouldNotBeRecordedAreCountedAgain(t *testing.T) {
	d := newRefusalFixture()
	d.fails = errors.New("the disk is full")
	for range 3 {
		for range 100 {
			d.refuse("192.0.2.1", "", "wrong password")
		}
		d.passMinute()
	}
	d.fails = nil
	d.passMinute()
	if n := d.recordedAttempts(); n != 300 || len(d.records) != 1 {
		t.Errorf("%d records stand for %d attempts", len(d.records), n)
	}
}

func TestAFloodMakesFewLogLinesThatCountTheRest(t *testing.T) {
	d := newRefusalFixture()
	for i := range 10_000 {
		d.refuse("192.0.2.1", "user:\"\nlevel=ERROR", "wrong password")
		if i%100 == 0 {
			d.at = d.at.Add(100 * time.Millisecond)
		}
	}
	d.passMinute()
	lines := strings.Split(strings.TrimSpace(d.log.String()), "\n")
	told, leftOut := 0, 0
	for _, line := range lines {
		if strings.Contains(line, "what=login.refused") {
			told++
		}
		if n := regexp.MustCompile(`left_out=(\d+)`).FindStringSubmatch(line); n != nil {
			more, _ := strconv.Atoi(n[1])
			leftOut += more
		}
	}
	expect.That(t, told <= lineBurst+5+1 && told+leftOut == 10_000,
		"%d lines stand for %d attempts and leave out %d", len(lines), told, leftOut)
}

func TestCountedRefusalsAreRecordedEachMinuteAndAtShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var records []store.AuditEntry
		r := NewRefusals(RefusalOptions{Record: func(_ context.Context, e store.AuditEntry) (store.AuditRecord, error) {
			mu.Lock()
			defer mu.Unlock()
			records = append(records, e)
			return store.AuditRecord{}, nil
		}})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- r.Run(ctx) }()
		wrong := func(n int) {
			for range n {
				r.Add(store.AuditEntry{What: "login.refused"})
			}
		}
		wrong(100)
		time.Sleep(refusalEvery + time.Second)
		synctest.Wait()
		expect.That(t, len(records) == 2 && records[1].Details["count"] == "99", "after a minute: %+v", records)
		wrong(7)
		cancel()
		<-ended
		expect.That(t, len(records) == 3 && records[2].Details["count"] == "7", "at the end: %+v", records)
	})
}

func TestRefusalsAreRecordedAfterClockChanges(t *testing.T) {
	for _, step := range []time.Duration{-24 * time.Hour, 24 * time.Hour} {
		d := newRefusalFixture()
		for range 200 { // exceeds every allowance
			d.refuse("192.0.2.1", "", "wrong password")
			d.refuse("192.0.2.1", "", "no such token")
			d.passMinute()
		}
		d.at = d.at.Add(step)
		before := len(d.records)
		d.refuse("192.0.2.1", "", "unknown name")
		expect.Equal(t, len(d.records), before+1, "%s: another kind is not recorded at once", step)
		for range 61 {
			d.refuse("192.0.2.1", "", "wrong password")
			d.passMinute()
		}
		recent := false
		for _, e := range d.records[before+1:] {
			recent = recent || strings.Contains(fmt.Sprint(e), "wrong password")
		}
		expect.That(t, recent, "%s: the attempts of an hour are not recorded", step)
	}
}
