package templates

import "shardboard/internal/answer"

// Pager turns pages; empty URLs are ends.
type Pager struct {
	From, To, Of int // rows shown and rows matching; From counts from 1
	Prev, Next   string
}

// PagerOf cuts n rows into pages; a page beyond the end is the last one, as rows
// may have gone since the link was made.
func PagerOf(n, page int, link func(page int) string) Pager {
	shown, from, to := answer.PageOf(n, page)
	return pagerAt(n, shown, from, to, link)
}

// PagerOfRows cuts n rows into pages of so many.
func PagerOfRows(n, page, rows int, link func(page int) string) Pager {
	shown, from, to := answer.PageOfRows(n, page, rows)
	return pagerAt(n, shown, from, to, link)
}

// EventPagerOf cuts n entries of the changelog into pages.
func EventPagerOf(n, page int, link func(page int) string) Pager {
	shown, from, to := answer.EventPageOf(n, page)
	return pagerAt(n, shown, from, to, link)
}

func pagerAt(n, page, from, to int, link func(page int) string) Pager {
	p := Pager{From: min(from+1, n), To: to, Of: n}
	if page > 1 {
		p.Prev = link(page - 1)
	}
	if to < n {
		p.Next = link(page + 1)
	}
	return p
}
