package logbook

import (
	"net/url"
	"slices"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/answer/param"
)

// ActivityQuery filters the changelog. The zero value shows outcomes, newest
// first.
type ActivityQuery struct {
	Kind, NS, Shard string
	Outcome         string // committed or failed; "" for both
	Internal        bool   // with the server's own collections
	Page            int    // 0 and 1 are the first
	LogTime
}

// ActivityKinds are the choices of the kind filter; "" is outcomes only.
var ActivityKinds = [...]string{"", "all", "move", "split", "merge", "collection", "shard"}

// Parameters are those of the address of the page.
func (q *ActivityQuery) Parameters() param.List {
	return slices.Concat(kindAndOutcome(&q.Kind, &q.Outcome, &q.Shard), q.LogTime.Parameters(), param.List{
		param.Text(&q.NS, "ns", "of namespaces that begin so"),
		answer.ShowInternal(&q.Internal),
		param.Page(&q.Page, "of the page's list, counted from 1"),
	})
}

// kindAndOutcome choose entries, on the page and in the list.
func kindAndOutcome(kind, outcome, shard *string) param.List {
	return param.List{
		param.OneOf(kind, "kind", "", ActivityKinds[1:]...),
		param.Of("failed", "1: as outcome=failed", func(typed string) error { // as links of earlier versions ask for it
			if typed == "1" {
				*outcome = outcomeFailed
			}
			return nil
		}),
		param.OneOf(outcome, "outcome", "", outcomeCommitted, outcomeFailed),
		param.Text(shard, "shard", "from, to or written by this shard"),
	}
}

// Filtered tells whether the query leaves entries out that the page shows at first.
func (q ActivityQuery) Filtered() bool {
	q.Page, q.Internal = 0, false
	return q != ActivityQuery{}
}

// URL is the address of a page of the list.
func (q ActivityQuery) URL(page int) string {
	u := url.Values{}
	answer.SetParameter(u, "kind", q.Kind)
	answer.SetParameter(u, "ns", q.NS)
	answer.SetParameter(u, "shard", q.Shard)
	answer.SetParameter(u, "outcome", q.Outcome)
	q.LogTime.set(u)
	if q.Internal {
		u.Set(answer.InternalParam, "1")
	}
	return answer.Address("/activity", u, page)
}

func (q ActivityQuery) takes(x Event) bool {
	if !hasOutcome(x, q.Outcome) {
		return false
	}
	if q.NS != "" && !strings.HasPrefix(x.NS, q.NS) {
		return false
	}
	if !x.isOn(q.Shard) {
		return false
	}
	if q.Kind == "" && q.Outcome == "" {
		return x.Outcome()
	}
	return q.Kind == "" || q.Kind == "all" || q.Kind == x.Kind()
}

// isOn tells whether an entry names a shard or was written by it; "" is any.
func (x Event) isOn(shard string) bool {
	return shard == "" || x.From == shard || x.To == shard || x.Shard == shard
}

// What an entry tells of what came of something.
const (
	outcomeCommitted = "committed"
	outcomeFailed    = "failed"
	outcomeAborted   = "aborted" // a donor or recipient gave up
	outcomeStep      = "step"
)

// outcome is the one of these that an entry tells of.
func (x Event) outcome() string {
	switch {
	case x.Failed && strings.HasSuffix(x.What, ".error"):
		return outcomeFailed
	case x.Failed:
		return outcomeAborted
	case x.Outcome():
		return outcomeCommitted
	}
	return outcomeStep
}

// hasOutcome tells whether an entry is one that a filter asks for. What was aborted has failed.
func hasOutcome(x Event, outcome string) bool {
	switch outcome {
	case outcomeFailed:
		return x.Failed
	case outcomeCommitted:
		return x.outcome() == outcomeCommitted
	}
	return true
}

// Kind is the one of ActivityKinds that an entry is of.
func (x Event) Kind() string {
	switch {
	case strings.HasPrefix(x.What, "moveChunk"), strings.HasPrefix(x.What, "movePrimary"):
		return "move"
	case x.What == "split", x.What == "multi-split":
		return "split"
	case x.What == "merge", x.What == "autoMerge":
		return "merge"
	case strings.Contains(x.What, "Shard") && !strings.Contains(x.What, "ShardKey"):
		return "shard"
	}
	return "collection"
}
