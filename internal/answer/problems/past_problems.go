package problems

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/answer/logbook"
	"shardboard/internal/answer/param"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/rules"
	"shardboard/internal/sanitize"
	"shardboard/internal/store"
	"shardboard/internal/topology"
)

// PostmortemLongest is how long the time of a post-mortem is at most.
const PostmortemLongest = 7 * 24 * time.Hour

// PastProblems are the problems that were found in the past: rules.ProblemHistory.
type PastProblems interface {
	// At is what was found at a time; judged is false where nobody looked then.
	At(ctx context.Context, cluster string, at time.Time) (found rules.View, judged bool, err error)
	// Between are the problems that lasted at some time in [from, to], the newest begin first.
	Between(ctx context.Context, cluster string, from, to time.Time) ([]rules.PastProblem, error)
	// Judged are the times in [from, to] in which somebody looked, oldest first.
	Judged(ctx context.Context, cluster string, from, to time.Time) ([]store.JudgedSpan, error)
}

// PastProblemsQuery chooses past problems.
type PastProblemsQuery struct {
	From, To    time.Time
	Rule, Shard string // "" for all
	Limit       int
	Cursor      string
}

// Parameters are those of an address that is read now. Without a begin it reaches as far as problems are remembered.
func (q *PastProblemsQuery) Parameters(now time.Time) param.List {
	return append(Span(&q.From, &q.To, now, rules.ProblemsKept),
		param.Of("rule", "of this rule", func(rule string) error {
			if q.Rule = rule; !slices.Contains(rules.Rules(), rules.Rule(rule)) {
				return fault.New(fault.Invalid, "There is no rule called %q.", sanitize.Truncate(rule, 60))
			}
			return nil
		}),
		param.Text(&q.Shard, "shard", "about this shard"),
		param.Cursor(&q.Cursor), param.Limit(&q.Limit))
}

// Span is the time from from= to to=, or of last=; without them so long, up to now.
func Span(from, to *time.Time, now time.Time, long time.Duration) param.List {
	var last string
	return param.List{
		logbook.Last(&last),
		answer.TimeUpTo(from, "from", "RFC 3339 or milliseconds since 1970; default 30 days before to, of a post-mortem an hour", now),
		answer.TimeUpTo(to, "to", "likewise; default now", now),
		param.Check(func() error {
			if to.IsZero() {
				*to = now.UTC().Truncate(time.Millisecond)
			}
			if from.IsZero() {
				*from = to.Add(-cmp.Or(logbook.LongOf(last), long))
			}
			if !from.Before(*to) {
				return fault.New(fault.Invalid, "from must be before to.")
			}
			return nil
		}),
	}
}

// URL is the address of the list from a cursor on.
func (q PastProblemsQuery) URL(cursor api.Cursor) string {
	u := url.Values{}
	answer.SetParameter(u, "rule", q.Rule)
	answer.SetParameter(u, "shard", q.Shard)
	answer.SetParameter(u, "from", answer.AtText(q.From))
	answer.SetParameter(u, "to", answer.AtText(q.To))
	answer.SetParameter(u, "cursor", string(cursor))
	return answer.Address("/advice/past", u, 1)
}

// PastProblemList lists the problems of a time span, the newest begin first. timed: there are pages of past times.
func PastProblemList(ctx context.Context, v answer.View, kept PastProblems, timed bool, q PastProblemsQuery) (api.PastProblems, error) {
	out := api.PastProblems{Items: []api.PastProblem{}, AsOf: *api.Time(v.Now), From: q.From, To: q.To}
	list, notJudged, err := ProblemsOfTime(ctx, v, kept, q.From, q.To)
	if err != nil {
		return out, err
	}
	out.NotJudged = notJudged
	_, out.Stale = answer.AsOf(v, topology.PartRouting)
	about := func(p rules.PastProblem) bool {
		return (q.Rule == "" || p.Rule == rules.Rule(q.Rule)) && (q.Shard == "" || p.Shard == q.Shard)
	}
	list = slices.DeleteFunc(list, func(p rules.PastProblem) bool { return !about(p) && !slices.ContainsFunc(p.Followed, about) })
	from, err := pastProblemsFrom(list, q.Cursor)
	if err != nil {
		return out, err
	}
	to := min(from+q.Limit, len(list))
	for _, p := range list[from:to] {
		out.Items = append(out.Items, PastProblemOf(v, p, timed))
	}
	if to < len(list) {
		out.Next = answer.CursorOf(strconv.FormatInt(list[to].Began.UnixMilli(), 10) + " " + list[to].ID)
	}
	return out, nil
}

// pastProblemsFrom is where a cursor leads in a list.
func pastProblemsFrom(list []rules.PastProblem, cursor string) (int, error) {
	if cursor == "" {
		return 0, nil
	}
	at, id, _ := strings.Cut(cursor, " ")
	ms, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return 0, fault.New(fault.Invalid, "This cursor is not from this list.")
	}
	i := slices.IndexFunc(list, func(p rules.PastProblem) bool {
		began := p.Began.UnixMilli()
		return began < ms || began == ms && p.ID >= id
	})
	if i < 0 {
		return len(list), nil
	}
	return i, nil
}

// ProblemsOfTime are the problems of a time as far as the reader may see them, and when nobody looked.
func ProblemsOfTime(ctx context.Context, v answer.View, kept PastProblems, from, to time.Time) ([]rules.PastProblem,
	[]api.HistoryGap, error) {
	if !v.Table.Loaded && v.Table.ClusterID == "" {
		return nil, nil, v.Table.NotLoaded()
	}
	if kept == nil || v.Table.ClusterID == "" {
		return nil, nil, fault.New(fault.NotFound, "Problems of the past are not known: this shardboard does not record them.")
	}
	list, err := kept.Between(ctx, v.Table.ClusterID, from, to)
	if err != nil {
		return nil, nil, err
	}
	spans, err := kept.Judged(ctx, v.Table.ClusterID, from, to)
	if err != nil {
		return nil, nil, err
	}
	for i, p := range list {
		list[i] = p.Hide(func(p rules.Problem) rules.Problem { return hideInProblem(v, p) })
	}
	slices.SortStableFunc(list, func(a, b rules.PastProblem) int { // hidden ids have another order
		return cmp.Or(b.Began.Compare(a.Began), strings.Compare(a.ID, b.ID))
	})
	return list, NotJudgedIn(spans, from, to), nil
}

// hideInProblem takes out of a problem what the reader does not see.
func hideInProblem(v answer.View, p rules.Problem) rules.Problem {
	if v.Hidden.Texts {
		p = p.HideTexts(answer.HideText)
	}
	if h := v.Table.Hiding(); h != nil && v.Hidden.Bounds {
		p = p.HideBounds(h.Text, h.Name)
	}
	return p
}

// NotJudgedIn are the spans in [from, to) that no span covers.
func NotJudgedIn(spans []store.JudgedSpan, from, to time.Time) []api.HistoryGap {
	out := []api.HistoryGap{}
	at := from
	for _, s := range spans {
		if s.From.After(at) {
			out = append(out, api.HistoryGap{From: at.UTC(), To: s.From.UTC()})
		}
		if s.To.After(at) {
			at = s.To
		}
	}
	if at.Before(to) {
		out = append(out, api.HistoryGap{From: at.UTC(), To: to.UTC()})
	}
	return slices.DeleteFunc(out, func(g api.HistoryGap) bool { return g.To.Sub(g.From) < rules.Every })
}

// postmortemAround is how much before a problem's begin and after its end a post-mortem of it shows.
const postmortemAround = 10 * time.Minute

// PastProblemOf is a problem of the past for the API. With timed, it has a link to the overview when it was worst.
func PastProblemOf(v answer.View, p rules.PastProblem, timed bool) api.PastProblem {
	end := p.Ended
	if end.IsZero() {
		end = v.Now
	}
	text := asOf(v.Named(p.Text), end)
	out := api.PastProblem{
		ID: p.ID, Rule: string(p.Rule), Severity: string(p.Severity), Began: p.Began.UTC(), BeganEarlier: p.BeganBefore,
		Ended: api.Time(p.Ended), EndedUnseen: p.EndedUnseen, WorstAt: p.WorstAt.UTC().Truncate(time.Millisecond),
		Title: api.Say(text, end), Subject: p.Subject, NS: string(p.NS), Project: p.Project, Shard: p.Shard,
		Document: p.Document, Count: max(p.Count, 1), Consequences: []api.AdviceConsequence{},
	}
	out.Seconds = int64(max(end.Sub(p.Began), 0) / time.Second)
	for _, e := range p.Evidence {
		f := EvidenceOf(v, e)
		out.Figure, out.Worst = &f, f.Name.String()+": "+f.Figure.At(v.Now)
	}
	for _, x := range p.Followed {
		out.Consequences = append(out.Consequences, api.AdviceConsequence{ID: x.ID, Rule: string(x.Rule), Severity: string(x.Severity),
			Title: api.Say(asOf(v.Named(x.Text), end), end)})
	}
	if timed {
		out.Links.Overview = answer.WithAt("/", p.WorstAt)
	}
	out.Links.Postmortem = PostmortemURL(p.Began, end, v.Now)
	return out
}

// asOf is a sentence whose ages are as of a time, whenever it is read.
func asOf(m message.Message, at time.Time) message.Message {
	m.Facts = slices.Clone(m.Facts)
	for i, f := range m.Facts {
		if f.Kind == message.KindSince {
			m.Facts[i] = message.Words(f.Name, f.Text(at))
		}
	}
	return m
}

// PostmortemURL is the address of the post-mortem of a time, with some minutes before and after. It ends now at the
// latest, and of a long time it shows the end.
func PostmortemURL(from, to, now time.Time) string {
	from, to = from.Add(-postmortemAround), to.Add(postmortemAround)
	if first := to.Add(-PostmortemLongest); from.Before(first) {
		from = first
	}
	u := url.Values{"from": {answer.AtText(from)}}
	if to.Before(now) {
		u.Set("to", answer.AtText(to))
	}
	return "/postmortem?" + u.Encode()
}

// PastProblemTime says when a problem lasted: "06:41 to 06:48 UTC, 7 minutes".
func PastProblemTime(p api.PastProblem) string {
	text := ShortTime(p.Began)
	if p.BeganEarlier {
		text += " or earlier"
	}
	switch {
	case p.Ended == nil:
		return text + ", lasts: " + format.Span(time.Duration(p.Seconds)*time.Second) + " so far"
	case p.EndedUnseen:
		text += " to " + ShortTime(*p.Ended) + " or later"
	default:
		text += " to " + ShortTime(*p.Ended)
	}
	return text + ", " + format.Span(time.Duration(p.Seconds)*time.Second)
}

// ShortTime is a time for people without its year and seconds.
func ShortTime(t time.Time) string { return t.UTC().Format("2 Jan 15:04 UTC") }

// NotJudgedText names the spans in which nobody looked for problems; "" for none.
func NotJudgedText(list []api.HistoryGap) string {
	const shown = 5
	var parts []string
	for _, g := range list[:min(len(list), shown)] {
		parts = append(parts, ShortTime(g.From)+" to "+ShortTime(g.To))
	}
	if len(parts) == 0 {
		return ""
	}
	text := "Nobody checked from " + strings.Join(parts, ", from ")
	if more := len(list) - shown; more > 0 {
		text += fmt.Sprintf(", and %d more times", more)
	}
	return text + ": problems of these times are not known."
}
