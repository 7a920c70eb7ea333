package answer

import (
	"net/url"
	"strings"

	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/history"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// isWhat compares a kind of entry: "moveChunk." means every step of a move.
func IsWhat(have, want string) bool {
	return have == want || strings.HasSuffix(want, ".") && strings.HasPrefix(have, want)
}

// failedEventOf is an entry with the reason that its move failed for, if it did.
func FailedEventOf(v View, e topology.Event, reasons map[string]history.Reason) api.Event {
	out := eventOf(v, e)
	if x := ReadEvent(e).Because(reasons); x.Failed {
		out.Failed, out.FailureReason = true, failureReason(x.Why)
	}
	return out
}

func eventOf(v View, e topology.Event) api.Event {
	return api.Event{ID: e.ID, Time: e.Time.UTC(), What: e.What, NS: e.NS, Shard: e.Shard, Details: v.details(e)}
}

// activityQuery filters the changelog. The zero value shows what came of
// things, newest first.
type ActivityQuery struct {
	Kind, NS, Shard string
	Failed          bool
	Internal        bool // with the server's own collections
	Page            int  // 0 and 1 are the first
}

// activityKinds are the choices of the kind filter; "" is outcomes only.
var ActivityKinds = [...]string{"", "all", "move", "split", "merge", "collection", "shard"}

func ActivityQueryOf(in url.Values) (ActivityQuery, error) {
	var q ActivityQuery
	var err error
	if q.NS, err = text(in, "ns"); err != nil {
		return q, err
	}
	if q.Shard, err = text(in, "shard"); err != nil {
		return q, err
	}
	q.Kind = in.Get("kind")
	known := false
	for _, k := range ActivityKinds {
		known = known || k == q.Kind
	}
	if !known {
		return q, fault.New(fault.Invalid, "kind is one of all, move, split, merge, collection, shard; %q is not.", sanitize.Truncate(q.Kind, 40))
	}
	q.Failed = in.Get("failed") == "1"
	if q.Internal, err = InternalOf(in); err != nil {
		return q, err
	}
	if q.Page, err = pageNumber(in); q.Page == 1 {
		q.Page = 0
	}
	return q, err
}

func (q ActivityQuery) Url(page int) string {
	u := url.Values{}
	set(u, "kind", q.Kind)
	set(u, "ns", q.NS)
	set(u, "shard", q.Shard)
	if q.Failed {
		u.Set("failed", "1")
	}
	if q.Internal {
		u.Set(InternalParam, "1")
	}
	return address("/activity", u, page)
}

func (q ActivityQuery) Takes(x Event) bool {
	if q.Failed && !x.Failed {
		return false
	}
	if q.NS != "" && !strings.HasPrefix(x.NS, q.NS) {
		return false
	}
	if q.Shard != "" && x.From != q.Shard && x.To != q.Shard && x.Shard != q.Shard {
		return false
	}
	if q.Kind == "" && !q.Failed {
		return x.Outcome()
	}
	return q.Kind == "" || q.Kind == "all" || q.Kind == eventKind(x.What)
}

// hides tells whether an entry is left out because it is about the server's own
// collections.
func (q ActivityQuery) Hides(e topology.Event) bool {
	return !q.Internal && !AsksInternal(q.NS) && e.Internal()
}

func eventKind(what string) string {
	switch {
	case strings.HasPrefix(what, "moveChunk"), strings.HasPrefix(what, "movePrimary"):
		return "move"
	case what == "split", what == "multi-split":
		return "split"
	case what == "merge", what == "autoMerge":
		return "merge"
	case strings.Contains(what, "Shard") && !strings.Contains(what, "ShardKey"):
		return "shard"
	}
	return "collection"
}
