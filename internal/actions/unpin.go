package actions

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
)

// Unpin takes the zones of a pinned or isolated project away. A project that is
// gone can be unpinned by its id.
const Unpin Kind = "unpin"

func describeUnpin() Description {
	return Description{
		Kind:      Unpin,
		Title:     "Unpin a project",
		Lead:      "The project’s zones are removed. Nothing moves by that alone.",
		Proof:     "The zones and their ranges are gone.",
		Undo:      "Setting the zones and their ranges.",
		Arguments: []Argument{argProject.needed(), argDB},
		Adapts:    true,
		plan:      planUnpin,
	}
}

func planUnpin(d *draftBuilder) (Draft, Args, error) {
	s, a := d.s, d.a
	name := a.Project
	p, err := s.project(Unpin, &a)
	switch id, notID := bson.ObjectIDFromHex(a.Project); {
	case err == nil:
		name = p.Name
	case fault.Of(err) == fault.NotFound && notID == nil && s.zoned(id.Hex()):
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
		d.checkPrefix(z)
		d.removeRange(z)
	}
	for _, zone := range zones {
		if d.ranged(zone) {
			continue // in another database
		}
		for _, shard := range d.members(zone) {
			d.removeZone(shard, zone)
		}
	}
	if len(d.steps) == 0 {
		d.block("pin", d.fromTable(topology.PartZones), message.New("pin.none",
			"{project} is not pinned.", message.Text("project", name)))
	} else {
		d.pass("consequence", d.fromRule(), message.New("consequence.unpin",
			"This alone moves nothing. The balancer may move chunks later, when it finds a shard too full."))
	}
	return d.finish(message.New(
		"unpin",
		"Unpin the project {project} ({id}): remove its zone and {ranges} zone ranges.",
		message.Text(
			"project",
			name,
		),
		message.Key("id", a.Project),
		message.Count("ranges", len(ranges)),
	), Undo{Possible: true, Text: message.New("unpin",
		"{project} gets its zones back.", message.Text("project", name))})
}

// zoned tells whether there are zones of a project's id.
func (s Situation) zoned(id string) bool {
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

// ranged tells whether a zone will have ranges still.
func (d *draftBuilder) ranged(zone string) bool {
	for _, z := range d.s.Table.Zones {
		if _, left := rangeWith(d.ranges(z.NS), z.RawMin, z.RawMax); left && z.Zone == zone {
			return true
		}
	}
	return false
}
