package audit_test

import (
	"errors"
	"strings"
	"testing"

	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/store"
	"shardboard/internal/store/audit"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// auditTroubles are states of the keeper with the code that everything shows; "" where
// nothing is known to be wrong, or too early to say.
var auditTroubles = map[string]struct {
	change  func(*audit.State)
	code    string
	banner  string // key of auditBanners
	says    string // on the audit page
	measure string // of shardboard_audit_ok; "" where it is absent
}{
	"in order":  {func(*audit.State) {}, "", "", "in order up to record 120", "1"},
	"verified":  {func(*audit.State) {}, "", "", "verified 20 s ago", "1"},
	"whole":     {func(*audit.State) {}, "", "", "whole chain was 2 h ago", "1"},
	"other key": {func(s *audit.State) { s.Other = "SHA256:other" }, "", "", "signed by another key", "1"},
	"reader":    {func(s *audit.State) { s.Key = "" }, "", "", "Nothing is signed here", "1"},
	"not yet":   {func(s *audit.State) { *s = audit.State{} }, "", "", "not been verified yet", ""},
	"busy once": {func(s *audit.State) { s.Err, s.Stage, s.Fails = errors.New("busy /var/x"), audit.StageRead, 1 },
		"", "", "was in order up to record 120", "1"},
	"busy twice": {func(s *audit.State) { s.Err, s.Stage, s.Fails = errors.New("busy /var/x"), audit.StageRead, 2 },
		"unread", "banner.audit.unread", "could not be read in 2 consecutive checks", "0"},
	"never read": {func(s *audit.State) {
		*s = audit.State{Err: errors.New("busy /var/x"), Stage: audit.StageRead, Fails: 2}
	},
		"unread", "banner.audit.unread", "not known whether it is in order", "0"},
	"table gone": {func(s *audit.State) {
		s.Err, s.Stage, s.Fails = fault.Wrap(fault.Unavailable,
			errors.Join(store.ErrAuditDamaged, errors.New("/var/x")),
			"The table audit is missing."), audit.StageRead, 1
	}, "damaged", "banner.audit.damaged", "The table audit is missing.", "0"},
	"not signed": {func(s *audit.State) { s.Err, s.Stage, s.Fails = errors.New("full /var/x"), audit.StageSign, 2 },
		"unsigned", "banner.audit.unsigned", "in order up to record 120, but its end could not be signed", "0"},
	"witness": {func(s *audit.State) { s.Err, s.Stage, s.Fails = errors.New("json /var/x"), audit.StageWitness, 3 },
		"witness", "banner.audit.witness", "The witness file beside the audit key", "0"},
	"broken": {
		func(s *audit.State) { s.Break = &audit.Break{Code: audit.Changed, Seq: 7} }, "changed", "banner.audit",
		"record 7 was edited", "0",
	},
	"last deleted": {
		func(s *audit.State) { s.Break = &audit.Break{Code: audit.Cut, Seq: 120, Found: 119} }, "cut",
		"banner.audit", "it ends at 119, but record 120 was there before", "0",
	},
	"older put back": {func(s *audit.State) {
		s.Break = &audit.Break{Code: audit.Cut, Seq: 130, Found: 120, At: webtest.Epoch, Witness: true}
	}, "cut", "banner.audit", "an older copy of the data was put back", "0"},
	"last made anew": {
		func(s *audit.State) { s.Break = &audit.Break{Code: audit.Rebuilt, Seq: 120} }, "rebuilt", "banner.audit",
		"not the one that was there before", "0",
	},
	"witness replaced": {
		func(s *audit.State) {
			s.Break = &audit.Break{Code: audit.Rebuilt, Seq: 9, At: webtest.Epoch, Witness: true}
		},
		"rebuilt",
		"banner.audit",
		"not the one in the witness file",
		"0",
	},
	"put in": {
		func(s *audit.State) { s.Break = &audit.Break{Code: audit.Foreign, Seq: 121} }, "foreign", "banner.audit",
		"another program inserted record 121", "0",
	},
	"heads deleted": {
		func(s *audit.State) { s.Break = &audit.Break{Code: audit.HeadLost, Seq: 120, At: webtest.Epoch} },
		"headLost", "banner.audit", "Signed heads were deleted", "0",
	},
	"witness forged": {
		func(s *audit.State) { s.Break = &audit.Break{Code: audit.Forged, Seq: 120, Witness: true} }, "forged",
		"banner.audit", "in the witness file has a false signature", "0",
	},
}

// auditBanners are the banners by what is wrong.
var auditBanners = map[string]string{
	"banner.audit":          "The audit record was changed by something other than this program; the Audit page shows where.",
	"banner.audit.damaged":  "The audit record is missing or damaged; the Audit page shows what is wrong and what to do.",
	"banner.audit.unread":   "The audit record could not be read for more than a minute; see the Audit page.",
	"banner.audit.unsigned": "The end of the audit record could not be signed for more than a minute; see the Audit page.",
	"banner.audit.witness":  "The witness file of the audit record cannot be used; see the Audit page.",
}

// A deleted record, a dropped table and a failure that lasts are on every page, in
// the API and in the metrics; a check that failed once is not.
func TestTroubleOfTheAuditRecordIsInBannerPageAPIAndMetrics(t *testing.T) {
	a := webtest.CannedAudit()
	fine := a.Check
	for name, c := range auditTroubles {
		a.Check = fine
		c.change(&a.Check)
		s := webtest.New(t, func(d *site.Deps) {
			d.Audit.Trail = a
			d.Access.Auth = webtest.OnePerson{Who: auth.Principal{ID: "user:x", Name: "x", Role: auth.Operator, Method: auth.ByPassword}}
		})
		home := s.Do("GET", "/").Body.String()
		for _, key := range []string{"banner.audit", "banner.audit.damaged", "banner.audit.unread", "banner.audit.unsigned",
			"banner.audit.witness"} {
			expect.Equal(t, strings.Contains(home, auditBanners[key]), key == c.banner, "%s: banner %s shown", name, key)
		}
		text := strings.Join(strings.Fields(s.Page(t, "/audit").Find("main").Text()), " ")
		expect.That(t, strings.Contains(text, c.says) && !strings.Contains(text, "/var/x") && !strings.Contains(text, "audit.break"),
			"%s: %.400s", name, text)
		st := webtest.Decode[api.AuditState](t, s.Do("GET", "/api/v1/audit/head"))
		expect.That(t, (c.code != "" || st.Problem == nil) &&
			(c.code == "" || st.Problem != nil && st.Problem.Code == c.code && !strings.Contains(st.Problem.Text, "/var/x")),
			"%s: %+v", name, st.Problem)
		got := s.Do("GET", "/metrics").Body.String()
		has := strings.Contains(got, "\nshardboard_audit_ok ")
		expect.That(t, has == (c.measure != "") && (!has || strings.Contains(got, "\nshardboard_audit_ok "+c.measure+"\n")),
			"%s: shardboard_audit_ok is not %q", name, c.measure)
		has = strings.Contains(got, "\nshardboard_audit_verified_age_seconds 20\n")
		expect.Equal(t, has, !a.Check.At.IsZero(), "%s: the time of the last check", name)
	}
}
