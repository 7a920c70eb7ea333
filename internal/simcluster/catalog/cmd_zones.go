package catalog

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/expr"
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
	if name, err = textOf(req, req.Name); err != nil {
		return "", "", err
	}
	zone, err = textOf(req, "zone")
	return name, zone, err
}

// textOf reads a required string.
func textOf(req *engine.Request, field string) (string, error) {
	v := req.Lookup(field)
	if v.Type == 0 {
		return "", missing(field)
	}
	s, ok := v.StringValueOK()
	if !ok {
		return "", wrongType(field, "string", v)
	}
	return s, nil
}

// documentOf reads a required document.
func documentOf(req *engine.Request, field string) (bson.Raw, error) {
	v := req.Lookup(field)
	if v.Type == 0 {
		return nil, missing(field)
	}
	d, ok := v.DocumentOK()
	if !ok {
		return nil, wrongType(field, "object", v)
	}
	return append(bson.Raw(nil), d...), nil
}

func missing(field string) error {
	return status.Errorf(status.NoSuchKey, "Missing expected field %q", field)
}

func wrongType(field, want string, got bson.RawValue) error {
	return status.Errorf(status.TypeMismatch, "%q had the wrong type. Expected %s, found %s", field, want, expr.TypeName(got))
}

// runUpdateZoneKeyRange assigns a range to a zone, or removes the assignment when the
// zone is null.
func (c *Cluster) runUpdateZoneKeyRange(_ context.Context, req *engine.Request) (bson.D, error) {
	ns, err := namespace(req)
	if err != nil {
		return nil, err
	}
	lo, err := documentOf(req, "min")
	if err != nil {
		return nil, err
	}
	hi, err := documentOf(req, "max")
	if err != nil {
		return nil, err
	}
	if compareKeys(lo, hi) >= 0 {
		return nil, status.Errorf(status.FailedToParse, "min: %s should be less than max: %s", text(lo), text(hi))
	}
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
	return nil, wrongType("zone", "string or null", zone)
}
