package history

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// Kind is what happened.
type Kind string

// What can be observed, and Logged: an entry of the server's changelog.
const (
	Moved             Kind = "moved"
	Split             Kind = "split"
	Merged            Kind = "merged"
	CollectionCreated Kind = "collectionCreated"
	CollectionDropped Kind = "collectionDropped"
	CollectionRemade  Kind = "collectionReloaded" // dropped and made again, resharded or its key refined
	CollectionChanged Kind = "collectionChanged"  // what the balancer may do with it
	ShardAdded        Kind = "shardAdded"
	ShardRemoved      Kind = "shardRemoved"
	ShardDraining     Kind = "shardDraining"
	ShardKept         Kind = "shardKept" // draining was called off
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

// Item is one thing that happened. Observed ones have the time at which they
// were seen, at most a poll after it; logged ones the time of the server that
// wrote them.
type Item struct {
	At       time.Time
	Kind     Kind
	NS       topology.Namespace // "" where it is not about a collection
	Subject  string             // the shard, zone or database that it is about
	Key      shardkey.Pattern   // the collection's key then; zero for what is not a range
	Min, Max shardkey.Key       // [Min, Max)
	// RawMin and RawMax are the bounds of what was logged or of a zone, as they were written.
	RawMin, RawMax bson.Raw
	From, To       string // shards, or zones before and after
	Event          *topology.Event
	Failed         bool
	Reason         string // the server's own text; hostile
	ReasonFrom     string // the entry that has it, as moveChunk.to, or FromRun
	Cause          Cause
	over           time.Time // of a migration as a whole: its end; zero: not known
}

// Gap is a span in which nobody watched: what happened in it is seen at its end.
type Gap struct{ From, To time.Time }
