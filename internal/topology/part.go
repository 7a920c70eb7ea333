package topology

// Label is the name of the part for people.
func (p Part) Label() string {
	if name, ok := partLabels[p]; ok {
		return name
	}
	return string(p)
}

var partLabels = map[Part]string{
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
}
