package audit_test

import (
	"encoding/csv"
	"go/ast"
	"go/parser"
	"go/token"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"shardboard/internal/answer"
	"shardboard/internal/answer/auditing"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
	"shardboard/internal/store/audit"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

func TestAuditTellsPeopleOfAnIssuerApart(t *testing.T) {
	trail := &webtest.StubAudit{}
	for _, sub := range []string{"sub-1", "sub-2"} {
		_, _ = trail.Append(t.Context(),
			store.AuditEntry{What: "login.ok", By: "oidc:ab:" + sub, Subject: "oidc:ab:" + sub, Via: "oidc", Outcome: "ok"})
	}
	s := webtest.New(t, func(d *site.Deps) { d.Audit.Trail = trail })
	rows := s.Page(t, "/audit", webtest.As("anna", auth.Admin)).Find("tbody tr")
	for i, sub := range []string{"sub-2", "sub-1"} {
		expect.ContainsAll(t, rows.Eq(i).Text(), []string{"Anna", "Id at the issuer: " + sub}, "row %d", i)
	}
}

func TestAuditIsFilteredAndOrderedBothWays(t *testing.T) {
	s := webtest.New(t)
	for query, want := range map[string]int{
		"what=login.refused": 10, "what=login.": 100, "by=user:k3j2&order=oldest": 100,
		"subject=user:k3j2&what=login.refused&order=oldest": 10, "what=log": 0,
		"from=2026-03-01T11:58:00Z": 2, "to=2026-03-01T10:03": 3, "from=2026-03-01&to=2026-03-01T11:00:00%2B01:00": 0, "from=2026-03-02": 0,
	} {
		expect.Equal(t, len(webtest.Decode[api.List[api.AuditRecord]](t, s.Do("GET", "/api/v1/audit?"+query)).Items), want, "%s", query)
	}
	first := webtest.Decode[api.List[api.AuditRecord]](t, s.Do("GET", "/api/v1/audit?order=oldest&limit=1"))
	expect.That(t, first.Items[0].Seq == 1 && first.Next != "", "%+v", first)
	for _, query := range []string{"from=yesterday", "to=2026-13-01", "order=up", "cursor=%21",
		"cursor=" + string(answer.CursorOf("x")), "cursor=" + string(answer.CursorOf("-4")), "limit=0"} {
		expect.Equal(t, s.Do("GET", "/api/v1/audit?"+query).Code, 400, "%s", query)
	}
}

// A file has all records that match the filter of the page, not a part, and no cell
// that a spreadsheet would run.
func TestTheAuditRecordIsAFileToo(t *testing.T) {
	a := webtest.CannedAudit()
	a.Add(store.AuditEntry{At: webtest.Epoch, What: "login.refused", From: "=HYPERLINK(1)", Details: map[string]string{"reason": "password"}})
	s := webtest.New(t, func(d *site.Deps) { d.Audit.Trail = a })
	link, _ := s.Page(t, "/audit?what=login.&below=50").Find("a[href*='/audit.csv']").Attr("href")
	expect.Contains(t, link, "what=login.", "the page's link to the file")
	rows, err := csv.NewReader(strings.NewReader(s.Do("GET", "/audit.csv?what=login.").Body.String())).ReadAll()
	must.That(t, err == nil && len(rows) == 122 && rows[0][0] == "seq" && rows[1][0] == "121", "%d lines, %v", len(rows), err)
	from := rows[1][slices.Index(rows[0], "from")]
	expect.That(t, strings.HasPrefix(from, "'="), "a spreadsheet would run %q", from)
}

// What the wire carries is all that the hash covers.
func TestAuditOnTheWireCanBeVerified(t *testing.T) {
	a := webtest.CannedAudit()
	a.Add(
		store.AuditEntry{At: webtest.Epoch, What: "login.refused", Subject: webtest.HostileName + "\xff\u2028", Details: map[string]string{}},
	)
	s := webtest.New(t, func(d *site.Deps) { d.Audit.Trail = a })
	part := webtest.Decode[api.List[api.AuditRecord]](t, s.Do("GET", "/api/v1/audit?limit=1"))
	last := a.Records[120]
	r := part.Items[0]
	back := store.AuditRecord{
		Seq:  r.Seq,
		Prev: last.Prev,
		Hash: last.Hash,
		AuditEntry: store.AuditEntry{Cluster: r.Cluster, At: r.At, By: r.By, Via: r.Via, From: r.From,
			What: r.What, Subject: r.Subject, Outcome: r.Outcome, Details: r.Details},
	}
	err := audit.Check(back, 121, last.Prev)
	expect.That(t, err == nil, "%v: %+v", err, r)
}

func TestABrokenRecordIsSaidOnEveryPageToThoseWhoMayReadIt(t *testing.T) {
	a := webtest.CannedAudit()
	for role, want := range map[auth.Role]bool{auth.Viewer: false, auth.Support: false, auth.Operator: true, auth.Admin: true} {
		for _, broken := range []bool{false, true} {
			if a.Check.Break = nil; broken {
				a.Check.Break = &audit.Break{Code: audit.Changed, Seq: 7}
			}
			s := webtest.New(t, func(d *site.Deps) {
				d.Audit.Trail, d.Access.Auth = a, webtest.OnePerson{Who: auth.Principal{ID: "user:x", Name: "x", Role: role, Method: auth.ByPassword}}
			})
			said := strings.Contains(s.Do("GET", "/").Body.String(),
				"The audit record was changed by something other than this program; the Audit page shows where.")
			expect.Equal(t, said, want && broken, "%s, broken %v: said", role, broken)
		}
	}
}

func TestTheAuditPageIsPagedAndFiltered(t *testing.T) {
	s := webtest.New(t)
	doc := s.Page(t, "/audit?what=login.")
	if n := doc.Find("tbody tr").Length(); n != answer.PageRows {
		t.Fatal(n)
	}
	older, _ := doc.Find("nav.pages a[rel=next]").Attr("href")
	u, err := url.Parse(older)
	must.That(t, err == nil && u.Query().Get("what") == "login." && u.Query().Get("below") == "71", "%v %v", older, err)
	doc = s.Page(t, older)
	if first := strings.TrimSpace(doc.Find("tbody tr").First().Find("td").First().Text()); first != "70" {
		t.Error(first)
	}
	refused := s.Page(t, "/audit?what=login.refused").Find("tbody").Text()
	if strings.Count(refused, "Tried to sign in") != 10 || strings.Contains(refused, "Signed in") || !strings.Contains(refused, "anna") ||
		!strings.Contains(refused, "unknown") {
		t.Error(refused)
	}
	for address, want := range map[string]string{"/audit?by=user:nobody": "No record matches", "/audit?below=1": "No record matches"} {
		expect.Contains(t, s.Do("GET", address).Body.String(), want, "%s", address)
	}
	empty := webtest.New(t, func(d *site.Deps) { d.Audit.Trail = &webtest.StubAudit{} })
	text := empty.Do("GET", "/audit").Body.String()
	expect.That(t, strings.Contains(text, "Nothing is recorded yet"), "an empty record is not said to be")
	for _, address := range []string{"/audit?below=x", "/audit?below=0", "/audit?from=x"} {
		expect.Equal(t, s.Do("GET", address).Code, 400, "%s", address)
	}
}

func TestHostileTextInTheAuditRecordStaysText(t *testing.T) {
	a := &webtest.StubAudit{}
	hostile := []string{
		`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, "javascript:alert(1)",
		"\u202egpj.exe\x1b[31m\r\n", "=HYPERLINK(1)", "{seq}",
	}
	for _, text := range hostile {
		a.Add(store.AuditEntry{At: webtest.Epoch, By: text, Via: text, From: text, What: text, Subject: text, Outcome: text,
			Details: map[string]string{text: text}})
	}
	s := webtest.New(t, func(d *site.Deps) { d.Audit.Trail = a })
	doc := s.Page(t, "/audit?"+url.Values{"by": {hostile[1]}, "what": {hostile[1]}, "subject": {hostile[0]}}.Encode())
	page := s.Page(t, "/audit")
	expect.That(t, doc.Find("main script, main img").Length()+page.Find("main script, main img").Length() == 0,
		"markup of a record is markup of the page")
	if n := page.Find("tbody tr").Length(); n != len(hostile) {
		t.Error(n)
	}
	for _, href := range page.Find("main a").Map(func(_ int, a *goquery.Selection) string { return a.AttrOr("href", "") }) {
		expect.That(t, strings.HasPrefix(href, "/"), "a link to %q", href)
	}
}

func TestWithoutARecordOrWhenItCannotBeReadTheAuditSaysSo(t *testing.T) {
	for name, trail := range map[string]auditing.AuditTrail{"none": nil,
		"broken": &webtest.StubAudit{Err: fault.New(fault.Unavailable, "The disk is gone.")}} {
		s := webtest.New(t, func(d *site.Deps) { d.Audit.Trail = trail })
		for _, address := range []string{"/audit", "/api/v1/audit", "/api/v1/audit/heads"} {
			expect.Equal(t, s.Do("GET", address).Code, 503, "%s: %s", name, address)
		}
	}
}

// TestEveryAuditCodeHasWords reads the codes from the packages that write them.
func TestEveryAuditCodeHasWords(t *testing.T) {
	for file, least := range map[string]int{"../../internal/auth/audit.go": 10, "../../internal/actions/engine/audit.go": 7,
		"../guard/refusals.go": 1} {
		codes := auditCodes(t, file)
		expect.That(t, len(codes) >= least, "only %d codes found in %s; the scan is broken", len(codes), file)
		checkWords(t, codes...)
	}
	checkWords(t, audit.AccessFlood) // a summary of refusals
}

// auditCodes are the string constants of a file whose names begin with audit.
func auditCodes(t *testing.T, file string) (codes []string) {
	t.Helper()
	f := must.Get(parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution))
	ast.Inspect(f, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok || len(spec.Names) != 1 || !strings.HasPrefix(strings.ToLower(spec.Names[0].Name), "audit") || len(spec.Values) != 1 {
			return true
		}
		if lit, ok := spec.Values[0].(*ast.BasicLit); ok {
			code, _ := strconv.Unquote(lit.Value)
			codes = append(codes, code)
		}
		return true
	})
	return codes
}

// checkWords fails for each code that the page shows as it is.
func checkWords(t *testing.T, codes ...string) {
	t.Helper()
	trail := &webtest.StubAudit{}
	for _, code := range codes {
		trail.Add(store.AuditEntry{At: webtest.Epoch, What: code, Outcome: "ok"})
	}
	s := webtest.New(t, func(d *site.Deps) { d.Audit.Trail = trail })
	rows := s.Page(t, "/audit").Find("tbody th[scope=row]")
	must.That(t, rows.Length() == len(codes), "%d rows for %d codes", rows.Length(), len(codes))
	rows.Each(func(_ int, what *goquery.Selection) {
		code := what.AttrOr("title", "")
		expect.That(t, code != "" && strings.TrimSpace(what.Text()) != code, "no words for %q", code)
	})
}
