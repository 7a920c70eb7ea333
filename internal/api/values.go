package api

import (
	"encoding/json"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// FormatParam asks for an answer in a format: html, json or csv.
const FormatParam = "format"

// Document is any BSON document as canonical Extended JSON; null for none.
func Document(doc bson.Raw) json.RawMessage {
	if len(doc) == 0 {
		return nil
	}
	out, err := bson.MarshalExtJSON(doc, true, false)
	if err != nil {
		return nil
	}
	return Embedded(string(out))
}

// Embedded puts JSON text into an answer. Strings from the cluster may contain bytes that are not
// UTF-8, which JSON cannot represent; they become replacement characters. Text that is not JSON
// becomes null.
func Embedded(text string) json.RawMessage {
	out := json.RawMessage(strings.ToValidUTF8(text, "\ufffd"))
	if !json.Valid(out) {
		return nil
	}
	return out
}

// Instant is a cluster timestamp's second, or nil for the zero timestamp.
func Instant(ts bson.Timestamp) *time.Time {
	if ts.T == 0 {
		return nil
	}
	return Time(time.Unix(int64(ts.T), 0))
}
