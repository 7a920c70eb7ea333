package topology

// Name is a part of the state by its name for people. The list of projects is
// read beside the table and has a name here too.
func (p Part) Name() string {
	switch p {
	case PartRouting:
		return "Routing table"
	case PartShards:
		return "Shard list"
	case PartDatabases:
		return "Database list"
	case PartZones:
		return "Zones"
	case PartSettings:
		return "Balancer settings"
	case PartRouters:
		return "mongos list"
	case PartBalancer:
		return "Balancer status"
	case PartEvents:
		return "Changelog"
	case PartSizes:
		return "Sizes"
	case PartCollections:
		return "Unsharded collections"
	case PartDisks:
		return "Disks"
	case PartMoves:
		return "Moves in flight"
	case "projects":
		return "Projects"
	}
	return string(p)
}
