package sanitize

import (
	"strings"
)

// Truncate gives at most n bytes of a text, cut between two characters and marked
// with "…". Bytes that are no UTF-8 become U+FFFD. It is for echoing input; what
// may hold numbers or ids that people act on is for Shorten.
func Truncate(s string, n int) string {
	if len(s) <= n {
		return strings.ToValidUTF8(s, "\ufffd")
	}
	return strings.ToValidUTF8(s[:runeStart(s, n)], "\ufffd") + "…"
}
