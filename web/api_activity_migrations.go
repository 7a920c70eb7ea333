package web

import (
	"net/http"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/history"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// apiMigrations lists moves, newest first.
func (s *Site) apiMigrations(w http.ResponseWriter, r *http.Request) error {
	v, all, err := s.migrations(r)
	if err != nil {
		return err
	}
	internal, err := internalOf(r.URL.Query())
	if err != nil {
		return err
	}
	internal = internal || asksInternal(r.URL.Query().Get("ns"))
	limit, err := limitOf(r.URL.Query())
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
		case !internal && topology.IsInternal(m.NS) && !underWay(m):
			out.Hidden++
		case len(out.Items) < limit:
			out.Items = append(out.Items, migrationOf(v, m))
		}
	}
	out.AsOf, out.Stale = asOf(v, topology.PartEvents)
	return writeJSON(w, http.StatusOK, out)
}

// migrations are the moves that a request asks for.
func (s *Site) migrations(r *http.Request) (View, []history.Migration, error) {
	v, err := s.loadedAt(r)
	if err != nil {
		return v, nil, err
	}
	if err := known(v, topology.PartEvents, "The changelog entries"); err != nil {
		return v, nil, err
	}
	v.Eras = s.eras(v)
	list := v.migrations()
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

func migrationOf(v View, m history.Migration) api.Migration {
	out := api.Migration{NS: string(m.NS), Min: v.document(m.Min), Max: v.document(m.Max), From: m.From, To: m.To, Begin: m.Begin.UTC(), End: api.Time(m.End),
		State: string(m.Outcome), DonorMillis: stepMillis(m.Donor), DonorSteps: m.DonorSteps, RecipientMs: stepMillis(m.Recipient), RecipientSteps: m.RecipientSteps,
		Internal: topology.IsInternal(m.NS), Cause: *whoDid(m.Cause)}
	if m.Outcome == history.Aborted || m.Reason != "" {
		out.FailureReason = failureReason(m.Why())
	}
	if m.Documents >= 0 {
		out.Documents = &m.Documents
	}
	if m.Bytes >= 0 {
		out.Bytes = &m.Bytes
	}
	if e := m.ETA; e != nil {
		out.ETA = &api.MigrationEstimate{At: e.At.UTC(), Overdue: v.Now.After(e.At), Basis: e.Basis, SameCollection: e.SameColl}
	}
	return out
}

func stepMillis(list []time.Duration) []int64 {
	out := make([]int64, len(list))
	for i, d := range list {
		out[i] = d.Milliseconds()
	}
	return out
}

// apiFailures groups moves that failed by reason, the most frequent first.
func (s *Site) apiFailures(w http.ResponseWriter, r *http.Request) error {
	v, all, err := s.migrations(r)
	if err != nil {
		return err
	}
	internal, err := internalOf(r.URL.Query())
	if err != nil {
		return err
	}
	list := withoutInternal(all, internal || asksInternal(r.URL.Query().Get("ns")))
	out := api.FoldedList[api.MigrationFailures]{}
	for _, m := range all {
		if m.Outcome == history.Aborted {
			out.Hidden++
		}
	}
	for _, g := range history.Failures(list) {
		out.Hidden -= g.Count // what is left is what was left out
		row := api.MigrationFailures{Reason: g.Reason, Code: string(g.Code), Means: failureAdvice(g.Code), Newest: g.Newest.Reason,
			Count: g.Count, Last: g.Newest.Begin.UTC(), NS: []string{}, By: map[string]int{}}
		for _, ns := range g.NS {
			row.NS = append(row.NS, string(ns))
		}
		for by, n := range g.By {
			row.By[string(by)] = n
		}
		out.Items = append(out.Items, row)
	}
	out.AsOf, out.Stale = asOf(v, topology.PartEvents)
	return writeJSON(w, http.StatusOK, out)
}
