package sanitize

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf16"
)

// Quoted is text as a JavaScript string, for commands that people paste: JSON, in
// which nothing can be taken for something else by a terminal or by an eye.
func Quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""` // cannot happen: any string can be marshalled
	}
	return JSON(string(b))
}

// JSON writes the hidden characters of a JSON text as \u escapes, which mean the
// same to whoever reads it as JSON and nothing to a terminal. Line ends stay.
func JSON(text string) string {
	if strings.IndexFunc(text, hiddenInJSON) < 0 {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) + 16)
	for _, r := range text {
		switch high, low := utf16.EncodeRune(r); {
		case !hiddenInJSON(r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// hiddenInJSON leaves the white space of JSON itself alone: inside of strings
// the encoder has escaped it already.
func hiddenInJSON(r rune) bool { return r != '\n' && hidden(r) }
