package answer

import (
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
)

// maxInput bounds every text that a page accepts; names and ids are far below.
const MaxInput = 4096

// text is one query parameter, refused when it cannot be anything anybody
// stored: too long, NUL, or not UTF-8.
func text(in url.Values, name string) (string, error) {
	return CheckText(name, strings.TrimSpace(in.Get(name)))
}

func CheckText(name, s string) (string, error) {
	switch {
	case len(s) > MaxInput:
		return "", fault.New(fault.Invalid, "%s is longer than %d bytes.", name, MaxInput)
	case !utf8.ValidString(s):
		return "", fault.New(fault.Invalid, "%s is not valid UTF-8.", name)
	case strings.ContainsRune(s, 0):
		return "", fault.New(fault.Invalid, "%s contains a NUL character.", name)
	}
	return s, nil
}

// pageNumber reads ?page=, counted from 1; absent is 1.
func pageNumber(in url.Values) (int, error) {
	s := in.Get("page")
	if s == "" {
		return 1, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > 1_000_000 {
		return 0, fault.New(fault.Invalid, "page must be a number of 1 or more, not %q.", sanitize.Truncate(s, 40))
	}
	return n, nil
}
