// Package overview is the first page: is the cluster balanced, and what is wrong?
package overview

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"github.com/a-h/templ"

	"shardboard/internal/answer"
	"shardboard/internal/answer/frontpage"
	"shardboard/internal/answer/logbook"
	"shardboard/internal/answer/mapped"
	"shardboard/internal/answer/param"
	"shardboard/internal/answer/problems"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/message"
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
	if r.URL.Query().Get(answer.ShardsParam) == "all" { // the list had its place here
		w.Header().Set("Location", "/shards")
		w.WriteHeader(http.StatusSeeOther)
		return nil
	}
	sh := s.Shell(r, v, "overview", "Overview", "headline", "overview", "map")
	if v.Past == nil && !v.Table.Loaded { // the headline says it
		sh.Banners = slices.DeleteFunc(sh.Banners, func(b message.Message) bool { return b.Code == frontpage.ConnectionBanner })
	}
	return site.WritePage(w, r, http.StatusOK, page(sh, Headline(s, v), mapOf(s, r, v), Region(v), s.Offers(r, v.Table).Balancer()))
}

// bandsOfMany are the bands that the server draws of many shards: each has a shape for each shard.
const bandsOfMany = 2

// mapOf is the map of the largest collections. Its view is in the address too; one that
// cannot be read is that of everything.
func mapOf(s *site.Site, r *http.Request, v answer.View) templates.MapView {
	q, err := param.Read[mapped.MapQuery](r.URL.Query())
	if err != nil {
		q = mapped.MapQuery{By: mapped.MapByShard, To: 1}
	}
	q.NS, q.From, q.To = "", 0, 1
	bands := mapped.MapBrief
	if len(v.Table.Shards) > templates.ManyShards {
		bands = bandsOfMany
	}
	picture, err := mapped.PictureMap(s.MapView(v), q, bands)
	if err != nil { // only a view of one collection can fail
		return templates.MapView{}
	}
	m := templates.MapOf(v, picture)
	m.Whole = "/map"
	return m
}

// Headline is the part of the page above the map that is updated live. The map between both
// parts is updated by its own script.
func Headline(s *site.Site, v answer.View) templ.Component {
	return headline(frontpage.Overview(v), problems.WorstProblem(v, s.Tries(v)), s.Deps.Changes.PlanForms,
		s.LastRecorded(context.Background(), "/"), liveURL(v), answer.ProposalOf(v, s.Deps.Cluster.Proposer, s.Deps.Cluster.Kept))
}

// liveURL is what a region reads again that is not that of everybody; else "".
func liveURL(v answer.View) string {
	if v.Internal {
		return answer.Switched("/", true)
	}
	return ""
}

// Region is the part of the page below the map that is updated live.
func Region(v answer.View) templ.Component {
	n := news{State: answer.PartState(v, topology.PartEvents), LiveURL: liveURL(v)}
	if v.Table.Loaded {
		n.Moving = logbook.MovingNow(v, v.Table.Moves.List, logbook.FlightsBrief)
		n.Events, n.Hidden = frontpage.NewestEvents(v)
		if len(n.Events) == 0 && n.State.Code == "" {
			n.State = api.State{Code: "empty", Title: "Nothing has happened yet"}
			if n.Hidden > 0 {
				n.State.Title = "The log has entries of internal collections only."
			}
		}
	}
	return region(v, frontpage.Overview(v), n, templates.RefsOf(v.Table))
}

// news is what happens and has happened lately.
type news struct {
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
	window := known("always", "")
	size := templates.Figure{Text: "not known", Title: "The default depends on the release, which is not known yet"}
	if b.Window != "" {
		window = known(b.Window, "In the config servers' local time")
	}
	if b.ChunkBytes != nil {
		size = known(format.Bytes(*b.ChunkBytes), "")
		if b.ChunkDefault {
			size.Text += " (default)"
		}
	}
	now := templates.Figure{Text: topology.ReasonText(b.RoundReason), Title: b.RoundWhy}
	if b.RoundReason == "" {
		rounds := format.Count(*b.Rounds) + message.Plural(*b.Rounds, " round since start", " rounds since start")
		if now = known("idle, "+rounds, ""); *b.InRound {
			now = known("in a round, "+rounds, "")
		}
	}
	out := []templates.Fact{
		{Name: "Active", Figure: window}, {Name: "Chunk size", Figure: size}, {Name: "Now", Figure: now},
		{Name: "Last hour", Figure: known(b.LastHour.String(), "")},
	}
	for _, r := range b.Refused {
		out = append(out, templates.Fact{Name: "Refused", Figure: known(r.Setting+": "+cmp.Or(r.Value, "missing"), r.Why)})
	}
	if b.AutoMerge != nil && !*b.AutoMerge {
		out = append(out, templates.Fact{Name: "Merging", Figure: known("off", "Automatic merging is off for the whole cluster")})
	}
	if b.ForceJumbo {
		out = append(out, templates.Fact{Name: "Big chunks",
			Figure: known("moved", "attemptToBalanceJumboChunks: chunks above the limit move too")})
	}
	if b.WaitForDelete {
		out = append(out, templates.Fact{Name: "Deletion",
			Figure: known("waited for", "_waitForDelete: a move ends when the donor has deleted the range")})
	}
	if b.SecondaryThrottle != "" {
		out = append(out, templates.Fact{Name: "Throttle", Figure: known(b.SecondaryThrottle, "_secondaryThrottle")})
	}
	return out
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
