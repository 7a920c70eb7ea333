package answer

import (
	"net/url"
	"slices"
	"strings"

	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
)

// ActivityQuery filters the changelog. The zero value shows outcomes, newest
// first.
type ActivityQuery struct {
	Kind, NS, Shard string
	Failed          bool
	Internal        bool // with the server's own collections
	Page            int  // 0 and 1 are the first
}

// ActivityKinds are the choices of the kind filter; "" is outcomes only.
var ActivityKinds = [...]string{"", "all", "move", "split", "merge", "collection", "shard"}

// ParseActivityQuery reads the parameters of an address.
func ParseActivityQuery(in url.Values) (ActivityQuery, error) {
	q := ActivityQuery{Kind: in.Get("kind"), Failed: in.Get("failed") == "1"}
	err := texts(in, map[string]*string{"ns": &q.NS, "shard": &q.Shard})
	if err != nil {
		return q, err
	}
	if !slices.Contains(ActivityKinds[:], q.Kind) {
		return q, fault.New(fault.Invalid, "kind must be all, move, split, merge, collection or shard, not %q.", sanitize.Truncate(q.Kind, 40))
	}
	if q.Internal, err = ParseInternal(in); err != nil {
		return q, err
	}
	if q.Page, err = pageNumber(in); q.Page == 1 {
		q.Page = 0
	}
	return q, err
}

// Filtered tells whether the query leaves entries out that the page shows at first.
func (q ActivityQuery) Filtered() bool {
	q.Page, q.Internal = 0, false
	return q != ActivityQuery{}
}

// URL is the address of a page of the list.
func (q ActivityQuery) URL(page int) string {
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

func (q ActivityQuery) takes(x Event) bool {
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
	return q.Kind == "" || q.Kind == "all" || q.Kind == x.kind()
}

// kind is the one of ActivityKinds that an entry is of.
func (x Event) kind() string {
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
