package jsonschema

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

func TestWhatASchemaDoesNotAllowIsExplained(t *testing.T) {
	const schema = `{"bsonType": "object", "required": ["a", "b"], "properties": {"a": {"bsonType": "number", "minimum": 1, "maximum": 9},
		"b": {"oneOf": [{"enum": ["x"]}, {"bsonType": "string"}]}}, "additionalProperties": false}`
	parse := func(text string) (d bson.Raw) {
		must.Do(t, bson.UnmarshalExtJSON([]byte(text), false, &d))
		return d
	}
	for text, want := range map[string]string{
		`{"a": 9, "b": "y"}`:   ``,
		`{"a": 3.5, "b": "x"}`: `properties b oneOf more than one subschema matched`,
		`{"a": 10, "b": "y"}`:  `properties a maximum comparison failed`,
		`{"a": "1", "b": "y"}`: `properties a bsonType type did not match`,
		`{"a": 1, "b": 2}`:     `properties b oneOf`,
		`{"b": "y", "c": 1}`:   `required; additionalProperties`,
	} {
		got := ""
		for i, d := range Check(parse(schema), bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: parse(text)}) {
			if i > 0 {
				got += "; "
			}
			got += summary(t, d)
		}
		expect.Equal(t, got, want, "%s", text)
	}
}

// summary names the operators of one explanation, the property and the reason.
func summary(t *testing.T, d bson.D) string {
	t.Helper()
	raw := must.Get(bson.Marshal(d))
	out := bson.Raw(raw).Lookup("operatorName").StringValue()
	if list, ok := bson.Raw(raw).Lookup("propertiesNotSatisfied", "0").DocumentOK(); ok {
		var inner bson.D
		_ = bson.Unmarshal(list.Lookup("details", "0").Value, &inner)
		out += " " + list.Lookup("propertyName").StringValue() + " " + summary(t, inner)
	}
	if reason, ok := bson.Raw(raw).Lookup("reason").StringValueOK(); ok {
		out += " " + reason
	}
	return out
}
