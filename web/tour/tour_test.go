package tour_test

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"shardboard/internal/auth"
	"shardboard/internal/fixture/expect"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

func demo(t *testing.T) *webtest.Server {
	return webtest.New(t, func(d *site.Deps) {
		d.Demo = true
		d.Access.Auth = webtest.OnePerson{Who: auth.Principal{ID: "demo", Name: "demo", Role: auth.Operator, Method: auth.ByDemo}}
	})
}

func panelAt(t *testing.T, s *webtest.Server, path, cookie string) *goquery.Selection {
	t.Helper()
	with := func(r *http.Request) {}
	if cookie != "" {
		with = func(r *http.Request) { r.AddCookie(&http.Cookie{Name: site.TourCookie, Value: cookie}) }
	}
	return s.Page(t, path, with).Find("main #tour-step")
}

func choose(s *webtest.Server, step, from string) *httptest.ResponseRecorder {
	return s.Do("POST", "/tour", webtest.Form("step", step, "from", from))
}

// Without scripts the page lists the whole tour, and each step leads to a page that exists.
func TestEachStepOfTheTourLeadsToAPage(t *testing.T) {
	s := demo(t)
	page := s.Page(t, "/tour")
	titles := page.Find("#tour-steps > li h2").Map(func(_ int, x *goquery.Selection) string { return x.Text() })
	expect.EqualSlices(t, titles, []string{"Overview", "Locate", "Heat", "Plan", "Proof", "Undo"}, "steps")
	for i := range titles {
		w := choose(s, strconv.Itoa(i), "/")
		to, focus, _ := strings.Cut(w.Header().Get("Location"), "#")
		expect.That(t, w.Code == http.StatusSeeOther && focus == "tour-step" && s.Do("GET", to).Code < 400,
			"step %d: %d to %q#%s", i, w.Code, to, focus)
		c := w.Result().Cookies()
		expect.That(t, len(c) == 1 && c[0].Value == strconv.Itoa(i) && c[0].HttpOnly, "step %d: cookies %v", i, c)
		expect.Contains(t, panelAt(t, s, to, strconv.Itoa(i)).Text(), "step "+strconv.Itoa(i+1)+" of 6", "step %d at %s shows", i, to)
	}
}

func TestANewVisitorSeesTheFirstStepOnTheOverviewOnly(t *testing.T) {
	s := demo(t)
	expect.Contains(t, panelAt(t, s, "/", "").Text(), "step 1 of 6", "the overview")
	expect.Equal(t, panelAt(t, s, "/zones", "").Length(), 0, "another page shows the tour before somebody has started it")
}

func TestASkippedTourStaysAway(t *testing.T) {
	s := demo(t)
	w := choose(s, "skip", "/zones?page=1")
	expect.Equal(t, w.Header().Get("Location"), "/zones?page=1#main", "skipping leads to")
	expect.Equal(t, choose(s, "skip", "//elsewhere.example/").Header().Get("Location"), "/#main", "skipping leads to")
	for _, path := range []string{"/", "/zones", "/heat"} {
		expect.Equal(t, panelAt(t, s, path, site.TourSkipped).Length(), 0, "%s shows the tour again", path)
	}
	page := s.Page(t, "/zones")
	expect.That(t, page.Find(`main .banner.is-note a[href="/tour"]`).Length() == 1 && page.Find("main .banner.is-bad").Length() == 0,
		"the note that it is a demo does not lead back to the tour")
}

func TestAStepNamesTheWayToItsPage(t *testing.T) {
	s := demo(t)
	b := panelAt(t, s, "/zones", "2").Find("button.main")
	expect.That(t, b.Length() == 1 && b.Text() == "Show the heat", "on another page the main button is %q", b.Text())
	b = panelAt(t, s, "/heat", "2").Find("button.main")
	expect.That(t, b.Length() == 1 && b.Text() == "Next: Plan", "on its page the main button is %q", b.Text())
}

func TestStepsThatDoNotExistAreRefused(t *testing.T) {
	s := demo(t)
	for _, step := range []string{"", "6", "-1", "x"} {
		w := choose(s, step, "/")
		expect.That(t, w.Code == http.StatusBadRequest && len(w.Result().Cookies()) == 0, "step %q: %d", step, w.Code)
	}
	for _, cookie := range []string{"6", "-1", "x", "99999999999999999999"} {
		expect.Equal(t, panelAt(t, s, "/", cookie).Length(), 0, "the cookie %q shows a step", cookie)
	}
}

func TestOnlyADemoHasTheTour(t *testing.T) {
	s := webtest.New(t, webtest.WithPeople)
	as := webtest.As("anna", auth.Operator)
	for _, path := range []string{"/", "/tour"} {
		page := s.Page(t, path, as, func(r *http.Request) {
			r.AddCookie(&http.Cookie{Name: site.TourCookie, Value: "1"})
		})
		expect.Equal(t, page.Find("#tour, #tour-step, form[action='/tour']").Length(), 0, "%s shows the tour outside of a demo", path)
	}
	w := s.Do("POST", "/tour", as, webtest.Form("step", "1"))
	expect.Equal(t, w.Code, http.StatusNotFound, "the tour starts outside of a demo")
}
