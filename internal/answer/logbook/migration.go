package logbook

import (
	"fmt"
	"strings"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/history"
	"shardboard/internal/topology"
)

// migrationOf is a move as the changelog tells of it.
func migrationOf(v answer.View, m history.Migration) api.Migration {
	out := api.Migration{NS: string(m.NS), Min: v.DocumentOf(m.Min), Max: v.DocumentOf(m.Max), From: m.From, To: m.To,
		Begin: m.Begin.UTC(), End: api.Time(m.End), State: string(m.Outcome), Internal: topology.IsInternal(m.NS), Cause: *whoDid(m.Cause),
		DonorMillis: stepMillis(m.Donor), DonorSteps: m.DonorSteps, RecipientMs: stepMillis(m.Recipient), RecipientSteps: m.RecipientSteps,
		Key: fmt.Sprintf("m%s-%d", v.NameOf(m.Min), m.Begin.UnixMilli()), Range: answer.RangeShown(v, m.NS, m.Min, m.Max),
		Label: m.Outcome.Label(), Phase: m.Outcome.Phase(), Took: m.Took(v.Now), Reached: reachedStep(m)}
	out.KeyProject = out.Range.From
	if m.Outcome == history.Aborted || m.Reason != "" {
		out.FailureReason = FailureReason(m.Why())
	}
	if m.Documents >= 0 {
		out.Documents = &m.Documents
		out.Copied = fmt.Sprintf("%s documents, %s copied", format.Count(m.Documents), format.Bytes(max(m.Bytes, 0)))
	}
	if m.Bytes >= 0 {
		out.Bytes = &m.Bytes
	}
	for i, d := range m.Donor {
		if d > 0 {
			out.Steps = append(out.Steps, api.MigrationStep{Number: i + 1, Name: stepName(i, m.DonorSteps), Took: d})
		}
	}
	addEstimate(&out, v.Now, m)
	return out
}

// addEstimate says when a running move will probably end.
func addEstimate(out *api.Migration, now time.Time, m history.Migration) {
	e := m.ETA
	switch {
	case m.Outcome != history.Running:
		return
	case e == nil:
		out.Expected = "too few moves before it for an estimate"
		return
	}
	of := "in all collections"
	if e.SameColl {
		of = "in this collection"
	}
	out.ETA = &api.MigrationEstimate{At: e.At.UTC(), Overdue: now.After(e.At), Basis: e.Basis, SameCollection: e.SameColl}
	out.ByWhat = fmt.Sprintf("The median duration of the %s moves before it %s.", format.Count(int64(e.Basis)), of)
	out.Expected = "expected to be done about " + format.Clock(e.At) + " (estimate)"
	if out.ETA.Overdue {
		out.Expected = "was expected to be done about " + format.Clock(e.At) + " (estimate)"
	}
}

func stepMillis(list []time.Duration) []int64 {
	out := make([]int64, len(list))
	for i, d := range list {
		out[i] = d.Milliseconds()
	}
	return out
}

// donorStepNames are those of the steps that a donor logs in releases up to
// 7.0. Source: MongoDB 5.0, migration_source_manager and its caller.
var donorStepNames = []string{
	"checks", "preparing", "starting the copy", "copying and catching up", "blocking writes", "commit and clean-up",
}

func stepName(i, of int) string {
	if of == len(donorStepNames) && i >= 0 && i < of {
		return donorStepNames[i]
	}
	return fmt.Sprintf("step %d of %d", i+1, of)
}

// reachedStep is how far a move got that failed without a reason.
func reachedStep(m history.Migration) string {
	if m.Outcome != history.Aborted || m.Reason != "" || m.DonorSteps == 0 {
		return ""
	}
	return fmt.Sprintf("The donor completed %d of %d steps.", len(m.Donor), m.DonorSteps)
}

// causes are in the order in which they are listed.
var causes = [...]history.By{history.ByUs, history.ByBalancer, history.ByOther, history.ByUnknown}

func failuresOf(g history.FailureGroup) api.MigrationFailures {
	out := api.MigrationFailures{Reason: g.Reason, Code: string(g.Code), Means: FailureAdvice(g.Code), Newest: g.Newest.Reason,
		Count: g.Count, Last: g.Newest.Begin.UTC(), NS: answer.Map(g.NS, answer.NamespaceText), By: map[string]int{},
		Sample: FailureReason(g.Newest.Why())}
	for by, n := range g.By {
		out.By[string(by)] = n
	}
	var who []string
	for _, by := range causes {
		if n := g.By[by]; n > 0 {
			who = append(who, by.Label()+" "+format.Count(int64(n)))
		}
	}
	out.Who = strings.Join(who, ", ")
	if out.Title, out.Advice = g.Reason, out.Means; g.Reason == "" {
		out.Title, out.Advice = g.Code.Meaning(), g.Code.Advice()
	}
	return out
}
