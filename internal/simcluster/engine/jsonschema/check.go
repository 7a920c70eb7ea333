// Package jsonschema checks documents by the part of $jsonSchema that the server's own collections use, and explains a
// refusal in the server's form (db/matcher/doc_validation_error.cpp).
package jsonschema

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/value"
)

// Check returns what a value does not satisfy of a schema, empty if it satisfies all. Keywords that are not known here
// demand nothing.
func Check(schema bson.Raw, v bson.RawValue) []bson.D {
	var failed []bson.D
	fail := func(operator string, more ...bson.E) {
		failed = append(failed, append(value.D("operatorName", operator), more...))
	}
	for e := value.Read(schema); e.Next(); {
		name, arg := string(e.Key), e.Value
		specified := bson.E{Key: "specifiedAs", Value: value.D(name, arg)}
		considered := bson.E{Key: "consideredValue", Value: v}
		doc, isDoc := v.DocumentOK()
		switch name {
		case "bsonType":
			if is := value.TypeName(v); is != arg.StringValue() && !(arg.StringValue() == "number" && v.IsNumber()) {
				fail(name, specified, reason("type did not match"), considered, bson.E{Key: "consideredType", Value: is})
			}
		case "enum":
			if !slices.ContainsFunc(slices.Collect(value.Items(arg)), func(x bson.RawValue) bool { return value.Compare(x, v) == 0 }) {
				fail(name, specified, reason("value was not found in enum"), considered)
			}
		case "minimum", "maximum":
			by := value.Compare(v, arg)
			if v.IsNumber() && (name == "minimum" && by < 0 || name == "maximum" && by > 0) {
				fail(name, specified, reason("comparison failed"), considered)
			}
		case "required":
			if missing := missingFields(doc, arg); isDoc && len(missing) > 0 {
				fail(name, specified, bson.E{Key: "missingProperties", Value: missing})
			}
		case "properties":
			if bad := badFields(doc, arg); isDoc && len(bad) > 0 {
				fail(name, bson.E{Key: "propertiesNotSatisfied", Value: bad})
			}
		case "additionalProperties":
			if more := otherFields(doc, schema); isDoc && !arg.Boolean() && len(more) > 0 {
				fail(name, specified, bson.E{Key: "additionalProperties", Value: more})
			}
		case "oneOf":
			failed = append(failed, checkOneOf(arg, specified, v)...)
		}
	}
	return failed
}

func reason(text string) bson.E { return bson.E{Key: "reason", Value: text} }

func checkOneOf(schemas bson.RawValue, specified bson.E, v bson.RawValue) []bson.D {
	var not, matching bson.A
	i := int32(0)
	for s := range value.Items(schemas) {
		if details := Check(s.Value, v); len(details) == 0 {
			matching = append(matching, i)
		} else {
			not = append(not, value.D("index", i, "details", details))
		}
		i++
	}
	switch len(matching) {
	case 0:
		return []bson.D{{{Key: "operatorName", Value: "oneOf"}, {Key: "schemasNotSatisfied", Value: not}}}
	case 1:
		return nil
	}
	return []bson.D{{{Key: "operatorName", Value: "oneOf"}, specified, reason("more than one subschema matched"),
		{Key: "matchingSchemaIndexes", Value: matching}}}
}

func missingFields(doc bson.Raw, required bson.RawValue) (missing bson.A) {
	for name := range value.Items(required) {
		if value.Field(doc, name.StringValue()).Type == 0 {
			missing = append(missing, name.StringValue())
		}
	}
	return missing
}

func badFields(doc bson.Raw, properties bson.RawValue) (bad bson.A) {
	for p := value.Read(properties.Value); p.Next(); {
		v := value.Field(doc, string(p.Key))
		if v.Type == 0 {
			continue
		}
		if details := Check(p.Value.Value, v); len(details) > 0 {
			bad = append(bad, value.D("propertyName", string(p.Key), "details", details))
		}
	}
	return bad
}

func otherFields(doc, schema bson.Raw) (names bson.A) {
	properties := value.Field(schema, "properties")
	for e := value.Read(doc); e.Next(); {
		if value.Field(properties.Value, string(e.Key)).Type == 0 {
			names = append(names, string(e.Key))
		}
	}
	return names
}
