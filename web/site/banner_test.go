package site_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"shardboard/internal/answer/problems"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/store"
	"shardboard/internal/store/audit"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// ailing is a server whose data, directory and audit record are as somebody sets.
type ailing struct {
	*webtest.Server
	dir        *webtest.DataDirectory
	trail      *webtest.StubAudit
	trouble    *store.Trouble
	unreadable []store.UnreadableRows
}

func newAiling(t *testing.T, change ...func(*site.Deps)) *ailing {
	x := &ailing{dir: &webtest.DataDirectory{Now: store.Condition{Hold: store.Owned}}, trail: webtest.CannedAudit()}
	x.Server = webtest.New(t, append([]func(*site.Deps){webtest.WithPeople, x.dir.Of, func(d *site.Deps) {
		d.Audit.Trail, d.Store.Trouble = x.trail, func() *store.Trouble { return x.trouble }
		d.Store.Unreadable = func() []store.UnreadableRows { return x.unreadable }
	}}, change...)...)
	return x
}

func (x *ailing) lose() {
	x.dir.Now = store.Condition{Hold: store.Vanished, Since: webtest.Epoch, Err: fault.New(fault.Unavailable, "The data directory was moved.")}
}

func (x *ailing) meet(c store.TroubleCode) *store.Trouble {
	x.trouble = &store.Trouble{
		Code:   c,
		Cause:  "The file /data/board.db is in trouble.",
		Remedy: "Do mv /data/board.db away.",
		Since:  webtest.Epoch,
	}
	return x.trouble
}

func (x *ailing) banners(t *testing.T, role auth.Role) []string {
	t.Helper()
	return x.Page(t, "/collections", webtest.As("anna", role)).
		Find("main p.banner").Map(func(_ int, s *goquery.Selection) string { return s.Text() })
}

// What follows from a loss or a full disk is not said as a second thing that is
// wrong; what somebody did to the audit record is.
func TestTroubleOfTheWholeStoreHasOneBanner(t *testing.T) {
	failed := func(st audit.Stage, err error) audit.State { return audit.State{Err: err, Stage: st, Fails: 3} }
	for name, c := range map[string]struct {
		is   func(x *ailing)
		want []string
	}{
		"nothing": {func(*ailing) {}, nil},
		"lost, with all that follows": {func(x *ailing) {
			x.lose()
			x.meet(store.TroubleGone)
			x.trail.Check = failed(audit.StageSign, x.dir.Now.Err)
		}, []string{"was moved, deleted or replaced"}},
		"lost, and the record was changed": {func(x *ailing) {
			x.lose()
			x.trail.Check.Break = &audit.Break{Code: audit.Changed, Seq: 7}
		}, []string{"was moved, deleted or replaced", "record was changed"}},
		"full, so nothing is signed": {func(x *ailing) {
			t := x.meet(store.TroubleFull)
			x.trail.Check = failed(audit.StageSign, t.Failed(errors.New("13")))
		}, []string{"disk of shardboard's data is full"}},
		"full, and the witness is damaged": {func(x *ailing) {
			x.meet(store.TroubleFull)
			x.trail.Check = failed(audit.StageWitness, errors.New("json"))
		}, []string{"disk of shardboard's data is full", "witness file"}},
		"another table is missing too": {func(x *ailing) {
			t := *x.meet(store.TroubleSchema)
			t.Cause = "The table audit is missing."
			x.trail.Check = failed(audit.StageRead, errors.Join(store.ErrAuditDamaged, t.Failed(errors.New("1"))))
		}, []string{"is incomplete", "audit record is missing or damaged"}},
		"the record's table is missing": {func(x *ailing) {
			t := x.meet(store.TroubleSchema)
			x.trail.Check = failed(audit.StageRead, errors.Join(store.ErrAuditDamaged, t.Failed(errors.New("1"))))
		}, []string{"is incomplete"}},
	} {
		x := newAiling(t)
		c.is(x)
		got := x.banners(t, auth.Admin)
		if len(got) != len(c.want) {
			t.Errorf("%s: %d banners: %q", name, len(got), got)
			continue
		}
		for i, want := range c.want {
			expect.That(t, strings.Contains(got[i], want), "%s: banner %q, want %q", name, got[i], want)
		}
	}
}

// A page that a browser kept is not shown without a banner that came since, or with
// one that is over.
func TestETagChangesWithTheBanner(t *testing.T) {
	x := newAiling(t)
	for name, change := range map[string]func(){
		"a trouble":             func() { x.meet(store.TroubleFull) },
		"another cause":         func() { x.meet(store.TroubleFull).Cause = "Another." },
		"unreadable rows":       func() { x.unreadable = []store.UnreadableRows{{Table: "runs", Rows: 1}} },
		"the record is broken":  func() { x.trail.Check.Break = &audit.Break{Code: audit.Changed, Seq: 7} },
		"the directory is lost": x.lose,
	} {
		tag := x.Do("GET", "/collections", webtest.As("anna", auth.Admin)).Header().Get("ETag")
		again := func() int {
			return x.Do("GET", "/collections", webtest.As("anna", auth.Admin), webtest.Header("If-None-Match", tag)).Code
		}
		code := again()
		expect.That(t, tag != "" && code == http.StatusNotModified, "before %s: %q, %d", name, tag, code)
		change()
		expect.Equal(t, again(), http.StatusOK, "%s: the page is kept", name)
		x.trouble, x.unreadable, x.trail.Check.Break, x.dir.Now = nil, nil, nil, store.Condition{Hold: store.Owned}
	}
}

// Paths and the commands with them are for those who can use them.
func TestBannersOfTroubleNameFilesToOperators(t *testing.T) {
	x := newAiling(t)
	x.meet(store.TroubleDamaged)
	for role, want := range map[auth.Role]bool{auth.Viewer: false, auth.Support: false, auth.Operator: true, auth.Admin: true} {
		got := strings.Join(x.banners(t, role), " ")
		expect.That(t, strings.Contains(got, "database of shardboard is damaged") && strings.Contains(got, "board.db") == want,
			"%s: %q", role, got)
	}
}

func TestTroubleIsSaidOnceOnTheErrorPageThatItCauses(t *testing.T) {
	x := newAiling(t)
	x.trail.Err = x.meet(store.TroubleDamaged).Failed(errors.New("11"))
	page := x.PageWith(t, http.StatusServiceUnavailable, "/audit", webtest.As("anna", auth.Admin)).Find("main").Text()
	n := strings.Count(page, "Do mv /data/board.db away.")
	expect.That(t, n == 1, "the remedy is there %d times: %s", n, page)
	x.trouble = nil
	x.lose()
	x.trail.Err = x.dir.Now.Err
	lost := x.PageWith(t, http.StatusServiceUnavailable, "/audit", webtest.As("anna", auth.Admin)).Find("main")
	expect.Equal(t, lost.Find("p.banner").Length(), 0, "banners on the error page of a lost directory")
	expect.Contains(t, lost.Text(), "The data directory was moved.", "lost")
}

// The dot in the header is live, so that pages which stay open tell it.
func TestTheStatusSaysThatDataIsInTroubleOrItsOwnerGone(t *testing.T) {
	x := newAiling(t)
	x.meet(store.TroubleFull)
	got := problems.Status(x.View())
	expect.That(t, got.Level == "failed" && got.Text == x.trouble.Title(), "full: %+v", got)
	x.trouble, x.dir.Now.Hold = nil, store.OwnerGone
	got = problems.Status(x.View())
	expect.That(t, got.Level == "failed" && strings.Contains(got.Text, "owner"), "the owner is gone: %+v", got)
}
