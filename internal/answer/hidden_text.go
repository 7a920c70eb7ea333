package answer

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/history"
	"shardboard/internal/topology"
)

// HideText is what stands in the place of a server's text: the phrase of it that
// we know, which is its kind, and who may read the rest. No text stays none.
func HideText(text string) string {
	if strings.TrimSpace(text) == "" {
		return text
	}
	if phrase := history.Phrase(text); phrase != "" {
		return phrase + " (the server's full text needs the role operator)"
	}
	return "hidden: the server's text needs the role operator"
}

// serverTexts are the fields of log entries in which servers write sentences.
var serverTexts = []string{"errmsg", "error", "reason", "message", "msg", "cause", "warning", "err", "info"}

// plainNotes are the notes that are known to be words of the protocol.
var plainNotes = []string{"aborted", "success", "commit", "failed", "running"}

// HideInEvents takes servers' texts out of log entries. Entries without any are
// shared with the list that it was made of.
func HideInEvents(events []topology.Event) []topology.Event {
	out := slices.Clone(events)
	for i := range out {
		out[i].Details = HideInDetails(out[i].Details)
	}
	return out
}

// HideInDetails looks at the fields of an entry and of the documents in it.
func HideInDetails(doc bson.Raw) bson.Raw {
	elements, err := doc.Elements()
	if err != nil {
		return nil // not well-formed: nothing in it can be told apart
	}
	changed := false
	out := make(bson.D, 0, len(elements))
	for _, e := range elements {
		name, value := e.Key(), any(e.Value())
		switch v := e.Value(); v.Type {
		case bson.TypeString:
			if text := v.StringValue(); isServerText(name, text) {
				value, changed = HideText(text), true
			}
		case bson.TypeEmbeddedDocument:
			if name == "min" || name == "max" {
				break // a bound, whose fields have any name
			}
			if inner := HideInDetails(v.Document()); string(inner) != string(v.Document()) {
				value, changed = inner, true
			}
		case bson.TypeArray: // the same bytes as a document with numbers for names
			if inner := HideInDetails(bson.Raw(v.Array())); string(inner) != string(v.Array()) {
				value, changed = bson.RawValue{Type: bson.TypeArray, Value: inner}, true
			}
		}
		out = append(out, bson.E{Key: name, Value: value})
	}
	if !changed {
		return doc
	}
	raw, err := bson.Marshal(out)
	if err != nil {
		return nil
	}
	return raw
}

func isServerText(name, text string) bool {
	if name == "note" {
		return !slices.Contains(plainNotes, text)
	}
	return slices.Contains(serverTexts, strings.ToLower(name))
}
