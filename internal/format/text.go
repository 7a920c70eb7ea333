package format

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Middle cuts s in the middle to at most n characters, keeping both ends:
// neighbouring keys differ at their ends, not in the middle.
func Middle(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	r := []rune(s)
	tail := (n - 1) / 2
	head := n - 1 - tail
	return string(r[:head]) + "…" + string(r[len(r)-tail:])
}

// Version writes a chunk version as people say it: major|minor.
func Version(major, minor uint32) string {
	return strconv.FormatUint(uint64(major), 10) + "|" + strconv.FormatUint(uint64(minor), 10)
}

// JoinWords lists things as a sentence does: a, b and c.
func JoinWords(list []string) string {
	switch len(list) {
	case 0:
		return ""
	case 1:
		return list[0]
	}
	return strings.Join(list[:len(list)-1], ", ") + " and " + list[len(list)-1]
}
