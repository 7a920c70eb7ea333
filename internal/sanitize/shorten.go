package sanitize

import (
	"strings"
	"unicode/utf8"
)

// readable is how much of a text is looked at: servers write at most some
// kilobytes, and nobody reads more.
const readable = 1 << 16

// longWord is the length in bytes from which a word of letters may be cut:
// languages without spaces have no other place.
const longWord = 60

// Shorten gives the begin of a server's text, at most so many bytes and " …". It
// never cuts inside a number, an id, a quoted text or brackets: the half of a
// bound or of an ObjectId reads like another one. What does not fit is left out
// as a whole, so that the result can be much shorter than asked for. Bytes that
// are no UTF-8 become U+FFFD.
func Shorten(s string, most int) string {
	if len(s) <= most {
		return strings.ToValidUTF8(s, "\ufffd")
	}
	text := s[:min(len(s), readable)]
	closes := brackets(text)
	end, at := 0, 0
	for at < len(text) {
		for at < len(text) && space(text[at]) {
			at++
		}
		next := unit(text, at, closes)
		if next > most {
			if cut := runeStart(text, most); next-at > longWord && cut > at && plain(text[at:next]) {
				end = cut
			}
			break
		}
		at, end = next, next
	}
	if end == 0 {
		return "…"
	}
	return strings.ToValidUTF8(text[:end], "\ufffd") + " …"
}

// unit gives the end of what begins at a place and must stay whole: up to the
// next space that is not inside brackets or quotes.
func unit(s string, at int, closes map[int]int) int {
	for at < len(s) && !space(s[at]) {
		if end, ok := closes[at]; ok {
			at = end
		}
		at++
	}
	return at
}

// brackets gives for each opening bracket or quote that is closed the place of
// its end. A bound opens with [ and closes with ), so the kinds are not compared.
// What is never closed is an ordinary character.
func brackets(s string) map[int]int {
	closes := map[int]int{}
	var open []int
	unpaired := [2]bool{} // there is no further " or '
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '{', '[', '(':
			open = append(open, i)
		case '}', ']', ')':
			if n := len(open); n > 0 {
				closes[open[n-1]] = i
				open = open[:n-1]
			}
		case '"', '\'':
			which := 0
			if c == '\'' {
				which = 1
			}
			// The apostrophe of "can't" opens nothing.
			if unpaired[which] || c == '\'' && i > 0 && wordByte(s[i-1]) {
				continue
			}
			end := quoteEnd(s, i)
			if end < 0 {
				unpaired[which] = true
				continue
			}
			closes[i] = end
			i = end
		}
	}
	return closes
}

// quoteEnd is where the quoted text that begins at a place ends; negative when
// it does not.
func quoteEnd(s string, at int) int {
	for i := at + 1; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == s[at] && (s[at] == '"' || i+1 == len(s) || !wordByte(s[i+1])):
			return i
		}
	}
	return -1
}

func plain(word string) bool { return !strings.ContainsAny(word, `0123456789{[("'`) }

func runeStart(s string, at int) int {
	for at > 0 && at < len(s) && !utf8.RuneStart(s[at]) {
		at--
	}
	return at
}

func space(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

func wordByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf
}
