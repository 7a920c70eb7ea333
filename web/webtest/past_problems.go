package webtest

import (
	"context"
	"time"

	"shardboard/internal/message"
	"shardboard/internal/rules"
	"shardboard/internal/store"
)

// PastProblems are problems of the past that stand still.
type PastProblems struct {
	List   []rules.PastProblem
	Spans  []store.JudgedSpan
	Then   []rules.View // in each span
	Failed error
}

// CannedPastProblems were found in the hour before Epoch: a hot project with its shard, which is over, and a jumbo
// chunk, which lasts. Nobody judged in the first ten minutes.
func CannedPastProblems() *PastProblems {
	at := func(minutes int) time.Time { return Epoch.Add(time.Duration(minutes) * time.Minute) }
	hot := rules.PastProblem{Began: at(-40), Ended: at(-20), WorstAt: at(-30), Problem: rules.Problem{
		ID: "hot-project.past", Rule: rules.HotProject, Subject: string(DocumentsNS), Severity: rules.Warn, Shard: "shard-rs-1",
		Project: "0000000000000000000000aa", NS: DocumentsNS,
		Text: message.New("hot", "The project {name} makes {share} of the writes in the last {window}, on {shard}, for {age}.",
			message.Since("age", at(-40)),
			message.Project("name", "0000000000000000000000aa", "nova-docs-staging"), message.Share("share", 0.88),
			message.Last("window", 5*time.Minute), message.Shard("shard", "shard-rs-1")),
		Evidence: []rules.Evidence{{Name: message.New("hot.share", "Share of the writes"), Unit: "share", Known: true, Value: 0.88,
			At: at(-30), Over: 5 * time.Minute, Method: "writes"}},
	}}
	hot.Followed = []rules.PastProblem{{Began: at(-39), Ended: at(-20), WorstAt: at(-30), Problem: rules.Problem{
		ID: "hot-shard.past", Rule: rules.HotShard, Subject: "shard-rs-1", Severity: rules.Info, Shard: "shard-rs-1",
		Text: message.New("hotShard", "{shard} takes {share} of the counted writes.", message.Shard("shard", "shard-rs-1"),
			message.Share("share", 0.9)),
	}}}
	jumbo := rules.PastProblem{Began: at(-50), BeganBefore: true, WorstAt: at(-50), Problem: rules.Problem{
		ID: "jumbo.past", Rule: rules.Jumbo, Subject: string(DocumentsNS) + ` {"project_id":"past-key"}`, Severity: rules.Info, NS: DocumentsNS,
		Text: message.New("jumbo", "The chunk from {min} on is jumbo.", message.Key("min", `{"project_id":"past-key"}`)),
	}}
	return &PastProblems{List: []rules.PastProblem{hot, jumbo}, Spans: []store.JudgedSpan{{From: at(-50), To: Epoch}}}
}

// At is what was found at a time.
func (p *PastProblems) At(_ context.Context, _ string, at time.Time) (rules.View, bool, error) {
	for i, s := range p.Spans {
		if i < len(p.Then) && !at.Before(s.From) && !at.After(s.To) {
			return p.Then[i], true, p.Failed
		}
	}
	return rules.View{}, false, p.Failed
}

// Between are those that lasted at some time in [from, to].
func (p *PastProblems) Between(_ context.Context, _ string, from, to time.Time) (out []rules.PastProblem, err error) {
	for _, x := range p.List {
		if !x.Began.After(to) && (x.Ended.IsZero() || !x.Ended.Before(from)) {
			out = append(out, x)
		}
	}
	return out, p.Failed
}

// Judged are all spans.
func (p *PastProblems) Judged(context.Context, string, time.Time, time.Time) ([]store.JudgedSpan, error) {
	return p.Spans, p.Failed
}
