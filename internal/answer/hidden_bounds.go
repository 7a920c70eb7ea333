package answer

import (
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/api"
	"shardboard/internal/topology"
)

// DocumentOf is a bound, or another document with key values, as answers have it:
// null with the reason where it is hidden.
func (v View) DocumentOf(doc bson.Raw) api.Key {
	if h := v.Table.Hiding(); h != nil && len(doc) > 0 {
		return json.RawMessage(h.ExtJSON())
	}
	return api.Document(doc)
}

// NameOf is a short name of a bound within a page, for a script to find its row.
func (v View) NameOf(doc bson.Raw) string {
	if h := v.Table.Hiding(); h != nil {
		return h.Name(string(doc))
	}
	return hex.EncodeToString(doc)
}

// DetailsOf are those of a log entry. Where bounds are hidden only what is known to
// hold none is left.
func (v View) DetailsOf(e topology.Event) api.Key {
	doc := e.Details
	if v.Hidden.Texts {
		doc = HideInDetails(doc) // entries of past times do not come with the table
	}
	if v.Table.Hiding() != nil {
		doc = v.withoutBounds(doc)
	}
	return api.Document(doc)
}

// boundless are the fields of log entries that hold no key values, other than
// steps and counts, which are numbers.
var boundless = []string{
	"from", "to", "note", "shard", "name", "owningShard", "errmsg", "ns", "collection", "primary", "initShards",
	"numChunks", "number", "of", "counts", "shardKey", "oldKey", "newKey", "uuid", "lastmod", "lastmodEpoch",
	"lastmodTimestamp", "epoch", "version",
}

// chunkFields are the fields that hold a chunk as it was or became.
var chunkFields = []string{"before", "left", "right", "chunk"}

// withoutBounds is an entry's details with hidden values in the place of all
// fields that may hold a bound.
func (v View) withoutBounds(doc bson.Raw) bson.Raw {
	elements, err := doc.Elements()
	if err != nil {
		return nil
	}
	out := make(bson.D, 0, len(elements))
	for _, e := range elements {
		var value any = e.Value()
		switch inner, isDocument := e.Value().DocumentOK(); {
		case isDocument && slices.Contains(chunkFields, e.Key()):
			value = v.withoutBounds(inner)
		case !slices.Contains(boundless, e.Key()) && !isStep(e):
			value = v.Table.Hiding().Document()
		}
		out = append(out, bson.E{Key: e.Key(), Value: value})
	}
	raw, err := bson.Marshal(out)
	if err != nil {
		return nil
	}
	return raw
}

// isStep tells a move's step with how long it took, such as "step 1 of 6": 12.
func isStep(e bson.RawElement) bool {
	words := strings.Fields(e.Key())
	return len(words) == 4 && words[0] == "step" && words[2] == "of" && e.Value().IsNumber()
}
