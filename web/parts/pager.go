package parts

import (
	"shardboard/internal/answer"
	"shardboard/web/templates"
)

// pager cuts n rows into pages; a page beyond the end is the last one, as rows
// may have gone since the link was made.
func Pager(n, page int, link func(page int) string) (p templates.Pager, from, to int) {
	last := max((n+answer.PageRows-1)/answer.PageRows, 1)
	page = min(max(page, 1), last)
	from, to = (page-1)*answer.PageRows, min(page*answer.PageRows, n)
	p = templates.Pager{From: min(from+1, n), To: to, Of: n}
	if page > 1 {
		p.Prev = link(page - 1)
	}
	if page < last {
		p.Next = link(page + 1)
	}
	return p, from, to
}
