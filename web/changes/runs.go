package changes

import (
	"context"
	"net/http"

	"shardboard/internal/actions"
	"shardboard/internal/answer"
	"shardboard/internal/answer/changing"
	"shardboard/internal/answer/param"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// runList is a list of runs with its filter.
type runList struct {
	changing.RunsFound
	query  changing.RunsQuery
	v      answer.View
	MayNew bool // the viewer may begin a change

	Waiting []changing.WaitingPlan // for approval
}

// RunsPage lists what was changed from here, newest first.
func RunsPage(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	q, err := param.Read[changing.RunsQuery](r.URL.Query())
	if err != nil {
		return err
	}
	v := s.ViewFor(r)
	found, err := changing.Runs(r.Context(), v, s.Deps.Changes.Actions, q, answer.PageRows)
	if err != nil {
		return err
	}
	who := auth.From(r.Context())
	waiting, err := changing.WaitingPlans(r.Context(), v, s.Deps.Changes.Actions, who)
	if err != nil {
		return err
	}
	m := runList{found, q, v, who.May(auth.Operator) && s.Deps.Store.WhyReadOnly() == "", waiting}
	return site.WritePage(w, r, http.StatusOK, runsPage(s.Shell(r, v, "runs", "Runs"), m))
}

// runs is a part of the list of runs, newest first.
func runs(s *site.Site, r *http.Request) (out api.List[api.Run], err error) {
	q, err := param.Read[changing.RunsListQuery](r.URL.Query())
	if err != nil {
		return out, err
	}
	found, err := changing.Runs(r.Context(), s.ViewFor(r), s.Deps.Changes.Actions, q.RunsQuery, q.Limit)
	if err != nil {
		return out, err
	}
	out.Items, out.AsOf = found.Items, s.Deps.Now()
	if found.Next != "" {
		out.Next = answer.CursorOf(found.Next)
	}
	return out, nil
}

func (m runList) states() (out []templates.Option) {
	for _, state := range changing.RunStates() {
		out = append(out, templates.Option{Value: state, Text: changing.RunStateChoice(state), Selected: state == m.query.State})
	}
	return out
}

func (m runList) kinds(ctx context.Context) []templates.Option {
	out := []templates.Option{{Text: "any", Selected: m.query.Kind == ""}}
	for _, k := range actions.Descriptions() {
		out = append(out, templates.Option{Value: string(k.Kind), Text: templates.Words(ctx, k.Title), Selected: string(k.Kind) == m.query.Kind})
	}
	return out
}

// empty is shown instead of rows.
func (m runList) empty() api.State {
	switch {
	case len(m.Items) > 0:
		return api.State{}
	case m.query.Filters():
		return api.State{Code: "empty", Title: "No run matches the filter"}
	}
	return api.State{Code: "empty", Title: "No change was made with shardboard yet",
		Detail: m.v.Profile.Words("The pages of chunks, projects, shards and zones offer changes.")}
}
