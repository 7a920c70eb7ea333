package shardkey

import (
	"encoding/json"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Hiding replaces key values for users who may not see them. Immutable.
type Hiding struct {
	Text string              // shown instead of the value
	Name func(string) string // an opaque name, the same for equal values
}

// ExtJSON replaces a value in JSON: null with the reason.
func (h *Hiding) ExtJSON() string {
	reason, _ := json.Marshal(h.Text) // a string
	return `{"value":null,"reason":` + string(reason) + `}`
}

// Hide returns a pattern whose texts of keys come from h. Computations with it do not
// change.
func (p Pattern) Hide(h *Hiding) Pattern {
	p.hiding = h
	return p
}

// Hiding is the pattern's hiding of key values, or nil.
func (p Pattern) Hiding() *Hiding { return p.hiding }

// Document replaces a document with key values, such as a chunk's bound in a stored plan.
func (h *Hiding) Document() bson.Raw {
	raw, _ := bson.Marshal(bson.D{{Key: "value", Value: nil}, {Key: "reason", Value: h.Text}}) // null and a string
	return raw
}

// IsHidden tells whether a document was made by Document.
func IsHidden(doc bson.Raw) bool {
	elements, err := doc.Elements()
	if err != nil || len(elements) != 2 || elements[0].Key() != "value" || elements[1].Key() != "reason" {
		return false
	}
	reason, isText := elements[1].Value().StringValueOK()
	return elements[0].Value().Type == bson.TypeNull && isText && reason == HiddenText
}

// HiddenText is what people read where a key value is hidden from them.
const HiddenText = "hidden: needs the role support"
