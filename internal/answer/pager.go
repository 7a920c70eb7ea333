package answer

import (
	"net/url"
	"strconv"
)

// PageRows is how many rows a page of a list has.
const PageRows = 50

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

// PageOf is the page of a list of n rows that is shown, and its rows [from, to): a page
// beyond the end is the last one, as rows may have gone since the link was made.
func PageOf(n, page int) (shown, from, to int) {
	last := max((n+PageRows-1)/PageRows, 1)
	shown = min(max(page, 1), last)
	return shown, (shown - 1) * PageRows, min(shown*PageRows, n)
}
