package heat

import (
	"fmt"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/heat"
	"shardboard/web/site"
	"shardboard/web/words"
)

// heatList says of which time a list is, or why of none: an empty list alone would
// not tell whether nothing was written or nothing was counted.
func heatList(s *site.Site, v answer.View, windows []heat.Window, d time.Duration) api.HeatList {
	out := api.HeatList{Window: d.String()}
	var from, to, asOf time.Time
	for i, w := range windows {
		h, _ := s.Deps.Heat.Health(w.NS)
		out.Stale = out.Stale || h.Err != nil || w.Seconds == 0 || v.Now.Sub(w.To) > answer.StaleAfter(w.Method)
		if i == 0 || w.Seconds < out.CoveredSeconds {
			out.CoveredSeconds = w.Seconds
		}
		if w.Seconds == 0 {
			if out.Reason == "" {
				out.Reason, out.Why = notYet(w, h)
			}
			continue
		}
		if from.IsZero() || w.From.Before(from) {
			from = w.From
		}
		if w.To.After(to) {
			to = w.To
		}
		if asOf.IsZero() || w.To.Before(asOf) {
			asOf = w.To
		}
	}
	if len(windows) == 0 {
		out.Stale, out.Reason, out.Why = true, "noCollection", "No collection whose writes can be counted"+". "+"Counting needs a collection to which every write adds a row with a new ObjectID, such as Yorkie's changes; a profile file names others (writes: appended)."
	}
	out.From, out.To, out.AsOf = api.Time(from), api.Time(to), api.Time(asOf)
	return out
}

// notYet is why nothing was counted of a collection.
func notYet(w heat.Window, h heat.Health) (code, sentence string) {
	if h.Err == nil {
		return "begun", fmt.Sprintf("Nothing was counted of %s yet. %s", string(w.NS), words.T("heat.begin.detail."+w.Method.String()))
	}
	code = failedCount(h).Code
	return code, words.Code("heat.notyet", code, map[string]string{"name": string(w.NS), "error": fault.Text(h.Err)})
}
