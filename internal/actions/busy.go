package actions

import (
	"regexp"
	"slices"
	"strings"

	"shardboard/internal/topology"
)

// Obstacle is what keeps the server from doing something now that it may well do
// later.
type Obstacle string

// The obstacles, as the server's refusals tell them apart.
const (
	ObstacleMigration Obstacle = "migration" // a migration that one of the shards, or the collection, takes part in
	ObstacleOrphans   Obstacle = "orphans"   // the recipient still has documents of the range from before
	ObstacleLock      Obstacle = "lock"      // a lock that somebody else holds
	ObstacleMetadata  Obstacle = "metadata"  // the routing information changed while the server worked
	ObstacleDDL       Obstacle = "ddl"       // another operation changes the collection, or migrations are switched off
	ObstacleTime      Obstacle = "time"      // the server's own time limit ended, as it does behind a migration
)

// BusyError is a refusal that means "not now": the same command may succeed a
// moment later. What the server's sentence names is filled in, as hostile text.
type BusyError struct {
	Obstacle Obstacle
	NS       topology.Namespace // of the migration that is in the way; "" when not named
	Shard    string             // the other shard of that migration
	Err      error
}

func (e *BusyError) Error() string { return e.Err.Error() }

// Unwrap gives the driver's error.
func (e *BusyError) Unwrap() error { return e.Err }

// The server's codes that mean "not now" by themselves (MongoDB 5.0.7,
// base/error_codes.yml).
var busyCodes = map[int]Obstacle{
	24:    ObstacleLock,     // LockTimeout
	46:    ObstacleLock,     // LockBusy
	63:    ObstacleMetadata, // StaleShardVersion
	117:   ObstacleMigration,
	150:   ObstacleMetadata, // StaleEpoch
	13388: ObstacleMetadata, // StaleConfig
	338:   ObstacleDDL,      // ReshardCollectionInProgress
}

// inTheWay reads the sentence of code 117, as observed on 5.0.7.
var inTheWay = regexp.MustCompile(`currently (?:donating|receiving) .* for namespace (\S+) (?:to|from) (\S+)`)

// BusyOf tells whether a server's refusal means "not now"; nil when it does not.
// cause is the error that the refusal came as.
func BusyOf(code int, text string, cause error) *BusyError {
	e := &BusyError{Err: cause}
	switch {
	case strings.Contains(text, "Failed to delete orphaned"): // 96 or 50, after ten seconds of waiting for them
		e.Obstacle = ObstacleOrphans
		return e
	case code == 117 && strings.Contains(text, "undergoing changes"):
		e.Obstacle = ObstacleDDL
		return e
	case code == 11000 && strings.Contains(text, "config.migrations"): // of the same chunk, still at its end
		e.Obstacle = ObstacleMigration
		return e
	case slices.Contains([]int{50, 262}, code) && strings.Contains(text, "time limit"):
		e.Obstacle = ObstacleTime
		return e
	}
	obstacle, ok := busyCodes[code]
	if !ok {
		return nil
	}
	e.Obstacle = obstacle
	if m := inTheWay.FindStringSubmatch(text); m != nil {
		e.NS, e.Shard = topology.Namespace(m[1]), m[2]
	}
	return e
}
