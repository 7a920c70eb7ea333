package rules

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"time"

	"shardboard/internal/clock"
	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/store"
	"shardboard/internal/topology"
)

const (
	// ProblemsKept is how long problems are remembered after their end.
	ProblemsKept = 30 * 24 * time.Hour
	// judgedGap is how long a pause between two judgements may be without a gap in what is known. A judgement holds for
	// Every, until the next one.
	judgedGap    = 3 * Every
	problemsTrim = 6 * time.Hour
	// worseBy is by which part a figure has to grow to be stored as the worst one, so that a slow rise is not a write
	// each time.
	worseBy = 1.05
)

// PastProblem is a time in which a problem lasted.
type PastProblem struct {
	Problem     // as it was at its worst; the first evidence is its figure then
	Began       time.Time
	Ended       time.Time // zero: it lasts
	BeganBefore bool      // nobody judged before Began, so it may have begun earlier
	EndedUnseen bool      // nobody judged when it ended: Ended is when it was last found
	WorstAt     time.Time
	Followed    []PastProblem // problems of the same cause

	cause string // id of the problem that it followed from; "" for none
}

// storedProblem is the body of a record.
type storedProblem struct {
	Rule     Rule               `json:"rule"`
	Subject  string             `json:"subject"`
	Severity Severity           `json:"severity"`
	Why      message.Message    `json:"why"`
	Text     message.Message    `json:"text"`
	Weight   float64            `json:"weight"`
	Figure   *storedFigure      `json:"figure,omitempty"`
	WorstAt  time.Time          `json:"worstAt"`
	NS       topology.Namespace `json:"ns,omitempty"`
	Project  string             `json:"project,omitempty"`
	Shard    string             `json:"shard,omitempty"`
	Document string             `json:"document,omitempty"`
	Count    int                `json:"count,omitempty"`
	Cause    string             `json:"cause,omitempty"`
	Before   bool               `json:"beganBefore,omitempty"`
	Unseen   bool               `json:"endedUnseen,omitempty"`
}

type storedFigure struct {
	Name      message.Message `json:"name"`
	Unit      string          `json:"unit"`
	Value     float64         `json:"value"`
	PlusMinus float64         `json:"plusMinus,omitempty"`
	Exact     bool            `json:"exact,omitempty"`
	AtLeast   bool            `json:"atLeast,omitempty"`
	Method    string          `json:"method,omitempty"`
	Over      time.Duration   `json:"over,omitempty"`
}

// unchecked is the body of a judged span: rules that could not be checked completely, and those that the release
// cannot answer.
type unchecked struct {
	Rules []Rule `json:"unchecked,omitempty"`
	Never []Rule `json:"never,omitempty"`
}

// ProblemHistory stores which problems there are, and answers which there were.
type ProblemHistory struct {
	store   store.Problems
	advisor *Advisor // nil: nothing is recorded
	log     *slog.Logger

	// Of Run alone.
	cluster string
	gap     time.Duration // judgedGap, unless a past is recorded
	open    map[string]*openProblem
	judged  time.Time // the last judgement; zero: none
}

type openProblem struct {
	since time.Time
	body  storedProblem
	saved bool
}

// NewProblemHistory records what an advisor finds while Run runs. A nil log discards.
func NewProblemHistory(kept store.Problems, a *Advisor, log *slog.Logger) *ProblemHistory {
	log = cmp.Or(log, slog.New(slog.DiscardHandler))
	return &ProblemHistory{store: kept, advisor: a, log: log, gap: judgedGap}
}

// Run records until the context ends. Only the process that leads the store may call it.
func (h *ProblemHistory) Run(ctx context.Context) error {
	h.cluster = ""
	news, end := h.advisor.Subscribe()
	defer end()
	tick := time.NewTicker(Every)
	defer tick.Stop()
	failed, trimmed := false, time.Time{}
	for {
		if cluster := h.advisor.Cluster(); cluster != "" {
			r := h.advisor.Report()
			err := h.observe(ctx, cluster, r)
			if err == nil && r.At.Sub(trimmed) > problemsTrim {
				trimmed = r.At
				err = h.store.TrimProblems(ctx, cluster, r.At.Add(-ProblemsKept))
			}
			if err != nil && !failed && ctx.Err() == nil {
				h.log.Warn("the history of problems is not recorded", "err", err)
			}
			failed = err != nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-news:
		case <-tick.C:
		}
	}
}

// Observe records a report of a time that is recorded afterwards, with pauses of up to gap between its reports. Not
// for use while Run runs.
func (h *ProblemHistory) Observe(ctx context.Context, cluster string, r Report, gap time.Duration) error {
	h.gap = gap
	defer func() { h.gap = judgedGap }()
	return h.observe(ctx, cluster, r)
}

// begin reads what lasted when a process last judged.
func (h *ProblemHistory) begin(ctx context.Context, cluster string, now time.Time) error {
	spans, err := h.store.JudgedSpans(ctx, cluster, now.Add(-ProblemsKept), now)
	if err != nil {
		return err
	}
	last, err := h.store.ProblemRecords(ctx, cluster, now, now)
	if err != nil {
		return err
	}
	h.judged, h.open = time.Time{}, map[string]*openProblem{}
	for _, s := range spans {
		h.judged = s.To
	}
	for _, r := range last {
		var body storedProblem
		if r.Until.IsZero() && h.open[r.ID] == nil && json.Unmarshal(r.Body, &body) == nil {
			h.open[r.ID] = &openProblem{since: r.Since, body: body, saved: true}
		}
	}
	h.cluster = cluster
	return nil
}

// observe stores what became different since the last report.
func (h *ProblemHistory) observe(ctx context.Context, cluster string, r Report) error {
	skip := map[Rule]map[string]bool{}
	var span unchecked
	for _, u := range r.Unsure {
		if skip[u.Rule] == nil {
			skip[u.Rule] = map[string]bool{}
			if u.Never {
				span.Never = append(span.Never, u.Rule)
			} else {
				span.Rules = append(span.Rules, u.Rule)
			}
		}
		skip[u.Rule][u.Subject] = true
	}
	if len(skip) == len(all) || r.At.IsZero() {
		return nil // nothing can be checked: the table is not loaded
	}
	if h.cluster != cluster {
		if err := h.begin(ctx, cluster, r.At); err != nil {
			return err
		}
	}
	if r.At.Before(h.judged) {
		return nil
	}
	gap := h.judged.IsZero() || r.At.Sub(h.judged) > h.gap
	found := map[string]Problem{}
	over := map[string]time.Time{}
	for _, p := range r.Items {
		if found[p.ID] = p; !p.Until.IsZero() {
			over[p.ID] = p.Until
		}
	}
	cause := map[string]string{}
	for _, p := range Incidents(r.Items) {
		for _, x := range p.Consequences {
			cause[x.ID] = p.ID
		}
	}
	var changed []store.ProblemRecord
	save := func(id string, o *openProblem, until time.Time) error {
		body, err := json.Marshal(o.body)
		if err == nil {
			changed = append(changed, store.ProblemRecord{ID: id, Since: o.since, Until: until, Body: body})
		}
		return err
	}
	next := map[string]*openProblem{}
	for id, o := range h.open {
		p, still := found[id]
		until := over[id]
		switch {
		case still && until.IsZero():
			one := *o
			if one.saved = !one.body.worsened(p, cause[id], r.At); !one.saved {
				if err := save(id, &one, time.Time{}); err != nil {
					return err
				}
			}
			next[id] = &one
			continue
		case !still && (skip[o.body.Rule][""] || skip[o.body.Rule][o.body.Subject]):
			next[id] = o // it cannot be told
			continue
		case gap:
			until = clock.Later(h.judged, o.since)
			o.body.Unseen = true
		case until.IsZero():
			until = r.At
		}
		if err := save(id, o, clock.Later(until, o.since)); err != nil {
			return err
		}
	}
	for id, p := range found {
		if next[id] != nil || over[id] != (time.Time{}) {
			continue
		}
		o := &openProblem{since: p.Since, body: storedProblem{Before: p.SinceAtLeast}}
		if o.since.IsZero() {
			o.since, o.body.Before = r.At, gap
		}
		o.body.worsened(p, cause[id], r.At)
		if err := save(id, o, time.Time{}); err != nil {
			return err
		}
		next[id] = o
	}
	if len(changed) > 0 {
		slices.SortFunc(changed, func(a, b store.ProblemRecord) int { return cmp.Compare(a.ID, b.ID) })
		if err := h.store.SaveProblems(ctx, cluster, changed); err != nil {
			return err
		}
	}
	h.open = next
	body, err := json.Marshal(span)
	if err == nil {
		err = h.store.NoteJudged(ctx, cluster, r.At, h.gap, body)
	}
	if err == nil {
		h.judged = r.At
	}
	return err
}

// worsened notes a problem where it is worse than it was, or has another cause; it returns whether that is so.
func (s *storedProblem) worsened(p Problem, cause string, at time.Time) bool {
	worse := s.Rule == "" || p.Severity.Level() > s.Severity.Level() ||
		p.Severity == s.Severity && (p.Weight > s.Weight*worseBy && p.Weight > s.Weight || p.Count > s.Count)
	if !worse && (cause == s.Cause || cause == "") {
		return false
	}
	if cause != "" {
		s.Cause = cause
	}
	if worse {
		s.Rule, s.Subject, s.Severity, s.Why, s.Text, s.Weight, s.WorstAt = p.Rule, p.Subject, p.Severity, p.Why, p.Text, p.Weight, at
		s.NS, s.Project, s.Shard, s.Document, s.Count = p.NS, p.Project, p.Shard, p.Document, p.Count
		s.Figure = figureOf(p)
	}
	return true
}

// figureOf is the first number that a problem rests on.
func figureOf(p Problem) *storedFigure {
	for _, e := range p.Evidence {
		if e.Known && e.Unit != "text" && e.Unit != "time" {
			return &storedFigure{e.Name, e.Unit, e.Value, e.PlusMinus, e.Exact, e.AtLeast, e.Method, e.Over}
		}
	}
	return nil
}

// past is a record as people see it; ok is false where its body cannot be read.
func past(r store.ProblemRecord) (out PastProblem, ok bool) {
	var s storedProblem
	if err := json.Unmarshal(r.Body, &s); err != nil || s.Rule == "" {
		return out, false
	}
	out = PastProblem{Began: r.Since, Ended: r.Until, BeganBefore: s.Before, EndedUnseen: s.Unseen, WorstAt: s.WorstAt, cause: s.Cause}
	out.Problem = Problem{ID: r.ID, Rule: s.Rule, Subject: s.Subject, Severity: s.Severity, Why: s.Why, Weight: s.Weight, Text: s.Text,
		NS: s.NS, Project: s.Project, Shard: s.Shard, Document: s.Document, Count: s.Count}
	if f := s.Figure; f != nil {
		out.Evidence = []Evidence{{Name: f.Name, Unit: f.Unit, Known: true, Value: f.Value, PlusMinus: f.PlusMinus, Exact: f.Exact,
			AtLeast: f.AtLeast, Method: f.Method, At: s.WorstAt, Over: f.Over}}
	}
	return out, true
}

// Between are the problems that lasted at some time in [from, to], the newest begin first. Those of one cause are one.
func (h *ProblemHistory) Between(ctx context.Context, cluster string, from, to time.Time) ([]PastProblem, error) {
	records, err := h.store.ProblemRecords(ctx, cluster, from, to)
	if err != nil {
		return nil, err
	}
	var list []PastProblem
	for _, r := range records {
		if p, ok := past(r); ok {
			list = append(list, p)
		}
	}
	return gatherPast(list), nil
}

// gatherPast puts problems into those that they followed from. One that was itself a consequence at another time takes
// none in.
func gatherPast(list []PastProblem) (out []PastProblem) {
	followed := map[int][]PastProblem{}
	within := make([]bool, len(list))
	for i, p := range list {
		root := slices.IndexFunc(list, func(q PastProblem) bool { return p.cause != "" && p.cause == q.ID && q.cause == "" && overlap(p, q) })
		if root >= 0 {
			followed[root], within[i] = append(followed[root], p), true
		}
	}
	for i, p := range list {
		if within[i] {
			continue
		}
		p.Followed = followed[i]
		for _, x := range p.Followed {
			if x.Severity.Level() > p.Severity.Level() {
				p.Severity, p.Why = x.Severity, x.Why
			}
		}
		out = append(out, p)
	}
	return out
}

func overlap(a, b PastProblem) bool {
	return (a.Ended.IsZero() || !a.Ended.Before(b.Began)) && (b.Ended.IsZero() || !b.Ended.Before(a.Began))
}

// Judged are the times in [from, to] in which somebody judged, oldest first.
func (h *ProblemHistory) Judged(ctx context.Context, cluster string, from, to time.Time) ([]store.JudgedSpan, error) {
	spans, err := h.store.JudgedSpans(ctx, cluster, from.Add(-Every), to)
	for i := range spans {
		spans[i].To = spans[i].To.Add(Every)
	}
	return spans, err
}

// At is what was found at a time; judged is false where nobody looked then.
func (h *ProblemHistory) At(ctx context.Context, cluster string, at time.Time) (out View, judged bool, err error) {
	spans, err := h.Judged(ctx, cluster, at, at)
	if err != nil || len(spans) == 0 {
		return out, false, err
	}
	var not unchecked
	if err := json.Unmarshal(spans[len(spans)-1].Body, &not); err != nil {
		return out, false, fault.Wrap(fault.Unavailable, err, "What was judged at this time cannot be read.")
	}
	list, err := h.Between(ctx, cluster, at, at)
	if err != nil {
		return out, false, err
	}
	out.At = at
	failed := map[Rule]bool{}
	for _, p := range list {
		if !p.Ended.IsZero() && !p.Ended.After(at) {
			continue // it ended just then
		}
		out.Items = append(out.Items, p.then(at))
		failed[p.Rule] = true
	}
	for _, r := range not.Rules {
		out.Unsure = append(out.Unsure, Unsure{Rule: r, Why: message.New("past.unchecked", "It could not be fully checked at this time.")})
		failed[r] = true
	}
	for _, r := range not.Never {
		out.Unsure = append(out.Unsure, Unsure{Rule: r, Why: message.New("past.never", "The MongoDB release could not answer it."), Never: true})
		failed[r] = true
	}
	for _, r := range Rules() {
		if !failed[r] {
			out.Passed = append(out.Passed, r)
		}
	}
	slices.SortStableFunc(out.Items, byRank)
	return out, true, nil
}

// then is the problem as a page of a past time lists it: with the time that its figures are of.
func (p PastProblem) then(now time.Time) Problem {
	out := p.Problem
	out.Since, out.SinceAtLeast = p.Began, p.BeganBefore
	if len(p.Evidence) > 0 { // without figures the sentence holds at any time
		out.Text.Pattern = strings.TrimSuffix(out.Text.Pattern, ".") + "; at its worst at {worstAt}."
		out.Text.Facts = append(slices.Clone(out.Text.Facts), message.Words("worstAt", minuteText(p.WorstAt, now)))
	}
	for _, x := range p.Followed {
		if x.Ended.IsZero() || x.Ended.After(now) {
			out.Consequences = append(out.Consequences, x.then(now))
		}
	}
	return out
}

// Hide is the problem with another form of itself and of those that followed.
func (p PastProblem) Hide(hide func(Problem) Problem) PastProblem {
	p.Problem = hide(p.Problem)
	p.Followed = slices.Clone(p.Followed)
	for i, x := range p.Followed {
		p.Followed[i] = x.Hide(hide)
	}
	return p
}
