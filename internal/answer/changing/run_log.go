package changing

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"shardboard/internal/actions/engine"
	"shardboard/internal/actions/operation"
	"shardboard/internal/answer"
	"shardboard/internal/answer/logbook"
	"shardboard/internal/api"
)

// logListed is how many entries the log of a run has.
const logListed = 200

// RunLog is what happened in a run, newest first, from the run itself and from the
// changelog.
func RunLog(v answer.View, whole engine.Run) []api.Event {
	r, seen := RunOf(v, whole), v.Run(whole)
	var out []api.Event
	note := func(at *time.Time, key, text string, failed bool) {
		if at != nil {
			out = append(out, api.Event{ID: key, Text: text, Failed: failed, Time: *at})
		}
	}
	failed := func(state string) bool {
		return state == string(engine.Failed) || state == string(engine.Refused)
	}
	note(r.StartedAt, "started", "Started by "+RunBy(r), false)
	note(r.StopAt, "held", "Stop requested by "+answer.PersonText(r.StopBy), false)
	numbers := stepNumbers(r.Steps)
	logged := map[string]bool{} // a step sees the entries of earlier ones in the same range, too
	for i, s := range r.Steps {
		key := strconv.Itoa(i + 1)
		if s.Op != string(operation.OpAwait) {
			note(s.SentAt, "sent-"+key, fmt.Sprintf("Step %d: intent written, then sent", numbers[i]), false)
		}
		note(s.EndedAt, "ended-"+key, fmt.Sprintf("Step %d: %s", numbers[i], engine.State(s.State).StepLabel()), failed(s.State))
		reasons := logbook.StepReasons(seen.Steps[i])
		for _, e := range seen.Steps[i].Events {
			if e.ID != "" && logged[e.ID] {
				continue
			}
			logged[e.ID] = true
			x := logbook.EventOf(v, logbook.ReadEvent(e).Because(reasons))
			x.ID = strings.Join([]string{"event", key, e.ID}, "-")
			x.Note = countedByServer(serverCounts(e))
			out = append(out, x)
		}
	}
	note(r.EndedAt, "ended", "The run ended: "+engine.State(r.State).Label(), failed(r.State))
	slices.SortStableFunc(out, func(a, b api.Event) int { return b.Time.Compare(a.Time) })
	return out[:min(len(out), logListed)]
}
