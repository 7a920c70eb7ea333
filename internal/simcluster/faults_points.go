package simcluster

import (
	"shardboard/internal/simcluster/engine/status"
)

// FaultPoint is one step of one operation.
type FaultPoint struct {
	Command string
	At      Step
	// Done means that the effect has already happened at this step: a client must not take
	// an error here for "nothing changed".
	Done bool
}

// FaultPoints lists the operations that change a cluster's layout with their steps, in
// order. Every other command has only Received and Replying.
func FaultPoints() []FaultPoint {
	var out []FaultPoint
	add := func(command string, steps ...Step) {
		for _, s := range steps {
			done := s == Committed || s == Logged || s == Cleaning || s == Replying
			out = append(out, FaultPoint{command, s, done})
		}
	}
	add("split", Received, Committing, Committed, Replying)
	add("mergeChunks", Received, Committing, Committed, Replying)
	for _, move := range []string{"moveChunk", "moveRange"} {
		add(move, Received, Targeted, Started, Cloning, Cloned, CaughtUp, Critical, Committing, Committed, Logged, Cleaning, Replying)
	}
	add("movePrimary", Received, Cloning, Committing, Committed, Replying)
	for _, whole := range []string{"moveCollection", "unshardCollection"} {
		add(whole, Received, Cloning, Replying)
	}
	add("balancerStart", Received, Replying)
	add("balancerStop", Received, Committed, Replying)
	for _, other := range []string{
		"addShardToZone", "removeShardFromZone", "updateZoneKeyRange", "clearJumboFlag", "refineCollectionShardKey",
		"configureCollectionBalancing", "setAllowMigrations", "update",
		"removeShard", "startShardDraining", "stopShardDraining", "commitShardRemoval",
	} {
		add(other, Received, Replying)
	}
	return out
}

// Fail is the server's error for a code, with the recorded message if there is one. Set
// Message for other codes.
func Fail(code int32) *ServerError {
	text := "operation failed"
	switch code {
	case status.NotWritablePrimary:
		text = "not primary"
	case 11602: // InterruptedDueToReplStateChange
		text = "operation was interrupted"
	case 189: // PrimarySteppedDown
		text = "Primary stepped down while waiting for replication"
	case status.StaleConfig:
		text = "version mismatch detected"
	case status.StaleEpoch:
		text = "epoch mismatch detected"
	case status.ConflictingOperationInProgress:
		text = "Collection is undergoing changes so moveChunk is not allowed."
	case status.LockBusy:
		text = "timed out waiting for the lock"
	case status.BalancerInterrupted:
		text = "balancer was interrupted"
	case status.ChunkTooBig:
		text = "Cannot move chunk: the maximum number of documents for a chunk is 2250, the maximum chunk size is 1048576, " +
			"average document size is 931. Found 2706 documents in chunk"
	case status.ChunkRangeCleanupPending:
		text = "the range is still waiting for its clean-up"
	case status.ShardNotFound:
		text = "moveChunk destination shard does not exist"
	case status.MaxTimeMSExpired, status.NetworkInterfaceExceededTimeLimit:
		text = "operation exceeded time limit"
	case status.OperationFailed:
		text = "moveChunk command failed on source shard. :: caused by :: InterruptedDueToReplStateChange: operation was interrupted"
	}
	return status.Errorf(code, "%s", text)
}
