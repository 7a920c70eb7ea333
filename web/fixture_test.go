package web_test

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/topology"
)

var zeroHealth topology.Health

func bsonKey(field string) bson.D { return bson.D{{Key: field, Value: 1}} }
