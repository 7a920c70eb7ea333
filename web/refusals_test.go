package web_test

import (
	"net/http"
	"strings"
	"testing"

	"shardboard/internal/auth"
	"shardboard/internal/fixture/expect"
	"shardboard/web"
	"shardboard/web/guard"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

func TestARefusalOfAChangingRouteIsInTheRecord(t *testing.T) {
	trail := &webtest.StubAudit{}
	s := webtest.New(t, webtest.WithPeople, func(d *site.Deps) { d.Audit.Trail = trail })
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
			before := len(webtest.RefusalsOf(trail))
			address := webtest.AddressOf(rt.Pattern)
			expect.Equal(t, s.Do(rt.Method, address, p.change).Code, 403, "%s %s by %s", rt.Method, address, p.by)
			all := webtest.RefusalsOf(trail)
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
