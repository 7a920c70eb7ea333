package web_test

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/auth"
	"shardboard/internal/store"
	"shardboard/internal/store/audit"
	"shardboard/web"
	"shardboard/web/guard"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// refusalsOf are the refused requests in a record.
func refusalsOf(a *webtest.StubAudit) (out []store.AuditEntry) {
	for _, r := range a.Records {
		if r.What == guard.AuditAccessRefused {
			out = append(out, r.AuditEntry)
		}
	}
	return out
}

func TestARefusalOfAChangingRouteIsInTheRecord(t *testing.T) {
	trail := &webtest.StubAudit{}
	s := webtest.New(t, webtest.WithClaims, func(d *site.Deps) { d.Audit = trail })
	for _, rt := range web.Routes() {
		if rt.Method == http.MethodGet || rt.Policy != guard.PolicyOperate && rt.Policy != guard.PolicyAdmin {
			continue
		}
		for _, p := range []struct {
			by      string
			why     string
			records int
			change  func(*http.Request)
		}{
			{"user:vera", "role", 1, webtest.As("vera", auth.Viewer)},
			{"user:sam", "role", 1, webtest.As("sam", auth.Support)},
			{"", "cross-site", 1, func(r *http.Request) {
				webtest.As("olga", auth.Admin)(r)
				r.Header.Set("Sec-Fetch-Site", "cross-site")
			}},
			{"", "cross-site", 0, webtest.Header("Origin", "https://evil.example")}, // counted with the one before
		} {
			before := len(refusalsOf(trail))
			address := webtest.AddressOf(rt.Pattern)
			if w := s.Do(rt.Method, address, p.change); w.Code != 403 {
				t.Errorf("%s %s by %s: %d", rt.Method, address, p.by, w.Code)
			}
			all := refusalsOf(trail)
			if len(all) != before+p.records {
				t.Errorf("%s %s by %q: %d records", rt.Method, rt.Pattern, p.by, len(all)-before)
				continue
			}
			e := all[len(all)-1]
			if e.By != p.by || e.Outcome != "refused" || e.Details["why"] != p.why || e.Details["route"] != rt.Method+" "+rt.Pattern ||
				e.Cluster == "" {
				t.Errorf("%+v", e)
			}
			if (strings.HasPrefix(rt.Pattern, "/api/v1/plans/") || strings.HasPrefix(rt.Pattern, "/api/v1/runs/")) &&
				!strings.Contains(address, e.Subject) ||
				strings.HasPrefix(rt.Pattern, "/runs/") && e.Subject == "" {
				t.Errorf("%s is about %q", address, e.Subject)
			}
		}
	}
}

func TestWhatChangesNothingAndWhoeverMayIsNotRecordedAsRefused(t *testing.T) {
	trail := &webtest.StubAudit{}
	s := webtest.New(t, webtest.WithClaims, func(d *site.Deps) { d.Audit = trail })
	s.Do("GET", "/audit", webtest.As("vera", auth.Viewer))
	s.Do("GET", "/api/v1/locate?q=a/b", webtest.As("vera", auth.Viewer))
	s.Do("POST", "/api/v1/plans")
	s.Do("POST", "/nothing", webtest.Header("Sec-Fetch-Site", "cross-site"))
	s.Do("POST", "/api/v1/plans", webtest.As("olga", auth.Operator))
	if got := refusalsOf(trail); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestFloodsOfRefusalsAreCountedAndDoNotFillTheRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		trail := &webtest.StubAudit{}
		counter := audit.NewRefusals(audit.RefusalOptions{Record: trail.Append})
		s := webtest.New(t, webtest.WithClaims, func(d *site.Deps) { d.Audit, d.Refusals, d.Now = trail, counter, time.Now })
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = counter.Run(ctx)
		}()
		const each = 200
		for range 10 { // minutes
			for range each {
				s.Do("POST", "/api/v1/plans", webtest.As("vera", auth.Viewer))
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

func TestASummaryOfRefusalsHasWords(t *testing.T) {
	if !answer.AuditKnows(audit.AccessFlood) {
		t.Error(audit.AccessFlood)
	}
}

func TestExamplesOfRefusalsShowNamesOfAccounts(t *testing.T) {
	names := map[string]string{"user:k3j2": "anna"}
	for text, want := range map[string]string{
		"192.0.2.1 user:k3j2, 192.0.2.2 user:other, 192.0.2.3": "192.0.2.1 anna, 192.0.2.2 user:other, 192.0.2.3",
		"user:k3j2": "anna", "": "", "192.0.2.1 user:k3j2x": "192.0.2.1 user:k3j2x",
	} {
		if got := answer.NamedExamples(text, names); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
	trail := &webtest.StubAudit{}
	trail.Add(
		store.AuditEntry{
			At:      webtest.Epoch,
			What:    "login.refused",
			Outcome: "refused",
			Details: map[string]string{"count": "2", "examples": "192.0.2.1 user:k3j2, 192.0.2.2 <script>"},
		},
	)
	s := webtest.New(t, func(d *site.Deps) { d.Audit = trail })
	if body := s.Do("GET", "/audit").Body.String(); !strings.Contains(body, "192.0.2.1 ") || strings.Contains(body, "<script>,") {
		t.Error(body)
	}
}
