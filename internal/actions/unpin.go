package actions

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
)

// Unpin removes the zones of a pinned or isolated project. A project that no longer
// exists can be unpinned by its id.
const Unpin Kind = "unpin"

func describeUnpin() Description {
	return Description{
		Kind:      Unpin,
		Title:     "Unpin a project",
		Lead:      "Removes the project’s zones. This alone moves nothing.",
		Proof:     "The zones and their ranges are gone.",
		Undo:      "Restores the zones and their ranges.",
		Arguments: []Argument{argProject.needed(), argDB},
		Adapts:    true,
		InBatches: true,
		Sends:     []operation.Op{operation.OpRemoveRange},
		plan:      planUnpin,
	}
}

func planUnpin(d *draftBuilder) (Draft, Args, error) {
	s, a := d.s, d.a
	name := a.Project
	p, err := s.project(&a)
	switch id, notID := bson.ObjectIDFromHex(a.Project); {
	case err == nil:
		name = p.Name
	case fault.Of(err) == fault.NotFound && notID == nil && s.hasProjectZones(id.Hex()):
		a.Project = id.Hex()
	default:
		return Draft{}, a, err
	}
	d.a = a
	zones := []string{placement.PinZone(a.Project), placement.OthersZone(a.Project)}
	var ranges []topology.ZoneRange
	for _, z := range s.Table.Zones {
		if z.Zone != zones[0] && z.Zone != zones[1] || a.DB != "" && z.NS.Database() != a.DB {
			continue
		}
		ranges = append(ranges, z)
		d.add(d.checkPrefix(z))
		d.removeRange(z)
	}
	for _, zone := range zones {
		if d.keepsRanges(zone) {
			continue // ranges in another database, which stay
		}
		for _, shard := range d.members(zone) {
			d.removeZone(shard, zone)
		}
	}
	if len(d.steps) == 0 {
		d.block("pin", d.fromTable(topology.PartZones), message.New("pin.none",
			"{project} is not pinned.", message.Text("project", name)))
	} else {
		d.add(d.checkMovesNothing())
	}
	return d.finish(message.New("unpin", "Unpin the project {project} ({id}): remove its zone and "+
		message.Plural(len(ranges), "1 zone range.", "{ranges} zone ranges."),
		message.Text("project", name), message.Key("id", a.Project), message.Count("ranges", len(ranges))),
		Undo{Possible: true, Text: message.New("unpin", "Restores the zones of {project}.", message.Text("project", name))})
}

// hasProjectZones reports whether there are zones for a project's id.
func (s Situation) hasProjectZones(id string) bool {
	for _, z := range s.Table.Zones {
		if z.Zone == placement.PinZone(id) || z.Zone == placement.OthersZone(id) {
			return true
		}
	}
	for _, sh := range s.Table.Shards {
		for _, z := range sh.Zones {
			if z == placement.PinZone(id) || z == placement.OthersZone(id) {
				return true
			}
		}
	}
	return false
}

// keepsRanges reports whether a zone still has ranges after the steps planned so far.
func (d *plannedCluster) keepsRanges(zone string) bool {
	for _, z := range d.now.Zones {
		if _, left := rangeWithBounds(d.ranges(z.NS), z.RawMin, z.RawMax); left && z.Zone == zone {
			return true
		}
	}
	return false
}
