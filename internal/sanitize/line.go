// Package sanitize makes text that somebody else wrote safe to show where markup
// does not protect, in a terminal and in a line of a log, and short enough where
// there is little room.
//
// It promises that the result of Line is one line of printable characters in the
// order in which they are stored: no control character moves the cursor, starts
// an escape sequence or ends the line, none changes the direction of writing, and
// none is invisible. Escaping for HTML, JSON and CSV is not done here. Shorten cuts
// a server's text where no number, id or bound becomes another one.
package sanitize

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
func Line(s string) string { return escape(s, hidden) }

// Sentence is Line for a sentence that we have composed of other people's names and
// our own words and figures: it keeps the thin space that groups our digits.
func Sentence(s string) string {
	return escape(s, func(r rune) bool { return r != thinSpace && hidden(r) })
}

const thinSpace = '\u202f'

func escape(s string, hidden func(rune) bool) string {
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

// hidden reports that a character cannot be seen as itself. Characters that only
// change the look of another one count too, though Unicode calls them printable:
// variation selectors and fillers (Unicode, Default_Ignorable_Code_Point).
func hidden(r rune) bool {
	return !unicode.IsPrint(r) || unicode.Is(unicode.Variation_Selector, r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}
