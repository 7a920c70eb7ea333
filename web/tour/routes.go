// Package tour leads a newcomer through a demo: overview, locate, heat, plan, proof, undo, each on the
// page that does it, filled in with what happens in the demo now.
package tour

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/answer/changing"
	"shardboard/internal/answer/problems"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/rules"
	"shardboard/web/guard"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// Routes of the tour. The layout of all pages shows the step that the browser's cookie names, so
// the tour needs no script and outlives a reload.
var Routes = site.Table(
	site.Page(site.Route{Pattern: "/tour", Summary: "A short tour of a demo", Handler: Page}),
	site.Form(site.Route{Pattern: "/tour", Summary: "Go to a step of the tour, or skip it", Policy: guard.PolicySelf, Handler: Choose}),
)

// step is a step of the tour and the address that it leads to now.
type step struct {
	templates.TourStep
	url string
}

// Page lists the steps.
func Page(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v := s.ViewFor(r)
	sh := s.Shell(r, v, "tour", "Tour")
	var list []step
	for i, x := range templates.TourSteps() {
		list = append(list, step{x, address(s, r, v, i)})
	}
	return site.WritePage(w, r, http.StatusOK, tourPage(sh, list, sh.Tour.Offered))
}

// tourKept is how long a browser keeps that the tour was skipped.
const tourKept = 180 * 24 * time.Hour

// Choose leads to the page of a step, or back to the page that was left when the tour is skipped. The
// fragment moves the focus: to the step's text, or to the page's content.
func Choose(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	if err := site.ParseForm(r); err != nil {
		return err
	}
	v := s.ViewFor(r)
	if !s.Shell(r, v, "tour", "Tour").Tour.Offered {
		return fault.New(fault.NotFound, "There is a tour in a demo only.")
	}
	chosen := r.PostForm.Get("step")
	to := s.LocalPage(r.PostForm.Get("from"))
	if to == "" {
		to = "/"
	}
	to += "#main"
	if chosen != site.TourSkipped {
		n, err := strconv.Atoi(chosen)
		if err != nil || n < 0 || n >= len(templates.TourSteps()) {
			return fault.New(fault.Invalid, "The tour has no such step.")
		}
		chosen, to = strconv.Itoa(n), address(s, r, v, n)+"#tour-step"
	}
	http.SetCookie(w, &http.Cookie{Name: site.TourCookie, Value: chosen, Path: cmp.Or(s.Deps.Place.Base.Root, "/"),
		MaxAge: int(tourKept.Seconds()), HttpOnly: true, SameSite: http.SameSiteLaxMode})
	site.SeeOther(w, to)
	return nil
}

// address is where a step leads now. The order is that of templates.TourSteps.
func address(s *site.Site, r *http.Request, v answer.View, n int) string {
	switch n {
	case 1:
		if id := busiest(s, v); id != "" && auth.From(r.Context()).May(auth.Support) {
			return "/locate?q=" + url.QueryEscape(id)
		}
		return "/locate"
	case 2:
		return "/heat"
	case 3:
		return planAddress(s, r, v)
	case 4:
		return runAddress(s, r, v, func(api.Run) bool { return true })
	case 5:
		return runAddress(s, r, v, func(run api.Run) bool { return run.CanUndo })
	}
	return "/"
}

// planAddress is the filled-in form of the plan for the worst problem that has one; else the advice. What
// spreads the heat that the step before shows comes first: a hot shard, then a hot chunk.
func planAddress(s *site.Site, r *http.Request, v answer.View) string {
	may := problems.AdviceMay{Plan: s.Deps.Changes.Actions != nil && auth.From(r.Context()).May(auth.Operator), Try: s.Tries(v)}
	if may.Plan {
		found := slices.Clone(problems.Problems(v).Items)
		slices.SortStableFunc(found, func(a, b rules.Problem) int { return heatFirst(a) - heatFirst(b) })
		for _, p := range found {
			if to := problems.FirstPlan(v, p.ID, may); to != "" {
				return to
			}
		}
	}
	return "/advice"
}

func heatFirst(p rules.Problem) int {
	switch p.Rule {
	case rules.HotShard:
		return 0
	case rules.HotChunk, rules.HotDocument:
		return 1
	}
	return 2
}

// recentRuns is how many runs are looked through.
const recentRuns = 50

// runAddress is the page of the newest such run; else the list of runs, or what happened where nothing
// can be run.
func runAddress(s *site.Site, r *http.Request, v answer.View, is func(api.Run) bool) string {
	if s.Deps.Changes.Actions == nil {
		return "/activity"
	}
	if runs, err := changing.Runs(r.Context(), v, s.Deps.Changes.Actions, changing.RunsQuery{}, recentRuns); err == nil {
		for _, run := range runs.Items {
			if is(run) {
				return "/runs/" + url.PathEscape(run.ID)
			}
		}
	}
	return "/runs"
}

// writesOf is how far back the busiest project is looked for.
const writesOf = 5 * time.Minute

// busiest is the id of the project with most writes lately, in any collection; "" while nothing was counted.
func busiest(s *site.Site, v answer.View) (id string) {
	if s.Deps.Measured.Heat == nil {
		return ""
	}
	most := 0.0
	for _, c := range v.Table.Collections {
		projects := s.Deps.Measured.Heat.Window(c.NS, writesOf).Projects()
		if len(projects) == 0 || projects[0].Rate.PerSecond <= most {
			continue
		}
		if p, known := v.Dir.In(c.NS.Database(), projects[0].Project); known {
			most, id = projects[0].Rate.PerSecond, p.ID.Hex()
		}
	}
	return id
}
