package web

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"shardboard/internal/auth"
	"shardboard/internal/store"
)

// refusalsOf are the refused requests in a record.
func refusalsOf(a *stubAudit) (out []store.AuditEntry) {
	for _, r := range a.records {
		if r.What == auditAccessRefused {
			out = append(out, r.AuditEntry)
		}
	}
	return out
}

func TestARefusalOfAChangingRouteIsInTheRecord(t *testing.T) {
	trail := &stubAudit{}
	s := newSite(t, withClaims, func(d *Deps) { d.Audit = trail })
	for _, rt := range routes() {
		if rt.Method == http.MethodGet || rt.Policy != PolicyOperate && rt.Policy != PolicyAdmin {
			continue
		}
		for _, p := range []struct {
			by      string
			why     string
			records int
			change  func(*http.Request)
		}{
			{"user:vera", "role", 1, as("vera", auth.Viewer)},
			{"user:sam", "role", 1, as("sam", auth.Support)},
			{"", "cross-site", 1, func(r *http.Request) {
				as("olga", auth.Admin)(r)
				r.Header.Set("Sec-Fetch-Site", "cross-site")
			}},
			{"", "cross-site", 0, header("Origin", "https://evil.example")}, // counted with the one before
		} {
			before := len(refusalsOf(trail))
			address := target(rt.Pattern)
			if w := s.do(rt.Method, address, p.change); w.Code != 403 {
				t.Errorf("%s %s by %s: %d", rt.Method, address, p.by, w.Code)
			}
			all := refusalsOf(trail)
			if len(all) != before+p.records {
				t.Errorf("%s %s by %q: %d records", rt.Method, rt.Pattern, p.by, len(all)-before)
				continue
			}
			e := all[len(all)-1]
			if e.By != p.by || e.Outcome != "refused" || e.Details["why"] != p.why || e.Details["route"] != rt.Method+" "+rt.Pattern || e.Cluster == "" {
				t.Errorf("%+v", e)
			}
			if (strings.HasPrefix(rt.Pattern, "/api/v1/plans/") || strings.HasPrefix(rt.Pattern, "/api/v1/runs/")) && !strings.Contains(address, e.Subject) || strings.HasPrefix(rt.Pattern, "/runs/") && e.Subject == "" {
				t.Errorf("%s is about %q", address, e.Subject)
			}
		}
	}
}

func TestWhatChangesNothingAndWhoeverMayIsNotRecordedAsRefused(t *testing.T) {
	trail := &stubAudit{}
	s := newSite(t, withClaims, func(d *Deps) { d.Audit = trail })
	s.do("GET", "/audit", as("vera", auth.Viewer))
	s.do("GET", "/api/v1/locate?q=a/b", as("vera", auth.Viewer))
	s.do("POST", "/api/v1/plans")
	s.do("POST", "/nothing", header("Sec-Fetch-Site", "cross-site"))
	s.do("POST", "/api/v1/plans", as("olga", auth.Operator))
	if got := refusalsOf(trail); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestFloodsOfRefusalsAreCountedAndDoNotFillTheRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		trail := &stubAudit{}
		s := newSite(t, withClaims, func(d *Deps) { d.Audit, d.Now = trail, time.Now })
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = s.Run(ctx)
		}()
		const each = 200
		for range 10 { // minutes
			for range each {
				s.do("POST", "/api/v1/plans", as("vera", auth.Viewer))
			}
			time.Sleep(time.Minute)
			synctest.Wait()
		}
		cancel()
		<-ended
		told, counted := 0, 0
		for _, e := range refusalsOf(trail) {
			told++
			n := 1
			if text := e.Details["count"]; text != "" {
				n, _ = strconv.Atoi(text)
			}
			counted += n
		}
		if counted != 10*each || told > 12 {
			t.Errorf("%d records tell of %d refusals, want %d", told, counted, 10*each)
		}
	})
}

func TestManyNamesAndRoutesCannotFillTheRecordEither(t *testing.T) {
	at, written := epoch, 0
	c := newRefusals(func() time.Time { return at }, func(store.AuditEntry) { written++ })
	for i := range 5000 {
		by := "user:" + strings.Repeat("x", i%900)
		c.add(store.AuditEntry{By: by, At: at, Details: map[string]string{"route": "POST /plans", "why": "role"}})
		c.add(store.AuditEntry{At: at, Details: map[string]string{"route": by, "why": "cross-site"}})
	}
	if written > 2*refusalBurst || len(c.open) > refusalsKept+1 {
		t.Errorf("%d records, %d counted apart", written, len(c.open))
	}
	for range 24 * 60 {
		at = at.Add(time.Minute)
		c.flush(false)
	}
	if most := 2 * (refusalBurst + 24*60*2); written > most || len(c.open) != 0 {
		t.Errorf("%d records of a day, %d still open", written, len(c.open))
	}
}
