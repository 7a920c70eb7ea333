package history

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// Kind is the type of an Item.
type Kind string

// The observed changes, and Logged: an entry of the server's changelog.
const (
	Moved             Kind = "moved"
	Split             Kind = "split"
	Merged            Kind = "merged"
	CollectionCreated Kind = "collectionCreated"
	CollectionDropped Kind = "collectionDropped"
	CollectionRemade  Kind = "collectionReloaded" // dropped and created again, resharded, or its key refined
	CollectionChanged Kind = "collectionChanged"  // its balancing settings
	ShardAdded        Kind = "shardAdded"
	ShardRemoved      Kind = "shardRemoved"
	ShardDraining     Kind = "shardDraining"
	ShardKept         Kind = "shardKept" // draining was cancelled
	ShardZones        Kind = "shardZones"
	ZoneAdded         Kind = "zoneRangeAdded"
	ZoneRemoved       Kind = "zoneRangeRemoved"
	BalancerOn        Kind = "balancerOn"
	BalancerOff       Kind = "balancerOff"
	BalancerChanged   Kind = "balancerChanged" // mode, window or chunk size
	DatabaseCreated   Kind = "databaseCreated"
	DatabaseDropped   Kind = "databaseDropped"
	PrimaryMoved      Kind = "primaryMoved"
	Logged            Kind = "logged"
)

// Item is one change. Observed changes have the time they were seen, at most one poll later; logged
// ones have the time of the server that logged them.
type Item struct {
	At       time.Time
	Kind     Kind
	NS       topology.Namespace // "" if not about a collection
	Subject  string             // shard, zone or database
	Key      shardkey.Pattern   // the collection's shard key at that time; zero if not about a range
	Min, Max shardkey.Key       // [Min, Max)
	// RawMin and RawMax are the bounds of a logged entry or a zone range, as written.
	RawMin, RawMax bson.Raw
	From, To       string // shards, or zones before and after
	Event          *topology.Event
	Failed         bool
	Reason         string // the server's own text; untrusted
	ReasonFrom     string // the entry with the reason, such as moveChunk.to, or FromRun
	ReasonCode     Code   // the kind of reason; "" if nothing failed
	Cause          Cause
	end            time.Time // end of the whole migration; zero: unknown
}

// Gap is a time span without recording: changes in it are observed at its end.
type Gap struct{ From, To time.Time }
