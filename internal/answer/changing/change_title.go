package changing

import (
	"regexp"
	"strings"

	"shardboard/internal/format"
	"shardboard/internal/message"
)

// keyInTitle is how many characters of a key a title shows. The page has the whole key.
const keyInTitle = 15

// changeHeading is the summary of a change as the title of a page, with its facts: without ids, without the period,
// and with long keys cut in the middle.
func changeHeading(summary message.Message) message.Message {
	summary.Pattern = strings.TrimSuffix(strings.ReplaceAll(summary.Pattern, " ({id})", ""), ".")
	return shortKeys(summary)
}

var keyDress = regexp.MustCompile(`^\{|\}$|(?:NumberLong|ObjectId|UUID)\("([^"]*)"\)`)

var keyFieldName = regexp.MustCompile(`(^|, )[A-Za-z_][A-Za-z0-9_.]*: `)

// keyInWords is a key with its values alone: the names of the fields would take the room of a title.
func keyInWords(text string) string {
	if !strings.HasPrefix(text, "{") {
		return text
	}
	return keyFieldName.ReplaceAllString(keyDress.ReplaceAllString(text, "$1"), "$1")
}

// shortKeys cuts the keys of a sentence in the middle.
func shortKeys(m message.Message) message.Message {
	for _, f := range m.Facts {
		if f.Kind == message.KindKey && f.Shown == "" {
			f.Shown = format.Middle(keyInWords(f.Value), keyInTitle)
			m = m.With(f)
		}
	}
	return m
}
