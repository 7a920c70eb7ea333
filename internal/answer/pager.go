package answer

import (
	"net/url"
	"strconv"
)

// pageRows is how many rows a page of a list has.
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
