package placement

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/message"
	"shardboard/internal/sanitize"
)

// NoteUnwrapped is the code of the note that says what was read in a longer text.
const NoteUnwrapped = "note.unwrapped"

var (
	idInText  = regexp.MustCompile(`\b[0-9a-fA-F]{24}\b`)
	namedText = regexp.MustCompile(`^(?i:project(?:[_ ]?(?:name|id|key))?|name|_?id|public[_ ]?key)\s*[:=]\s*(\S.*)$`)
)

// wrapping is what people copy around a name or an id.
const wrapping = "\"'`“”‘’«»<>,; \t\r\n"

// unwrapped is what a text that was not found may hold: the query in an address of our own, the only id in a line
// of a log or in JSON, a project's id with that of its row, or a name in quotes or behind its label. It is "" for a
// text that holds nothing else.
func unwrapped(text string, dir *Directory) string {
	if u, err := url.Parse(text); err == nil && strings.HasSuffix(u.Path, "/locate") && u.Query().Get("q") != "" {
		return strings.TrimSpace(u.Query().Get("q"))
	}
	switch found := idsIn(text); {
	case len(found) == 1 && found[0] != text:
		return found[0]
	case len(found) == 2:
		isProject := func(hex string) bool {
			id, err := bson.ObjectIDFromHex(hex)
			_, ok := dir.ByID(id)
			return err == nil && ok
		}
		if isProject(found[1]) {
			slices.Reverse(found)
		}
		if isProject(found[0]) && !isProject(found[1]) {
			return found[0] + "." + found[1]
		}
		return ""
	case len(found) > 2:
		return ""
	}
	inner := strings.Trim(text, wrapping)
	if m := namedText.FindStringSubmatch(inner); m != nil {
		inner = strings.Trim(m[1], wrapping)
	}
	if inner == text {
		return ""
	}
	return inner
}

// idsIn are the different ids in a text, in lower case and sorted.
func idsIn(text string) []string {
	found := idInText.FindAllString(strings.ToLower(text), -1)
	slices.Sort(found)
	return slices.Compact(found)
}

// mayUnwrap tells whether a text has no form of its own that says where its parts begin.
func mayUnwrap(in Input) bool {
	return len(in.Readings) == 1 && in.Readings[0].Form == FormProject && !in.ProjectKeyShaped
}

func unwrappedNote(inner string) message.Message {
	return message.New(NoteUnwrapped, "Read in the text that was given: {inner}.", message.Text("inner", sanitize.Truncate(inner, 200)))
}

// unreadable is what to do with a text of which nothing is found; "" for one that looks like a name.
func unreadable(text string) string {
	switch {
	case strings.ContainsAny(text, "\r\n"):
		return "This text has several lines. Look them up together under “Many lines at once”."
	case len(idsIn(text)) > 1:
		return "This text has several ids, and no known project is the owner of one of them. Look each up by itself, or all under " +
			"“Many lines at once”."
	case strings.HasPrefix(text, "/"), strings.Contains(text, "://"):
		return "This address names no project, Yorkie document or id. Open it in the browser, or paste the name or id that it is about."
	}
	return ""
}
