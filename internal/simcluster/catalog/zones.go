package catalog

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/expr"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// Zone is a key range of a namespace (sharded or not) that is assigned to a zone: one
// document of config.tags.
type Zone struct {
	Min, Max bson.Raw
	Name     string

	id     any
	record engine.RecordID
}

func zoneDocument(ns string, z *Zone) bson.D {
	return value.D("_id", z.id, "ns", ns, "min", z.Min, "max", z.Max, "tag", z.Name)
}

// zoneOf is the zone of a chunk that is completely inside one range, otherwise "".
func (c *Cluster) zoneOf(ns string, ch *Chunk) string {
	if z := c.zoneAround(ns, ch); z != nil {
		return z.Name
	}
	return ""
}

// zoneAround is the range of a zone in which a chunk is completely, or nil.
func (c *Cluster) zoneAround(ns string, ch *Chunk) *Zone {
	for _, z := range c.zones[ns] {
		if compareKeys(z.Min, ch.Min) <= 0 && compareKeys(ch.Max, z.Max) <= 0 {
			return z
		}
	}
	return nil
}

// zoneExists reports whether any shard is in the zone.
func (c *Cluster) zoneExists(zone string) bool { return len(c.inZone(zone)) > 0 }

// zoneInUse reports whether any range of any namespace is assigned to the zone.
func (c *Cluster) zoneInUse(zone string) bool {
	for _, list := range c.zones {
		for _, z := range list {
			if z.Name == zone {
				return true
			}
		}
	}
	return false
}

// fullRange completes bounds that are a prefix of the shard key: missing fields of both
// bounds become MinKey (db/s/config/sharding_catalog_manager_zone_operations.cpp).
// Bounds of a namespace that is not sharded are left unchanged.
func (c *Cluster) fullRange(ns string, lo, hi bson.Raw) (bson.Raw, bson.Raw, error) {
	r := c.Routing(ns)
	if r == nil {
		return lo, hi, nil
	}
	ends := []bson.Raw{lo, hi}
	for i, name := range []string{"min", "max"} {
		full, ok := r.pattern.extend(ends[i])
		if !ok {
			return nil, nil, status.Errorf(status.ShardKeyNotFound, "%s: %s is not a prefix of the shard key %s of ns: %s",
				name, text(ends[i]), text(r.Key), ns)
		}
		ends[i] = full
	}
	return ends[0], ends[1], nil
}

// assignZone assigns a range to a zone. The order of the checks is the server's.
func (c *Cluster) assignZone(ns string, lo, hi bson.Raw, zone string) error {
	lo, hi, err := c.fullRange(ns, lo, hi)
	if err != nil {
		return err
	}
	if !c.zoneExists(zone) {
		return status.Errorf(status.ZoneNotFound, "zone %s does not exist", zone)
	}
	if err := c.checkHashed(ns, lo, hi); err != nil {
		return err
	}
	if err := c.checkZoneNames(ns, lo); err != nil {
		return err
	}
	for _, z := range c.zones[ns] {
		if compareKeys(z.Max, lo) <= 0 || compareKeys(hi, z.Min) <= 0 {
			continue
		}
		if z.Name == zone && compareKeys(z.Min, lo) == 0 && compareKeys(z.Max, hi) == 0 {
			return nil
		}
		return status.Errorf(status.RangeOverlapConflict, "Zone range: %s -->> %s  on  %s is overlapping with existing: %s -->> %s  on  %s",
			text(lo), text(hi), zone, text(z.Min), text(z.Max), z.Name)
	}
	z := &Zone{Min: lo, Max: hi, Name: zone, id: c.objectID(configServer)}
	z.record = c.config.insert("tags", zoneDocument(ns, z))
	c.putZone(ns, z)
	return nil
}

// checkZoneNames refuses a range whose fields differ from those of the namespace's other
// ranges, in 8.0 and where no shard key decides. What earlier releases do is not known.
func (c *Cluster) checkZoneNames(ns string, lo bson.Raw) error {
	if !c.since(8) || c.Routing(ns) != nil {
		return nil
	}
	for _, z := range c.zones[ns] {
		if n := value.Len(lo); value.Len(z.Min) != n || sameNames(z.Min, lo) != n {
			return status.Errorf(16634, "field names of bound %s do not match those of keyPattern %s", text(z.Min), text(value.Ascending(lo)))
		}
	}
	return nil
}

func (c *Cluster) putZone(ns string, z *Zone) {
	list := append(c.zones[ns], z)
	slices.SortFunc(list, func(a, b *Zone) int { return compareKeys(a.Min, b.Min) })
	c.zones[ns] = list
}

// clearZone removes the range with exactly these bounds, if there is one.
func (c *Cluster) clearZone(ns string, lo, hi bson.Raw) error {
	lo, hi, err := c.fullRange(ns, lo, hi)
	if err != nil {
		return err
	}
	c.zones[ns] = slices.DeleteFunc(c.zones[ns], func(z *Zone) bool {
		gone := compareKeys(z.Min, lo) == 0 && compareKeys(z.Max, hi) == 0
		if gone {
			c.config.delete("tags", z.record)
		}
		return gone
	})
	return nil
}

// dropZones removes all ranges of a namespace.
func (c *Cluster) dropZones(ns string) {
	for _, z := range c.zones[ns] {
		c.config.delete("tags", z.record)
	}
	delete(c.zones, ns)
}

// renameZones moves the ranges of one namespace to another.
func (c *Cluster) renameZones(from, to string) {
	for _, z := range c.zones[from] {
		c.config.update("tags", z.record, zoneDocument(to, z))
		c.putZone(to, z)
	}
	delete(c.zones, from)
}

// reloadZones reads config.tags again after a client wrote into it.
func (c *Cluster) reloadZones() {
	c.zones = make(map[string][]*Zone)
	for record, doc := range c.config.all("tags") {
		ns, _ := doc.Lookup("ns").StringValueOK()
		lo, _ := doc.Lookup("min").DocumentOK()
		hi, _ := doc.Lookup("max").DocumentOK()
		z := &Zone{Min: append(bson.Raw(nil), lo...), Max: append(bson.Raw(nil), hi...), id: doc.Lookup("_id"), record: record}
		z.Name, _ = doc.Lookup("tag").StringValueOK()
		c.putZone(ns, z)
	}
}

func (c *Cluster) runAddShardToZone(_ context.Context, req *engine.Request, _ string) (bson.D, error) {
	s, zone, err := c.shardAndZone(req)
	if err == nil && !slices.Contains(s.tags, zone) {
		s.tags, s.hasTags = append(s.tags, zone), true
		c.saveShard(s)
	}
	return bson.D{}, err
}

// runRemoveShardFromZone refuses to remove the last shard of a zone that still has ranges.
func (c *Cluster) runRemoveShardFromZone(_ context.Context, req *engine.Request, _ string) (bson.D, error) {
	s, zone, err := c.shardAndZone(req)
	if err != nil {
		return nil, err
	}
	i := slices.Index(s.tags, zone)
	if i < 0 {
		return bson.D{}, nil
	}
	if len(c.inZone(zone)) == 1 && c.zoneInUse(zone) {
		return nil, status.Errorf(status.ZoneStillInUse, "cannot remove a shard from zone if a chunk range is associated with it")
	}
	s.tags = slices.Delete(slices.Clone(s.tags), i, i+1)
	c.saveShard(s)
	return bson.D{}, nil
}

// shardAndZone reads the two arguments of those commands.
func (c *Cluster) shardAndZone(req *engine.Request) (s *shard, zone string, err error) {
	name, err := textOf(req, req.Name)
	if err != nil {
		return nil, "", err
	}
	if zone, err = textOf(req, "zone"); err != nil {
		return nil, "", err
	}
	if s = c.shard(name); s == nil {
		return nil, "", status.Errorf(status.ShardNotFound, "shard %s does not exist", name)
	}
	return s, zone, nil
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
func (c *Cluster) runUpdateZoneKeyRange(_ context.Context, req *engine.Request, ns string) (bson.D, error) {
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
