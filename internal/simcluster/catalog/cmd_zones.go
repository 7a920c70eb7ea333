package catalog

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
)

func (c *Cluster) runAddShardToZone(_ context.Context, req *engine.Request) (bson.D, error) {
	name, zone, err := shardAndZone(req)
	if err != nil {
		return nil, err
	}
	c.Mu.Lock()
	defer c.Mu.Unlock()
	return bson.D{}, c.addShardToZone(name, zone)
}

func (c *Cluster) runRemoveShardFromZone(_ context.Context, req *engine.Request) (bson.D, error) {
	name, zone, err := shardAndZone(req)
	if err != nil {
		return nil, err
	}
	c.Mu.Lock()
	defer c.Mu.Unlock()
	return bson.D{}, c.removeShardFromZone(name, zone)
}

func shardAndZone(req *engine.Request) (name, zone string, err error) {
	name, ok := req.Lookup(req.Name).StringValueOK()
	if !ok {
		return "", "", wrongType(req.Name, "string")
	}
	if zone, ok = req.Lookup("zone").StringValueOK(); !ok {
		return "", "", missing("zone")
	}
	return name, zone, nil
}

func missing(field string) error {
	return status.Errorf(status.NoSuchKey, "Missing expected field %q", field)
}

func wrongType(field, want string) error {
	return status.Errorf(status.TypeMismatch, "%q had the wrong type. Expected %s", field, want)
}

// runUpdateZoneKeyRange ties a range to a zone; null unties it.
func (c *Cluster) runUpdateZoneKeyRange(_ context.Context, req *engine.Request) (bson.D, error) {
	ns, err := namespace(req)
	if err != nil {
		return nil, err
	}
	lo, ok := req.Lookup("min").DocumentOK()
	if !ok {
		return nil, missing("min")
	}
	hi, ok := req.Lookup("max").DocumentOK()
	if !ok {
		return nil, missing("max")
	}
	if compareKeys(lo, hi) >= 0 {
		return nil, status.Errorf(status.FailedToParse, "min: %s should be less than max: %s", text(lo), text(hi))
	}
	lo, hi = append(bson.Raw(nil), lo...), append(bson.Raw(nil), hi...)
	zone := req.Lookup("zone")
	c.Mu.Lock()
	defer c.Mu.Unlock()
	switch zone.Type {
	case bson.TypeNull:
		return bson.D{}, c.clearZone(ns, lo, hi)
	case bson.TypeString:
		return bson.D{}, c.assignZone(ns, lo, hi, zone.StringValue())
	case 0:
		return nil, missing("zone")
	}
	return nil, status.Errorf(status.TypeMismatch, "\"zone\" had the wrong type. Expected string or null")
}
