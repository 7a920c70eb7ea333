package api

import (
	"time"

	"shardboard/internal/message"
)

// Cluster describes the whole cluster (GET cluster).
type Cluster struct {
	ClusterID     string     `json:"clusterId"`
	Target        string     `json:"target"`        // address as configured, redacted
	ServerVersion string     `json:"serverVersion"` // of the mongos
	Product       string     `json:"product"`       // who made it and its version, such as "MongoDB 5.0.7"; "" = not known
	Connection    Connection `json:"connection"`
	Version       string     `json:"version"` // of shardboard
	Demo          bool       `json:"demo"`
	Seq           uint64     `json:"seq"` // increases with each published table
	// Whether the changelog is followed, so that changes are shown as they are made, and if not, why the routing is polled
	// every 2 s instead; "" = it is not meant to be followed here.
	Followed      bool           `json:"followed"`
	NotFollowed   string         `json:"notFollowed"`
	Shards        int            `json:"shards"`
	Databases     []Database     `json:"databases"`
	Collections   int            `json:"collections"` // sharded collections
	Chunks        int            `json:"chunks"`
	Jumbo         int            `json:"jumbo"`
	Zones         int            `json:"zones"`
	Bytes         Figure         `json:"bytes"`
	Documents     Figure         `json:"documents"`
	Balancer      Balancer       `json:"balancer"`
	Routers       []Router       `json:"routers"`
	ConfigServers ConfigServers  `json:"configServers"`
	Parts         []Part         `json:"parts"`
	Problems      ProblemSummary `json:"problems"`
	Freshness
}

// Database is a database and its primary shard.
type Database struct {
	Name    string `json:"name"`
	Primary string `json:"primary"`
}

// Balancer is the balancer's settings and state. Enabled is null if the settings could not be read,
// InRound if the status could not.
type Balancer struct {
	Enabled     *bool  `json:"enabled"`
	Mode        string `json:"mode"`
	InRound     *bool  `json:"inRound"`
	Rounds      *int64 `json:"rounds"`
	WindowStart string `json:"windowStart"` // "HH:MM" by the config server's clock; "" = no window
	WindowStop  string `json:"windowStop"`
	// Window says when it may move chunks, with the windows by day of 8.3, which go before the other; "" = always.
	Window string `json:"window"`
	// Refused are values that the server refuses: the balancer does not run while there is one.
	Refused           []RefusedSetting `json:"refused"`
	Unread            []string         `json:"unread"`                      // values that this release does not read
	AutoMerge         *bool            `json:"autoMerge"`                   // of the cluster; null if unknown, or if the release merges nothing by itself
	ForceJumbo        bool             `json:"attemptToBalanceJumboChunks"` // moves chunks above the limit
	WaitForDelete     bool             `json:"waitForDelete"`
	SecondaryThrottle string           `json:"secondaryThrottle"` // as written; "" = the default
	ChunkBytes        *int64           `json:"chunkBytes"`        // null: not known, because the default depends on the release
	ChunkDefault      bool             `json:"chunkDefault"`      // the default size, not configured

	Setting     string          `json:"-"` // on, off, splits only or unknown
	RoundReason string          `json:"-"` // code of why InRound is null
	RoundWhy    string          `json:"-"` // and a sentence about that
	LastHour    message.Message `json:"-"` // migrations
}

// RefusedSetting is a value of config.settings that the server refuses.
type RefusedSetting struct {
	Setting string `json:"setting"` // document.field
	Value   string `json:"value"`   // "" if it is missing
	Why     string `json:"why"`
}

// Router is a mongos that has pinged the config servers.
type Router struct {
	Host    string     `json:"host"`
	Version string     `json:"version"`
	Ping    *time.Time `json:"ping"`
}

// Part is the health of one separately read part of the data.
type Part struct {
	Part      string     `json:"part"`
	OK        bool       `json:"ok"`
	Stale     bool       `json:"stale"`
	At        *time.Time `json:"at"`        // last good read
	Reason    string     `json:"reason"`    // a sentence; "" when ok
	Privilege string     `json:"privilege"` // privilege to grant if reading was refused
}

// Ready is the answer of /readyz. A cluster that is not reached is no reason not to be ready.
type Ready struct {
	Ready   bool   `json:"ready"`
	Cluster string `json:"cluster,omitempty"` // a state of Connection; none on a server of several clusters
	Reason  string `json:"reason,omitempty"`
}
