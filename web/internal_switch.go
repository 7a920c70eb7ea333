package web

import (
	"net/url"

	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// internalParam is the switch that shows the server's own collections in lists
// that leave them out. Pages keep it in their links.
const internalParam = "internal"

// internalQuery describes it for the API.
func internalQuery() Param {
	return query(internalParam, "1: with the server's own collections too (databases config, admin and local, system.* but not system.buckets.*); default 0. hidden says how many were left out")
}

// foldingPages are those that leave them out by default.
var foldingPages = [...]string{"/", "/activity", "/collections", "/compare", "/heat", "/shards/{name}"}

// internalOf reads the switch.
func internalOf(q url.Values) (bool, error) {
	switch q.Get(internalParam) {
	case "", "0":
		return false, nil
	case "1":
		return true, nil
	}
	return false, fault.New(fault.Invalid, "internal is 1 or 0; %q is neither.", sanitize.Truncate(q.Get(internalParam), 40))
}

// switched is a page's address with the switch, where it is on.
func switched(page string, internal bool) string {
	if internal {
		return page + "?" + internalParam + "=1"
	}
	return page
}

// asksInternal tells that a filter names what is internal: who asks for it by name
// sees it.
func asksInternal(ns string) bool {
	return ns != "" && topology.IsInternal(topology.Namespace(ns))
}

// foldedNote says how many entries or collections were left out, with the link
// that shows them, or that they are there. address is the page's own; what is
// entries, moves or collections.
func foldedNote(what, address string, n int, shown bool) *templates.Folded {
	u, err := url.Parse(address)
	if err != nil || n == 0 && !shown {
		return nil
	}
	q := u.Query()
	q.Del("page")
	out := &templates.Folded{Title: words.T("internal.what")}
	if shown {
		// An explicit 0: what a page carries along would put the switch back.
		q.Set(internalParam, "0")
		out.Text, out.Link = words.T("internal."+what+".with"), words.T("internal.hide")
	} else {
		q.Set(internalParam, "1")
		out.Text, out.Link = words.Plural("internal."+what, int64(n), "n", format.Count(int64(n))), words.T("internal.show")
	}
	u.RawQuery = q.Encode()
	out.URL = u.String()
	return out
}
