package answer

import (
	"strings"

	"shardboard/internal/format"
	"shardboard/internal/message"
)

// keyInTitle is how many characters of a key a title shows. The page has the whole key.
const keyInTitle = 15

// ChangeTitle is the summary of a change as the title of a page: without ids, without the
// period, and with long keys cut in the middle.
func ChangeTitle(summary message.Message) string {
	summary.Pattern = strings.TrimSuffix(strings.ReplaceAll(summary.Pattern, " ({id})", ""), ".")
	return shortKeys(summary).String()
}

// shortKeys cuts the keys of a sentence in the middle.
func shortKeys(m message.Message) message.Message {
	for _, f := range m.Facts {
		if f.Kind == message.KindKey && f.Shown == "" {
			f.Shown = format.Middle(f.Value, keyInTitle)
			m = m.With(f)
		}
	}
	return m
}
