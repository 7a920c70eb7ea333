package site

import (
	"net/http"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/topology"
	"shardboard/web/guard"
)

// againAfter is the Retry-After of a 503: the cluster is polled as often.
const againAfter = 2 * time.Second

// outageAdvice is what to do while the cluster does not answer; "" for every
// other failure.
func (s *Site) outageAdvice(err error) string {
	if fault.Title(err) != fault.NoAnswerTitle {
		return ""
	}
	at := s.Deps.Cluster.Watcher.Table().Health[topology.PartRouting].At
	if at.IsZero() {
		return "Try again in a few seconds. The cluster has not been read since shardboard was started."
	}
	return "Try again in a few seconds. Pages show the cluster as it was at " + at.UTC().Format("2006-01-02 15:04:05 UTC") + "."
}

// ProblemOf is a failure as the API tells it: of an outage what happened, what it
// means and what to do.
func (s *Site) ProblemOf(err error, instance string) api.Problem {
	p := api.ProblemOf(err, instance)
	if advice := s.outageAdvice(err); advice != "" {
		p.Title, p.Detail = fault.NoAnswerTitle, p.Detail+" "+advice
	}
	p.Detail = troubleText(err, p.Detail)
	if b, ours := asBug(err); ours {
		p.Detail = s.bugText(b)
	}
	return p
}

// ProblemText is a failure in one paragraph, for the form or the box that caused
// it. A 503 also says when to try again.
func (s *Site) ProblemText(w http.ResponseWriter, err error) string {
	if fault.Of(err) == fault.Unavailable {
		w.Header().Set("Retry-After", guard.WholeSeconds(againAfter))
	}
	text := fault.Text(err)
	if advice := s.outageAdvice(err); advice != "" {
		return fault.NoAnswerTitle + ". " + text + " " + advice
	}
	if b, ours := asBug(err); ours {
		s.Deps.Log.Error("request failed", "ref", b.ref, "err", err)
		return s.bugText(b)
	}
	return troubleText(err, text)
}
