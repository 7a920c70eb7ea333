package answer

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/history"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// MigrationsQuery chooses moves that the changelog has.
type MigrationsQuery struct {
	NS       topology.Namespace // "" for all
	State    history.Outcome    // "" for all
	Internal bool               // with the server's own collections
	Limit    int
}

// ParseMigrationsQuery reads the parameters of an address.
func ParseMigrationsQuery(in url.Values) (MigrationsQuery, error) {
	q := MigrationsQuery{NS: topology.Namespace(in.Get("ns")), State: history.Outcome(in.Get("state"))}
	var err error
	if q.Internal, err = ParseInternal(in); err != nil {
		return q, err
	}
	q.Internal = q.Internal || asksInternal(string(q.NS))
	if q.Limit, err = ParseLimit(in); err != nil {
		return q, err
	}
	switch q.State {
	case "", history.Running, history.Committed, history.Done, history.Aborted, history.Unclear:
		return q, nil
	}
	return q, fault.New(fault.Invalid, "state must be running, committed, done, aborted or unclear, not %q.",
		sanitize.Truncate(string(q.State), 40))
}

// Migrations lists moves, newest first.
func Migrations(v View, q MigrationsQuery) (api.FoldedList[api.Migration], error) {
	var out api.FoldedList[api.Migration]
	all, err := loggedMigrations(v, q.NS)
	if err != nil {
		return out, err
	}
	for _, m := range all {
		switch {
		case q.State != "" && q.State != m.Outcome:
		case !q.Internal && isFolded(m):
			out.Hidden++
		case len(out.Items) < q.Limit:
			out.Items = append(out.Items, migrationOf(v, m))
		}
	}
	out.AsOf, out.Stale = AsOf(v, topology.PartEvents)
	return out, nil
}

// MigrationFailures groups the moves that failed by reason, the most frequent
// first.
func MigrationFailures(v View, q MigrationsQuery) (api.FoldedList[api.MigrationFailures], error) {
	var out api.FoldedList[api.MigrationFailures]
	all, err := loggedMigrations(v, q.NS)
	if err != nil {
		return out, err
	}
	list, _ := withoutFolded(all, q.Internal)
	for _, m := range all {
		if m.Outcome == history.Aborted {
			out.Hidden++
		}
	}
	for _, g := range history.Failures(list) {
		out.Hidden -= g.Count // what remains was left out
		out.Items = append(out.Items, failuresOf(g))
	}
	out.AsOf, out.Stale = AsOf(v, topology.PartEvents)
	return out, nil
}

func loggedMigrations(v View, ns topology.Namespace) ([]history.Migration, error) {
	if err := Known(v, topology.PartEvents, "The changelog entries"); err != nil {
		return nil, err
	}
	list := v.Migrations()
	if ns == "" {
		return list, nil
	}
	var out []history.Migration
	for _, m := range list {
		if m.NS == ns {
			out = append(out, m)
		}
	}
	return out, nil
}

// isFolded tells whether a move is left out unless internal collections are
// asked for. One that may still keep two shards busy never is.
func isFolded(m history.Migration) bool {
	return topology.IsInternal(m.NS) && m.Outcome != history.Running && m.Outcome != history.Committed
}

// withoutFolded leaves out the ended moves of the server's own collections, and
// says how many.
func withoutFolded(all []history.Migration, internal bool) (list []history.Migration, hidden int) {
	if internal {
		return all, 0
	}
	list = make([]history.Migration, 0, len(all))
	for _, m := range all {
		if !isFolded(m) {
			list = append(list, m)
		}
	}
	return list, len(all) - len(list)
}

func migrationOf(v View, m history.Migration) api.Migration {
	out := api.Migration{NS: string(m.NS), Min: v.document(m.Min), Max: v.document(m.Max), From: m.From, To: m.To,
		Begin: m.Begin.UTC(), End: api.Time(m.End), State: string(m.Outcome), Internal: topology.IsInternal(m.NS), Cause: *whoDid(m.Cause),
		DonorMillis: stepMillis(m.Donor), DonorSteps: m.DonorSteps, RecipientMs: stepMillis(m.Recipient), RecipientSteps: m.RecipientSteps,
		Key: fmt.Sprintf("m%s-%d", v.NameOf(m.Min), m.Begin.UnixMilli()), Range: rangeShown(v, m.NS, m.Min, m.Max),
		Label: m.Outcome.Label(), Phase: m.Outcome.Phase(), Took: m.Took(v.Now), Reached: reachedStep(m)}
	if m.Outcome == history.Aborted || m.Reason != "" {
		out.FailureReason = failureReason(m.Why())
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
		Count: g.Count, Last: g.Newest.Begin.UTC(), NS: []string{}, By: map[string]int{},
		Sample: failureReason(g.Newest.Why())}
	for _, ns := range g.NS {
		out.NS = append(out.NS, string(ns))
	}
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
