package actions

import (
	"regexp"
	"slices"
	"strings"

	"shardboard/internal/topology"
)

// Obstacle is a temporary reason for which the server refuses a command.
type Obstacle string

// The obstacles that can be told apart by the server's errors.
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
	Err      error
}

func (e *BusyError) Error() string { return e.Err.Error() }

// Unwrap gives the driver's error.
func (e *BusyError) Unwrap() error { return e.Err }

// The server's error codes that always mean "not now" (MongoDB 5.0.7,
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

// inTheWay matches the error text of code 117, as observed on 5.0.7.
var inTheWay = regexp.MustCompile(`currently (?:donating|receiving) .* for namespace (\S+) (?:to|from) (\S+)`)

// BusyOf returns the BusyError for a server's error code and text; nil if they do not
// mean "not now". cause is the original error.
func BusyOf(code int, text string, cause error) *BusyError {
	e := &BusyError{Err: cause}
	switch {
	case strings.Contains(text, "Failed to delete orphaned"): // 96 or 50, after ten seconds of waiting
		e.Obstacle = ObstacleOrphans
		return e
	case code == 117 && strings.Contains(text, "undergoing changes"):
		e.Obstacle = ObstacleDDL
		return e
	case code == 11000 && strings.Contains(text, "config.migrations"): // of the same chunk, not finished yet
		e.Obstacle = ObstacleMigration
		return e
	case slices.Contains([]int{50, 262}, code) && strings.Contains(text, "time limit"),
		// What a mongos answers when the shard behind it did not answer in time, as DDL behind a move.
		code == 50 && strings.Contains(text, "timed out, deadline was"):
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
