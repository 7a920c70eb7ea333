package operation

import "shardboard/internal/topology"

// Obstacle is a temporary reason for which the server refuses a command.
type Obstacle string

const (
	ObstacleMigration Obstacle = "migration" // a migration that one of the shards, or the collection, takes part in
	ObstacleOrphans   Obstacle = "orphans"   // the recipient still has documents of the range from before
	ObstacleLock      Obstacle = "lock"      // a lock that another operation holds
	ObstacleMetadata  Obstacle = "metadata"  // the routing information changed during the command
	ObstacleDDL       Obstacle = "ddl"       // another operation changes the collection, or migrations are disabled
	ObstacleTime      Obstacle = "time"      // the server's own time limit ended, as when waiting for a migration
)

// BusyError is a refusal that means "not now": the same command may succeed later. NS and
// Shard come from the server's error text, so they are untrusted.
type BusyError struct {
	Obstacle Obstacle
	NS       topology.Namespace // of the migration in the way; "" if not named
	Shard    string             // the other shard of that migration
	Range    string             // that moves, as the server writes it; "" if not named
	Gives    bool               // the shard that refuses gives the range away; else it receives it
	Err      error
}

func (e *BusyError) Error() string { return e.Err.Error() }

// Unwrap gives the driver's error.
func (e *BusyError) Unwrap() error { return e.Err }
