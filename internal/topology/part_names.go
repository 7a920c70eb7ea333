package topology

import "cmp"

var partNames = map[Part]string{
	PartRouting:     "Routing table",
	PartShards:      "Shard list",
	PartDatabases:   "Database list",
	PartZones:       "Zones",
	PartSettings:    "Balancer settings",
	PartRouters:     "mongos list",
	PartBalancer:    "Balancer status",
	PartEvents:      "Changelog",
	PartSizes:       "Sizes",
	PartCollections: "Unsharded collections",
	PartDisks:       "Disks",
	PartMoves:       "Moves in flight",
	"projects":      "Projects",
}

// Name is a part of the state by its name for people. The list of projects is
// read beside the table and has a name here too.
func (p Part) Name() string { return cmp.Or(partNames[p], string(p)) }
