// Package postmortem answers what happened between two times, as a text to keep.
package postmortem

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"shardboard/internal/actions/engine"
	"shardboard/internal/answer"
	"shardboard/internal/answer/changing"
	"shardboard/internal/answer/logbook"
	"shardboard/internal/answer/param"
	"shardboard/internal/answer/problems"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/history"
	"shardboard/internal/message"
	"shardboard/internal/outcome"
	"shardboard/internal/rules"
	"shardboard/internal/sanitize"
)

const (
	// postmortemSpan is how long a post-mortem is where its address names no begin.
	postmortemSpan    = time.Hour
	postmortemChanges = 300
	// postmortemRead is how many entries of history one post-mortem reads: several of one minute are one line.
	postmortemRead = 3000
)

// PostmortemSources are what a post-mortem is made of. Each may be nil: its part is then said to be not known.
type PostmortemSources struct {
	Problems problems.PastProblems
	Runs     engine.Service
	Outcomes changing.Outcomes
	History  *history.Past
	// NoHistory is why there is no history; nil: there is.
	NoHistory error
}

// Parameters are the times of an address that is read now.
func Parameters(from, to *time.Time, now time.Time) param.List {
	return append(problems.Span(from, to, now, postmortemSpan), param.Check(func() error {
		if to.Sub(*from) > problems.PostmortemLongest {
			return fault.New(fault.Invalid, "A post-mortem covers at most 7 days.")
		}
		return nil
	}))
}

// Postmortem is what was wrong in [from, to], what was done, by whom, and what that changed.
func Postmortem(ctx context.Context, v answer.View, of PostmortemSources, from, to time.Time) (api.Postmortem, error) {
	out := api.Postmortem{From: from, To: to, AsOf: *api.Time(v.Now), Problems: []api.PastProblem{}, NotJudged: []api.HistoryGap{},
		Changes: []api.PostmortemChange{}, Gaps: []api.HistoryGap{}}
	if of.Problems == nil {
		out.NotJudged = problems.NotJudgedIn(nil, from, to)
	} else {
		list, notJudged, err := problems.ProblemsOfTime(ctx, v, of.Problems, from, to)
		if err != nil {
			return out, err
		}
		out.NotJudged = notJudged
		slices.Reverse(list)
		for _, p := range list {
			out.Problems = append(out.Problems, problems.PastProblemOf(v, p, of.History != nil))
		}
	}
	if of.Runs != nil {
		var err error
		if out.Runs, err = postmortemRuns(ctx, v, of, from, to); err != nil {
			return out, err
		}
	}
	if of.NoHistory != nil {
		out.NoHistory = fault.Text(of.NoHistory)
	} else if err := postmortemHistory(ctx, v, of.History, &out); err != nil {
		return out, err
	}
	out.Summary = postmortemSummary(out)
	return out, nil
}

// postmortemRuns are the runs that lasted at some time in [from, to], oldest first.
func postmortemRuns(ctx context.Context, v answer.View, of PostmortemSources, from, to time.Time) ([]api.PostmortemRun, error) {
	out := []api.PostmortemRun{}
	for cursor, looked := "", 0; looked < changing.RunsLooked; {
		runs, next, err := of.Runs.Runs(ctx, cursor, answer.PageRows)
		if err != nil {
			return nil, err
		}
		for _, r := range runs {
			if r.Parent != "" || r.Started.IsZero() || r.Started.After(to) || !r.Ended.IsZero() && r.Ended.Before(from) {
				continue
			}
			one, err := postmortemRun(ctx, v, of.Outcomes, r)
			if err != nil {
				return nil, err
			}
			out = append(out, one)
		}
		if looked, cursor = looked+len(runs), next; next == "" {
			break
		}
	}
	slices.SortStableFunc(out, func(a, b api.PostmortemRun) int { return a.StartedAt.Compare(*b.StartedAt) })
	return out, nil
}

func postmortemRun(ctx context.Context, v answer.View, measured changing.Outcomes, r engine.Run) (api.PostmortemRun, error) {
	x := changing.RunOf(v, r)
	out := api.PostmortemRun{ID: x.ID, Kind: x.Kind, Summary: x.Summary.String(), State: x.State, By: x.By, ByName: changing.RunBy(x),
		Approved: x.Approved, Reason: x.Reason, StartedAt: x.StartedAt, EndedAt: x.EndedAt, UndoOf: x.UndoOf, UndoneBy: x.UndoneBy,
		Shards: []api.OutcomeShard{}}
	if measured == nil {
		return out, nil
	}
	o, err := measured.Of(ctx, r)
	if err != nil && fault.Of(err) != fault.NotFound {
		return out, err
	}
	if err == nil {
		x.Outcome = changing.RunOutcome(v, o)
	}
	if changing.AsksOutcome(x) {
		out.Verdict, out.Outcome = changing.OutcomeLabel(x), x.Outcome.Text
		if x.Outcome.State == string(outcome.Measured) || x.Outcome.State == string(outcome.SoFar) || x.Outcome.State == string(outcome.Shared) {
			out.Shards = x.Outcome.Shards
		}
	}
	return out, nil
}

// postmortemHistory adds what the cluster was seen to change. Of the log it takes failures only: what succeeded was
// seen too.
func postmortemHistory(ctx context.Context, v answer.View, kept *history.Past, out *api.Postmortem) error {
	failures := failureLines{}
	q := logbook.HistoryQuery{From: out.From, To: out.To, Limit: api.MaxLimit}
	for read := 0; ; {
		got, err := logbook.History(ctx, v, kept, q)
		if err != nil {
			return err
		}
		for _, i := range got.Items {
			c, ok := postmortemChange(i)
			if !ok {
				continue
			}
			failed := failedRange(i)
			if n, ok := failures.lineOf(failed, i.Time); ok {
				if len(c.Text) > len(out.Changes[n].Text) { // the entry with the reason
					out.Changes[n].Text, out.Changes[n].Kind = c.Text, c.Kind
				}
				continue
			}
			if n := len(out.Changes) - 1; n >= 0 && samePostmortemChange(out.Changes[n], c) {
				failures.add(failed, i.Time, n)
				out.Changes[n].Count++
				continue
			}
			failures.add(failed, i.Time, len(out.Changes))
			if len(out.Changes) == postmortemChanges {
				out.MoreChanges = true
				return nil
			}
			out.Changes = append(out.Changes, c)
		}
		out.Gaps = append(out.Gaps, got.Gaps...)
		read += len(got.Items)
		if got.Next == "" {
			return nil
		}
		if read >= postmortemRead {
			out.MoreChanges = true
			return nil
		}
		if q.Cursor, err = param.CursorKey(string(got.Next)); err != nil {
			return err
		}
	}
}

// oneFailure is how far apart the entries of one failed move are at most: its donor writes that it ended, and the
// server that asked for it that it failed.
const oneFailure = 5 * time.Second

// failureLines are the lines of failed moves, by collection and range.
type failureLines map[string]struct {
	at   time.Time
	line int
}

// failedRange is the collection and range of a failed move; "" of anything else.
func failedRange(i api.HistoryItem) string {
	if i.Event == nil || !i.Failed {
		return ""
	}
	var of struct {
		Min json.RawMessage `json:"min"`
	}
	if err := json.Unmarshal(i.Event.Details, &of); err != nil || of.Min == nil {
		return ""
	}
	return i.Event.NS + " " + string(of.Min)
}

// lineOf is the line of a failed move of which an entry was listed shortly before or after a time.
func (f failureLines) lineOf(move string, at time.Time) (line int, ok bool) {
	had, ok := f[move]
	return had.line, ok && move != "" && at.Sub(had.at).Abs() <= oneFailure
}

func (f failureLines) add(move string, at time.Time, line int) {
	f[move] = struct {
		at   time.Time
		line int
	}{at, line}
}

// samePostmortemChange tells whether two changes are one line: the same, by the same, in one minute.
func samePostmortemChange(a, b api.PostmortemChange) bool {
	return a.Text == b.Text && a.By == b.By && a.Run == b.Run && a.Time.Truncate(time.Minute).Equal(b.Time.Truncate(time.Minute))
}

func postmortemChange(i api.HistoryItem) (out api.PostmortemChange, ok bool) {
	out = api.PostmortemChange{Time: i.Time, Kind: i.Kind, Count: 1, Failed: i.Failed}
	if i.Event != nil {
		if !i.Failed || i.Cause == nil && i.ReasonCode == "" && i.Reason == "" {
			return out, false
		}
		out.Kind, out.Text = i.Event.What, "failed: "+i.Event.What+" of "+i.Event.NS
		if i.Meaning != "" {
			out.Text += ": " + i.Meaning
		}
	} else {
		out.Text = changeText(i)
	}
	if i.Cause != nil {
		out.By, out.Run = i.Cause.Label, i.Cause.Run
	}
	out.Text = sanitize.Line(out.Text)
	return out, true
}

// changeText is an observed change as a sentence without its time.
func changeText(i api.HistoryItem) string {
	switch history.Kind(i.Kind) {
	case history.Moved:
		return fmt.Sprintf("chunk of %s moved from %s to %s", i.NS, i.From, i.To)
	case history.Split:
		return fmt.Sprintf("chunk of %s split", i.NS)
	case history.Merged:
		return fmt.Sprintf("chunks of %s merged", i.NS)
	case history.CollectionCreated:
		return fmt.Sprintf("collection %s created", i.NS)
	case history.CollectionDropped:
		return fmt.Sprintf("collection %s dropped", i.NS)
	case history.CollectionRemade:
		return fmt.Sprintf("collection %s created again, resharded or its key refined", i.NS)
	case history.CollectionChanged:
		return fmt.Sprintf("balancing settings of %s changed", i.NS)
	case history.ShardAdded:
		return fmt.Sprintf("shard %s added", i.Subject)
	case history.ShardRemoved:
		return fmt.Sprintf("shard %s removed", i.Subject)
	case history.ShardDraining:
		return fmt.Sprintf("draining of %s began", i.Subject)
	case history.ShardKept:
		return fmt.Sprintf("draining of %s was cancelled", i.Subject)
	case history.ShardZones:
		return fmt.Sprintf("zones of %s changed from %q to %q", i.Subject, i.From, i.To)
	case history.ZoneAdded:
		return fmt.Sprintf("range of zone %s added in %s", i.Subject, i.NS)
	case history.ZoneRemoved:
		return fmt.Sprintf("range of zone %s removed from %s", i.Subject, i.NS)
	case history.BalancerOn:
		return "balancer turned on"
	case history.BalancerOff:
		return "balancer turned off"
	case history.BalancerChanged:
		return "mode, window or chunk size of the balancer changed"
	case history.DatabaseCreated:
		return fmt.Sprintf("database %s created", i.Subject)
	case history.DatabaseDropped:
		return fmt.Sprintf("database %s dropped", i.Subject)
	case history.PrimaryMoved:
		return fmt.Sprintf("primary shard of %s moved from %s to %s", i.Subject, i.From, i.To)
	}
	return i.Kind
}

// postmortemSummary is the whole in one sentence.
func postmortemSummary(p api.Postmortem) string {
	worst, critical := "", 0
	for _, x := range p.Problems {
		if x.Severity == string(rules.Critical) {
			critical++
		}
	}
	n := len(p.Problems)
	switch {
	case n == 0 && len(p.NotJudged) > 0:
		worst = "No problem is known, but nobody checked all the time"
	case n == 0:
		worst = "No problem was found"
	default:
		worst = format.Count(int64(n)) + message.Plural(n, " problem", " problems")
		if critical > 0 {
			worst += fmt.Sprintf(", %d critical", critical)
		}
	}
	if p.Runs == nil {
		return worst + "."
	}
	return worst + "; " + format.Count(int64(len(p.Runs))) + message.Plural(len(p.Runs), " run", " runs") + " of shardboard."
}

// SharesText says which part of the writes a shard took before and after a run: "shard-rs-1 88 % → 41 %".
func SharesText(x api.OutcomeShard) string {
	share := func(r *api.OutcomeRate) string {
		if r == nil {
			return "not counted"
		}
		return format.Share(r.Share)
	}
	return x.Shard + " " + share(x.Before) + " → " + share(x.After)
}

// ChangeCount is how often a change happened within its minute; "" for once.
func ChangeCount(c api.PostmortemChange) string {
	if c.Count < 2 {
		return ""
	}
	return " (" + format.Count(int64(c.Count)) + " times)"
}

// RunPostmortemURL leads to the post-mortem of a run's time; "" before it began.
func RunPostmortemURL(r api.Run, now time.Time) string {
	if r.StartedAt == nil {
		return ""
	}
	end := now
	if r.EndedAt != nil {
		end = *r.EndedAt
	}
	return problems.PostmortemURL(*r.StartedAt, end, now)
}

// PostmortemMarkdown is a post-mortem for a ticket or a wiki. Names come from the cluster: none of them is markup.
func PostmortemMarkdown(p api.Postmortem) string {
	var b strings.Builder
	line := func(pattern string, args ...any) { fmt.Fprintf(&b, pattern+"\n", args...) }
	line("# Post-mortem: %s to %s\n", answer.FullInstant(p.From), answer.FullInstant(p.To))
	line("%s\n", p.Summary)
	line("## What was wrong\n")
	for _, x := range p.Problems {
		line("- **%s**, %s: %s", rules.Severity(x.Severity).Name(), problems.PastProblemTime(x), markdownText(x.Title.String()))
		if x.Worst != "" {
			line("  - Worst at %s: %s", answer.FullInstant(x.WorstAt), markdownText(x.Worst))
		}
		for _, c := range x.Consequences {
			line("  - With it: %s", markdownText(c.Title.String()))
		}
	}
	if len(p.Problems) == 0 {
		line("No problem is known.")
	}
	if text := problems.NotJudgedText(p.NotJudged); text != "" {
		line("\n%s", text)
	}
	line("\n## What was done with shardboard\n")
	switch {
	case p.Runs == nil:
		line("Changes are switched off here.")
	case len(p.Runs) == 0:
		line("Nothing.")
	}
	for _, r := range p.Runs {
		line("- %s: %s, by %s, %s", answer.FullInstant(*r.StartedAt), markdownText(strings.TrimSuffix(r.Summary, ".")),
			markdownText(r.ByName), engine.State(r.State).Label())
		if r.Approved != "" {
			line("  - Approved by %s", markdownText(r.Approved))
		}
		if r.Reason != "" {
			line("  - Reason: %s", markdownText(r.Reason))
		}
		if r.Verdict != "" {
			line("  - Did it help? %s %s", markdownText(r.Verdict), markdownText(r.Outcome))
		}
		for _, x := range r.Shards {
			line("  - %s", markdownText(SharesText(x)))
		}
	}
	line("\n## What the cluster changed\n")
	switch {
	case p.NoHistory != "":
		line("Not known: %s", markdownText(p.NoHistory))
	case len(p.Changes) == 0:
		line("Nothing was seen.")
	}
	for _, c := range p.Changes {
		line("- %s: %s%s%s", answer.FullInstant(c.Time), markdownText(strings.TrimSuffix(c.Text, ".")), ChangeCount(c), byText(c.By))
	}
	if p.MoreChanges {
		line("- And more, not listed here.")
	}
	line("\nMade by shardboard at %s.", answer.FullInstant(p.AsOf))
	return b.String()
}

func byText(by string) string {
	if by == "" {
		return ""
	}
	return ", by: " + markdownText(by)
}

// markdownText escapes what Markdown or HTML in it would read as markup.
func markdownText(s string) string {
	s = strings.ReplaceAll(s, "\u202f", " ") // thin spaces before units
	return strings.NewReplacer("{", `\{`, "}", `\}`).Replace(answer.MarkdownLetters.Replace(cmp.Or(sanitize.Line(s), "–")))
}
