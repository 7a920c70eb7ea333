package cluster

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/topology"
)

// atlasDomain ends the host names of MongoDB Atlas, those of private endpoints included.
const atlasDomain = ".mongodb.net"

// productOf is who made the server and its own version, where that is not the release. All
// are read of what is read anyway: buildInfo has psmdbVersion on Percona Server for
// MongoDB (its release notes 3.6.11-3.1) and modules on MongoDB Enterprise. Atlas is known
// by its host names, or by a command that it refused.
func (c *Client) productOf(build bson.Raw) (product, version string) {
	if v, ok := build.Lookup("psmdbVersion").StringValueOK(); ok {
		return topology.Percona, v
	}
	if c.onAtlas() {
		return topology.Atlas, ""
	}
	modules, _ := build.Lookup("modules").ArrayOK()
	list, _ := modules.Values()
	for _, m := range list {
		if name, _ := m.StringValueOK(); name == "enterprise" {
			return topology.Enterprise, ""
		}
	}
	return topology.Community, ""
}

func (c *Client) onAtlas() bool { return c.refusedByAtlas.Load() || isAtlas(c.hosts()) }

// denied is the error for a privilege that the cluster user lacks. Users of Atlas are
// granted roles in Atlas itself, and no role has some of the actions.
func (c *Client) denied(err error, doing, privilege string) error {
	if c.onAtlas() {
		return fault.Wrap(fault.Forbidden, &topology.DeniedError{Privilege: privilege, Err: err},
			"The cluster user may not %s; it lacks %s. Grant it in Atlas, under Database Access; not all roles exist there.", doing, privilege)
	}
	return fault.Wrap(fault.Forbidden, &topology.DeniedError{Privilege: privilege, Err: err},
		"The cluster user may not %s; it lacks %s.", doing, privilege)
}

// atlasRefuses is the error for what Atlas does not let anybody do.
func (c *Client) atlasRefuses(err error, doing, privilege string) error {
	c.refusedByAtlas.Store(true)
	return fault.Wrap(fault.Forbidden, &topology.DeniedError{Privilege: privilege, Product: topology.Atlas, Err: err},
		"%s does not allow to %s; no grant helps.", topology.Atlas, doing)
}
