package activity

import (
	"net/http"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/history"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
	"shardboard/web/site"
)

// apiMigrations lists moves, newest first.
func ApiMigrations(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, all, err := migrations(s, r)
	if err != nil {
		return err
	}
	internal, err := answer.InternalOf(r.URL.Query())
	if err != nil {
		return err
	}
	internal = internal || answer.AsksInternal(r.URL.Query().Get("ns"))
	limit, err := answer.LimitOf(r.URL.Query())
	if err != nil {
		return err
	}
	state := history.Outcome(r.URL.Query().Get("state"))
	switch state {
	case "", history.Running, history.Committed, history.Done, history.Aborted, history.Unclear:
	default:
		return fault.New(fault.Invalid, "state is running, committed, done, aborted or unclear; %q is not.", sanitize.Truncate(string(state), 40))
	}
	out := api.FoldedList[api.Migration]{}
	for _, m := range all {
		switch {
		case state != "" && state != m.Outcome:
		case !internal && topology.IsInternal(m.NS) && !answer.UnderWay(m):
			out.Hidden++
		case len(out.Items) < limit:
			out.Items = append(out.Items, answer.MigrationOf(v, m))
		}
	}
	out.AsOf, out.Stale = answer.AsOf(v, topology.PartEvents)
	return site.WriteJSON(w, http.StatusOK, out)
}

// migrations are the moves that a request asks for.
func migrations(s *site.Site, r *http.Request) (answer.View, []history.Migration, error) {
	v, err := s.LoadedAt(r)
	if err != nil {
		return v, nil, err
	}
	if err := answer.Known(v, topology.PartEvents, "The changelog entries"); err != nil {
		return v, nil, err
	}
	v.Eras = s.Eras(v)
	list := v.Migrations()
	if ns := topology.Namespace(r.URL.Query().Get("ns")); ns != "" {
		kept := list[:0]
		for _, m := range list {
			if m.NS == ns {
				kept = append(kept, m)
			}
		}
		list = kept
	}
	return v, list, nil
}

// apiFailures groups moves that failed by reason, the most frequent first.
func ApiFailures(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, all, err := migrations(s, r)
	if err != nil {
		return err
	}
	internal, err := answer.InternalOf(r.URL.Query())
	if err != nil {
		return err
	}
	list := answer.WithoutInternal(all, internal || answer.AsksInternal(r.URL.Query().Get("ns")))
	out := api.FoldedList[api.MigrationFailures]{}
	for _, m := range all {
		if m.Outcome == history.Aborted {
			out.Hidden++
		}
	}
	for _, g := range history.Failures(list) {
		out.Hidden -= g.Count // what is left is what was left out
		row := api.MigrationFailures{Reason: g.Reason, Code: string(g.Code), Means: answer.FailureAdvice(g.Code), Newest: g.Newest.Reason,
			Count: g.Count, Last: g.Newest.Begin.UTC(), NS: []string{}, By: map[string]int{}}
		for _, ns := range g.NS {
			row.NS = append(row.NS, string(ns))
		}
		for by, n := range g.By {
			row.By[string(by)] = n
		}
		out.Items = append(out.Items, row)
	}
	out.AsOf, out.Stale = answer.AsOf(v, topology.PartEvents)
	return site.WriteJSON(w, http.StatusOK, out)
}
