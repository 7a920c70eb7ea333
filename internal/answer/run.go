package answer

import (
	"fmt"
	"strconv"

	"shardboard/internal/actions/engine"
	"shardboard/internal/api"
	"shardboard/internal/message"
	"shardboard/internal/sanitize"
)

// RunOf is a run, as far as those who look may see it, without its outcome.
func RunOf(v View, r engine.Run) api.Run {
	r = v.Run(r)
	out := api.Run{
		ID: r.ID, Plan: r.Plan, Kind: string(r.Kind), Summary: r.Summary.String(), State: string(r.State), Resolved: r.Resolved, Open: r.State.Open(),
		Why: WhyText(r), Steps: []api.RunStep{}, Rows: RowsOf(r.Rows), StartedAt: api.Time(r.Started), EndedAt: api.Time(r.Ended), By: r.By, ByName: r.ByName,
		Reason: r.Reason, StopBy: r.StopBy, StopAt: api.Time(r.StopAt), CanUndo: r.CanUndo(), UndoOf: r.UndoOf, UndoneBy: r.UndoneBy,
		CanFinish: r.CanFinish(), Standing: standingOf(r, v.Table.Balancer), Adaptations: adaptationsOf(r), Limits: limitsOf(r.Limits),
	}
	for _, s := range r.Steps {
		step := api.RunStep{Op: string(s.Op), DB: s.Command.DB, Command: api.Document(s.Command.Doc), State: string(s.State), Resolved: s.Resolved,
			Why: s.Why.String(), Proof: []api.StepProof{}, Events: StepEvents(s), Error: s.Error, Changed: DifferencesOf(s.Changed), SentAt: api.Time(s.Sent), EndedAt: api.Time(s.Ended),
			Done: s.Progress.Done, Total: s.Progress.Total, Try: s.Try + 1, Already: s.Already, Waiting: stepWaitOf(s)}
		if c := StepCode(s); c != "" {
			step.Code, step.Means = string(c), FailureAdvice(c)
		}
		for _, p := range s.Proven {
			f := p.Fact
			step.Proof = append(step.Proof, api.StepProof{Kind: string(f.Kind), NS: string(f.NS), Min: api.Document(f.Min), Max: api.Document(f.Max),
				Shard: f.Shard, Zone: f.Zone, Want: f.Want, Got: p.Got, At: api.Time(p.At)})
		}
		out.Steps = append(out.Steps, step)
	}
	return out
}

// stateLevel is how a state looks: red is what needs a person.
func StateLevel(s engine.State) string {
	switch s {
	case engine.Succeeded:
		return "ok"
	case engine.Failed, engine.Refused:
		return "bad"
	}
	return "note"
}

// runWhy is why a run or a step is as it is; waiting names what for.
func RunWhy(m message.Message) string { return sanitize.Shorten(m.String(), TextShown) }

func RunBy(r engine.Run) string {
	if r.ByName != "" {
		return sanitize.Truncate(sanitize.Sentence(r.ByName), 80)
	}
	return sanitize.Truncate(sanitize.Sentence(r.By), 80)
}

func TookText(r engine.Run) string {
	if r.Ended.IsZero() {
		return ""
	}
	return MillisText(r.Ended.Sub(r.Started).Milliseconds())
}

func RunProgress(r engine.Run) (string, float64) {
	ended, all := StepsDone(r)
	return fmt.Sprintf("%s of %s steps proven", strconv.Itoa(ended), strconv.Itoa(all)), Share(int64(ended), int64(all))
}

// triedAgain tells whether a step was put off and the next one is the same, so that
// a page lists only that one, with the number of its try.
func TriedAgain(r engine.Run, i int) bool {
	return r.Steps[i].State == engine.Deferred && i+1 < len(r.Steps) && r.Steps[i+1].Try == r.Steps[i].Try+1
}

// stepNumbers are the numbers of the steps as a page lists them: all tries of one
// have the same.
func StepNumbers(r engine.Run) []string {
	out := make([]string, len(r.Steps))
	n := 1
	for i := range r.Steps {
		out[i] = strconv.Itoa(n)
		if !TriedAgain(r, i) {
			n++
		}
	}
	return out
}

// stepsDone counts the steps that are done, of those that are to be done: one that
// was put off or planned again is counted where it is done.
func StepsDone(r engine.Run) (done, all int) {
	for _, s := range r.Steps {
		switch s.State {
		case engine.Deferred, engine.Replaced:
			continue
		case engine.Succeeded:
			done++
		}
		all++
	}
	return done, all
}

// logListed is how many entries a run's page has, the newest first.
const LogListed = 200
