// Package hostile makes text that somebody else wrote safe to show where markup
// does not protect, in a terminal and in a line of a log, and fit to show where
// there is little room.
//
// It promises that what Line gives is one line of printable characters in the
// order in which they are stored: no control character moves the cursor, starts
// an escape sequence or ends the line, none turns the direction of writing, and
// none is there without being seen. HTML, JSON and CSV have rules of their own,
// which this is not. Shorten cuts a server's text where nothing in it becomes
// another number, id or bound.
package hostile

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line shows every character that is not printable as an escape: \n, \r and \t,
// \u{200e} for other characters, \x9b for a byte that is no UTF-8. Spaces other
// than U+0020 are escaped too: they could pass for it. A backslash stays as it
// is, so that keys in Extended JSON can be copied: the result is for reading and
// can't be turned back.
func Line(s string) string {
	bad := strings.IndexFunc(s, hidden)
	if bad < 0 && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case hidden(r):
			fmt.Fprintf(&b, `\u{%04x}`, r)
		default:
			b.WriteRune(r)
		}
		s = s[size:]
	}
	return b.String()
}

// hidden tells that a character is not seen as itself. Those that only change the
// look of another count too, though Unicode calls them printable: variation
// selectors and fillers (Unicode, Default_Ignorable_Code_Point).
func hidden(r rune) bool {
	return !unicode.IsPrint(r) || unicode.Is(unicode.Variation_Selector, r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}
