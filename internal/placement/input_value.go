package placement

import (
	"encoding/json"
	"regexp"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/shardkey"
)

// Value is a text read as a value that a field can hold, but that names nothing by itself.
type Value struct {
	Kind string // in words, with its article
	JSON string // as Extended JSON
}

var (
	numberCall = regexp.MustCompile(`^(?:new\s+)?(NumberLong|Long|NumberInt|Int32|NumberDecimal|Decimal128|Double)` +
		`\(\s*["']?(-?[0-9][0-9.eE+-]*)["']?\s*\)$`)
	dateCall   = regexp.MustCompile(`^(?:new\s+)?(?:ISODate|Date)\(\s*["']([^"']+)["']\s*\)$`)
	numberJSON = regexp.MustCompile(`^\{\s*"\$(?:number(?:Long|Int|Double|Decimal))"\s*:`)
	dateJSON   = regexp.MustCompile(`^\{\s*"\$date"\s*:`)
)

// numberTypes are the Extended JSON types of what shells and drivers print.
var numberTypes = map[string]string{
	"NumberLong": "$numberLong", "Long": "$numberLong", "NumberInt": "$numberInt", "Int32": "$numberInt",
	"NumberDecimal": "$numberDecimal", "Decimal128": "$numberDecimal", "Double": "$numberDouble",
}

// ReadValue reads a trimmed text as a number or a date: plain, as shells print it, or as Extended JSON.
func ReadValue(text string) (Value, bool) {
	v := Value{Kind: "a number"}
	var n json.Number
	switch {
	case json.Unmarshal([]byte(text), &n) == nil && text[0] != '"' && text != "null":
		v.JSON = text
	case numberJSON.MatchString(text):
		v.JSON = text
	case dateJSON.MatchString(text):
		v = Value{"a date", text}
	default:
		if m := numberCall.FindStringSubmatch(text); m != nil {
			v.JSON = `{"` + numberTypes[m[1]] + `":"` + m[2] + `"}`
			break
		}
		v.Kind = "a date"
		if m := dateCall.FindStringSubmatch(text); m != nil {
			text = m[1]
		}
		at, ok := readDate(text)
		if !ok {
			return Value{}, false
		}
		v.JSON = `{"$date":"` + at.UTC().Format("2006-01-02T15:04:05.000Z") + `"}`
	}
	_, ok := v.bson()
	return v, ok
}

// readDate reads a date, or a time with its zone; without one it is of UTC.
func readDate(text string) (time.Time, bool) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05",
		"2006-01-02 15:04:05 UTC", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

// bson is the value as it is stored.
func (v Value) bson() (bson.RawValue, bool) {
	doc, err := shardkey.ParseExtJSON(`{"v":` + v.JSON + `}`)
	if err != nil {
		return bson.RawValue{}, false
	}
	value := doc.Lookup("v")
	return value, value.Type != bson.TypeEmbeddedDocument
}
