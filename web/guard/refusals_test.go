package guard_test

import (
	"strings"
	"testing"

	"shardboard/internal/answer/auditing"
	"shardboard/internal/auth"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/store"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

func TestWhatChangesNothingAndWhoeverMayIsNotRecordedAsRefused(t *testing.T) {
	trail := &webtest.StubAudit{}
	s := webtest.New(t, webtest.WithPeople, func(d *site.Deps) { d.Audit.Trail = trail })
	s.Do("GET", "/audit", webtest.As("vera", auth.Viewer))
	s.Do("GET", "/api/v1/locate?q=a/b", webtest.As("vera", auth.Viewer))
	s.Do("POST", "/api/v1/plans")
	s.Do("POST", "/nothing", webtest.Header("Sec-Fetch-Site", "cross-site"))
	s.Do("POST", "/api/v1/plans", webtest.As("olga", auth.Operator))
	got := webtest.RefusalsOf(trail)
	expect.That(t, len(got) == 0, "%+v", got)
}

func TestExamplesOfRefusalsShowNamesOfAccounts(t *testing.T) {
	names := map[string]string{"user:k3j2": "anna"}
	for text, want := range map[string]string{
		"192.0.2.1 user:k3j2, 192.0.2.2 user:other, 192.0.2.3": "192.0.2.1 anna, 192.0.2.2 user:other, 192.0.2.3",
		"user:k3j2": "anna", "": "", "192.0.2.1 user:k3j2x": "192.0.2.1 user:k3j2x",
	} {
		expect.Equal(t, auditing.NamedExamples(text, names), want, "%q is shown as", text)
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
	s := webtest.New(t, func(d *site.Deps) { d.Audit.Trail = trail })
	if body := s.Do("GET", "/audit").Body.String(); !strings.Contains(body, "192.0.2.1 ") || strings.Contains(body, "<script>,") {
		t.Error(body)
	}
}
