package changes

import (
	"context"
	"net/http"

	"shardboard/internal/actions/engine"
	"shardboard/internal/answer"
	"shardboard/internal/answer/changing"
	"shardboard/internal/answer/logbook"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/balance"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// region is a run as everybody sees it.
type region struct {
	api.Run
	v     answer.View
	refs  templates.Refs
	whole engine.Run // with what only the log and migrations in flight need
}

// shownRun is a run, and what its viewer may do with it.
type shownRun struct {
	region
	MayAct  bool
	Problem string // why a request was refused
	Items   *batchItems
}

// RunPage shows how far a run is and what is proven. Its region follows the run;
// what somebody may do with it stands beside.
func RunPage(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	run, err := runOf(s, r)
	if err != nil {
		return err
	}
	return writeRun(s, w, r, http.StatusOK, run, "")
}

func writeRun(s *site.Site, w http.ResponseWriter, r *http.Request, status int, run engine.Run, refusal string) error {
	v := s.ViewFor(r)
	m := shownRun{region: regionOf(r.Context(), s, v, run), Problem: refusal,
		MayAct: auth.From(r.Context()).May(auth.Operator) && s.Deps.Store.WhyReadOnly() == ""}
	var err error
	if m.Items, err = batchItemsOf(s, r, v, run); err != nil {
		return err
	}
	return site.WritePage(w, r, status, runPage(s.Shell(r, v, "runs", m.Title.String(), "run:"+run.ID), m))
}

// endsDraining reports whether the cluster's release can end the draining of a shard.
func (m region) endsDraining() bool {
	return balance.ReleaseOf(m.v.Table.ServerInfo.Version).AtLeast(8, 3, 0)
}

// run is the run that the address names, with its outcome.
func run(s *site.Site, r *http.Request) (api.Run, error) {
	run, err := runOf(s, r)
	if err != nil {
		return api.Run{}, err
	}
	return changing.RunWithOutcome(r.Context(), s.ViewFor(r), s.Deps.Changes.Actions, s.Deps.Changes.Outcomes, run)
}

// regionOf is a run with its outcome. If the outcome cannot be read the page says so:
// otherwise it would look as if nothing had been measured.
func regionOf(ctx context.Context, s *site.Site, v answer.View, run engine.Run) region {
	out, err := changing.RunWithOutcome(ctx, v, s.Deps.Changes.Actions, s.Deps.Changes.Outcomes, run)
	if err != nil {
		s.Deps.Log.Warn("read the outcome of a run", "run", run.ID, "err", err)
	}
	return region{Run: out, v: v, refs: templates.RefsOf(v.Table), whole: run}
}

// sentences writes messages with links.
func (m region) sentences() templates.Sentences { return templates.SentencesOf(m.v) }

// moving is the migration that a step has begun.
func (m region) moving(i int) api.MovingNow {
	return logbook.MovingNow(m.v, logbook.MovingStep(m.v, m.whole.Steps[i]), 1)
}

// stateLevel is how a state looks: red is what needs a person.
func stateLevel(state string) string {
	switch engine.State(state) {
	case engine.Succeeded:
		return "ok"
	case engine.Failed, engine.Refused:
		return "bad"
	}
	return "note"
}
