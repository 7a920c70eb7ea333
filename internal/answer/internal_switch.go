package answer

import (
	"net/url"

	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// internalParam is the switch that shows the server's own collections in lists
// that leave them out. Pages keep it in their links.
const InternalParam = "internal"

// internalOf reads the switch.
func InternalOf(q url.Values) (bool, error) {
	switch q.Get(InternalParam) {
	case "", "0":
		return false, nil
	case "1":
		return true, nil
	}
	return false, fault.New(fault.Invalid, "internal must be 1 or 0, not %q.", sanitize.Truncate(q.Get(InternalParam), 40))
}

// switched is a page's address with the switch, where it is on.
func Switched(page string, internal bool) string {
	if internal {
		return page + "?" + InternalParam + "=1"
	}
	return page
}

// asksInternal tells that a filter names what is internal: who asks for it by name
// sees it.
func AsksInternal(ns string) bool {
	return ns != "" && topology.IsInternal(topology.Namespace(ns))
}
