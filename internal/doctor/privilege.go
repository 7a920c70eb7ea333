package doctor

import (
	"slices"
	"strings"

	"shardboard/internal/topology"
)

// Privilege is one action on one resource. A resource with a database and no collection is all its
// normal collections and the database itself.
type Privilege struct {
	Action string
	On     topology.Resource
}

// String is "find on config.chunks", "collStats on shop.*" or "connPoolStats on
// the cluster".
func (p Privilege) String() string {
	switch {
	case p.On.Cluster:
		return p.Action + " on the cluster"
	case p.On.Collection == "":
		return p.Action + " on " + p.On.DB + ".*"
	}
	return p.Action + " on " + p.On.DB + "." + p.On.Collection
}

// Namespace is the privilege's single collection; empty for a wider resource.
func (p Privilege) Namespace() topology.Namespace {
	if p.On.Collection == "" {
		return ""
	}
	return topology.Namespace(p.On.DB + "." + p.On.Collection)
}

func on(db, collection string, actions ...string) []Privilege {
	out := make([]Privilege, len(actions))
	for i, a := range actions {
		out[i] = Privilege{Action: a, On: topology.Resource{DB: db, Collection: collection}}
	}
	return out
}

func onCluster(action string) []Privilege {
	return []Privilege{{Action: action, On: topology.Resource{Cluster: true}}}
}

// granted reports whether one of the grants covers a privilege.
func granted(grants []topology.Grant, p Privilege) bool {
	return slices.ContainsFunc(grants, func(g topology.Grant) bool {
		return covers(g.On, p.On) && (slices.Contains(g.Actions, p.Action) || slices.Contains(g.Actions, "anyAction"))
	})
}

// covers reports whether a grant on one resource applies to another, by the server's rules
// (db/auth/authorization_session_impl.cpp, MongoDB 5.0): a grant on all databases excludes config
// and local, one on a database excludes its system collections.
func covers(grant, want topology.Resource) bool {
	switch {
	case grant.Other, grant.Cluster != want.Cluster && !grant.Any:
		return false
	case grant.Any, grant.Cluster:
		return true
	case grant == want:
		return true
	case grant.Collection != "":
		return grant.DB == "" && grant.Collection == want.Collection
	case strings.HasPrefix(want.Collection, "system."):
		return false
	case grant.DB == "":
		return want.DB != "config" && want.DB != "local"
	}
	return grant.DB == want.DB
}
