package web

import (
	"net/url"
	"strconv"

	"shardboard/web/templates"
)

// pageRows is how many rows a page of a list has.
const pageRows = 50

// pager cuts n rows into pages; a page beyond the end is the last one, as rows
// may have gone since the link was made.
func pager(n, page int, link func(page int) string) (p templates.Pager, from, to int) {
	last := max((n+pageRows-1)/pageRows, 1)
	page = min(max(page, 1), last)
	from, to = (page-1)*pageRows, min(page*pageRows, n)
	p = templates.Pager{From: min(from+1, n), To: to, Of: n}
	if page > 1 {
		p.Prev = link(page - 1)
	}
	if page < last {
		p.Next = link(page + 1)
	}
	return p, from, to
}

func set(u url.Values, name, value string) {
	if value != "" {
		u.Set(name, value)
	}
}

// address is a path with its query; the first page needs no number.
func address(path string, u url.Values, page int) string {
	if page > 1 {
		u.Set("page", strconv.Itoa(page))
	}
	if len(u) == 0 {
		return path
	}
	return path + "?" + u.Encode()
}
