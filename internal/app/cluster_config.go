package app

import (
	"log/slog"

	"shardboard/internal/actions"
	"shardboard/internal/alert"
	"shardboard/internal/auth"
	"shardboard/internal/cluster"
	"shardboard/internal/memory"
	"shardboard/internal/profile"
	"shardboard/internal/rules"
	"shardboard/internal/topology"
)

// ClusterConfig is the part of a configuration that is about one cluster.
type ClusterConfig struct {
	// Of one of several clusters: its name in addresses, what people call it, and who may do what there.
	Name, Title string
	Roles       auth.ClusterRoles
	Settings    string // differs when the parts of the cluster have to be made anew

	URI     cluster.URI
	Demo    bool
	Log     *slog.Logger
	Profile *profile.Profile // layout of the data; nil: that which was kept, or Yorkie's
	Watcher topology.Options // intervals; zero values are the defaults
	Cluster cluster.Options  // dialer and monitor, for tests and in-process clusters
	Actions bool             // changes to the cluster are allowed

	Maintenance []actions.Maintenance // windows in which changes are allowed; none: always
	Approval    Approval              // which plans need the approval of a second person; zero: none
	Alerts      *alert.Config         // alert receivers; nil: none
	Bounds      rules.Bounds          // of severity, where they are not the defaults
	HideBounds  bool                  // only support and above see chunk bounds

	HoldingsPerMinute int // as in Config

	memory *memory.Guard // of the process; nil: no limit
}

// cluster is the cluster of a configuration by flags.
func (c Config) cluster() ClusterConfig {
	return ClusterConfig{URI: c.URI, Demo: c.Demo, Log: c.Log, Profile: c.Profile, Watcher: c.Watcher, Cluster: c.Cluster, Actions: c.Actions,
		Maintenance: c.Maintenance, Approval: c.Approval, Alerts: c.Alerts, Bounds: c.Bounds,
		HideBounds: c.HideBounds, HoldingsPerMinute: c.HoldingsPerMinute}
}

// profile is the configured layout of the data.
func (c ClusterConfig) profile() *profile.Profile {
	if c.Profile == nil {
		return profile.Yorkie()
	}
	return c.Profile
}
