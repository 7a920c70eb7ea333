package catalog

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/jsonschema"
	"shardboard/internal/simcluster/engine/status"
)

// settingsSchema is the schema of config.settings in 8.0, as its listCollections shows it.
var settingsSchema = func() bson.Raw {
	is := func(kind string) bson.D { return bson.D{{Key: "bsonType", Value: kind}} }
	id := func(names ...string) bson.E {
		return bson.E{Key: "_id", Value: bson.D{{Key: "enum", Value: names}}}
	}
	only := func(properties ...bson.E) bson.D {
		return bson.D{{Key: "properties", Value: bson.D(properties)}, {Key: "additionalProperties", Value: false}}
	}
	return encode(bson.D{{Key: "oneOf", Value: bson.A{
		only(id("balancer"),
			bson.E{Key: "mode", Value: bson.D{{Key: "enum", Value: bson.A{"full", "off"}}}},
			bson.E{Key: "stopped", Value: is("bool")},
			bson.E{Key: "activeWindow", Value: bson.D{{Key: "bsonType", Value: "object"}, {Key: "required", Value: bson.A{"start", "stop"}}}},
			bson.E{Key: "_secondaryThrottle", Value: bson.D{{Key: "oneOf", Value: bson.A{is("bool"), is("object")}}}},
			bson.E{Key: "_waitForDelete", Value: is("bool")},
			bson.E{Key: "attemptToBalanceJumboChunks", Value: is("bool")}),
		only(id("chunksize"), bson.E{Key: "value", Value: bson.D{
			{Key: "bsonType", Value: "number"}, {Key: "minimum", Value: int32(1)}, {Key: "maximum", Value: int32(1024)}}}),
		bson.D{{Key: "properties", Value: bson.D{id("automerge", "ReadWriteConcernDefaults", "audit")}}},
	}}})
}()

// CheckDocument refuses a document that a client wants to write into a collection whose schema it does not satisfy:
// config.settings has one in 8.0.
func (c *Cluster) CheckDocument(coll *engine.Coll, doc bson.Raw) error {
	if !c.features.settingsSchema || coll.DB != "config" || coll.Name != "settings" {
		return nil
	}
	details := jsonschema.Check(settingsSchema, bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: doc})
	if len(details) == 0 {
		return nil
	}
	err := status.Errorf(status.DocumentValidationFailure, "Document failed validation")
	err.Extra = bson.D{{Key: "errInfo", Value: bson.D{
		{Key: "failingDocumentId", Value: doc.Lookup("_id")},
		{Key: "details", Value: bson.D{{Key: "operatorName", Value: "$jsonSchema"}, {Key: "schemaRulesNotSatisfied", Value: details}}},
	}}}
	return err
}
