package site

import (
	"context"
	"net/http"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/fault"
	"shardboard/internal/history"
)

// viewAt is the state that a request is about: of the time of ?at=, else the
// newest. The list of projects is always the newest one.
func (s *Site) ViewAt(r *http.Request) (answer.View, error) {
	v := s.ViewFor(r)
	text := r.URL.Query().Get("at")
	if text == "" {
		return v, nil
	}
	at, err := answer.ParseInstant("at", text, v.Now)
	if err != nil {
		return v, err
	}
	return s.ViewOf(r.Context(), v, at)
}

// viewOf is the state of a past time.
func (s *Site) ViewOf(ctx context.Context, now answer.View, at time.Time) (answer.View, error) {
	if err := s.KeepsHistory(now); err != nil {
		return now, err
	}
	t, err := s.pasts.Table(ctx, s.Deps.History, now.Table.ClusterID, at, now.Now)
	if err != nil {
		return now, err
	}
	m := history.Moment{Table: t, At: at}
	if err := s.Deps.History.Watch(ctx, now.Table.ClusterID, &m); err != nil {
		return now, err
	}
	v := now.Computable()
	v.Table, v.Now, v.Cost, v.Found = t, at, 0, nil
	v.Sizes, v.Writes = nil, nil // both are of now
	v.Past = &answer.PastTime{At: at, Now: now.Now, Watched: m.Watched, Last: m.Last, Next: m.Next, Rounds: now.Table.Rounds}
	found := v.Problems() // once for the page
	v.Found = &found
	v.Internal = now.Internal
	return s.Hide(v, now.Hidden), nil
}

// keepsHistory tells why there is no past to look at, if so.
func (s *Site) KeepsHistory(now answer.View) error {
	switch {
	case s.Deps.History == nil:
		return fault.New(fault.NotFound, "There is no history: this shardboard does not record it.")
	case !now.Table.Loaded:
		return now.Table.NotLoaded()
	case now.Table.ClusterID == "":
		return fault.New(
			fault.NotFound,
			"There is no history: it is recorded under the cluster's id, which shardboard may not read. It needs find on config.version.",
		)
	}
	return nil
}

// loadedAt is viewAt, once there is a table to answer from.
func (s *Site) LoadedAt(r *http.Request) (answer.View, error) {
	v, err := s.ViewAt(r)
	if err == nil && !v.Table.Loaded {
		err = v.Table.NotLoaded()
	}
	return v, err
}

// Eras are the balancer's settings over the time of a view's entries; nil when no
// history is kept or it cannot be read: then those of the table count.
func (s *Site) Eras(v answer.View) history.Eras {
	if s.KeepsHistory(v) != nil {
		return nil
	}
	eras, err := s.eras.Of(v, s.Deps.History)
	if err != nil {
		s.Deps.Log.Warn("history cannot be read", "err", err)
	}
	return eras
}
