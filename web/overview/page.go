// Package overview is the first page: is the cluster balanced, and what is wrong?
package overview

import (
	"net/http"

	"github.com/a-h/templ"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// Page is the first page.
func Page(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, err := s.ViewAt(r)
	if err != nil {
		return err
	}
	if v.Internal, err = answer.ParseInternal(r.URL.Query()); err != nil {
		return err
	}
	sh := s.Shell(r, v, "overview", "Overview", "overview")
	return site.WritePage(w, r, http.StatusOK, page(sh, Region(s, v), s.Offers(r, v.Table).Balancer()))
}

// Region is the part of the page that is updated live.
func Region(s *site.Site, v answer.View) templ.Component {
	n := news{Worst: answer.WorstProblem(v, s.Tries(v)), MayPlan: s.Deps.PlanForms, State: answer.PartState(v, topology.PartEvents)}
	if v.Internal {
		n.LiveURL = answer.Switched("/", true)
	}
	if v.Table.Loaded {
		n.Moving = answer.MovingNow(v, v.Table.Moves.List, answer.FlightsBrief)
		n.Events, n.Hidden = answer.NewestEvents(v)
		if len(n.Events) == 0 && n.State.Code == "" {
			n.State = api.State{Code: "empty", Title: "Nothing has happened yet"}
			if n.Hidden > 0 {
				n.State.Title = "The log has entries of internal collections only."
			}
		}
	}
	return region(v, answer.Overview(v), n, templates.RefsOf(v.Table))
}

// news is the worst problem, and what happens and has happened lately.
type news struct {
	Worst   *api.WorstProblem
	MayPlan bool // this shardboard makes plans; who may is decided where they are made
	LiveURL string
	State   api.State
	Moving  api.MovingNow
	Events  []api.Event
	Hidden  int // entries of internal collections that are left out
}

// balancerFacts are what the balancer is set to and doing.
func balancerFacts(b api.Balancer) []templates.Fact {
	if b.Enabled == nil {
		return nil
	}
	known := func(text, title string) templates.Figure {
		return templates.Figure{Known: true, Text: text, Title: title}
	}
	window, size := known("always", ""), format.Bytes(b.ChunkBytes)
	if b.WindowStart != "" {
		window = known(b.WindowStart+"–"+b.WindowStop, "In the config servers' local time")
	}
	if b.ChunkDefault {
		size += " (default)"
	}
	now := templates.Figure{Text: topology.ReasonText(b.RoundReason), Title: b.RoundWhy}
	if b.RoundReason == "" {
		rounds := format.Count(*b.Rounds) + " rounds since start"
		if now = known("idle, "+rounds, ""); *b.InRound {
			now = known("in a round, "+rounds, "")
		}
	}
	return []templates.Fact{
		{Name: "Active", Figure: window}, {Name: "Chunk size", Figure: known(size, "")}, {Name: "Now", Figure: now},
		{Name: "Last hour", Figure: known(b.LastHour.String(), "")},
	}
}

// balancerLevel is how the setting is drawn.
func balancerLevel(b api.Balancer) string {
	switch b.Setting {
	case "on":
		return "ok"
	case "unknown":
		return "unknown"
	}
	return "off"
}
