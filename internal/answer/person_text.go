package answer

import (
	"strings"

	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/sanitize"
)

// TextShown is how much of a reason or an error a page shows, in bytes.
const TextShown = 300

// Counted is a number with its noun.
func Counted(n int, one, many string) string {
	return format.Count(int64(n)) + " " + message.Plural(n, one, many)
}

// PersonText is a name that somebody chose, on one line and not too long.
func PersonText(name string) string { return sanitize.Truncate(sanitize.Sentence(name), 80) }

// ReasonText is a text that somebody typed, on one line and not too long.
func ReasonText(text string) string { return sanitize.Truncate(sanitize.Sentence(text), TextShown) }

// MarkdownLetters escapes what Markdown gives a meaning, so that a text is shown as it is.
var MarkdownLetters = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`, ">", `\>`,
	"|", `\|`, "~", `\~`, "&", `\&`, "#", `\#`, "!", `\!`)
