package sanitize

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf16"
)

// Quoted is text as a JavaScript string, for commands that people paste into mongosh.
func Quoted(s string) string { return Script(s) }

// Script is a value as JavaScript on one line, for commands that people paste into
// mongosh: JSON in which a terminal or an eye takes nothing for something else. It
// is for names and what is made of them, which always can be written as JSON.
func Script(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // pages escape where they write
	if err := enc.Encode(v); err != nil {
		return `""`
	}
	return JSON(strings.TrimSuffix(b.String(), "\n"))
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
