package actions

import "shardboard/internal/actions/operation"

// The obstacles that can be told apart by the server's errors.
const (
	ObstacleRecipient operation.Obstacle = "recipient" // a shard that could not take a range, for another reason
	ObstacleDeletion  operation.Obstacle = "deletion"  // the donor still deletes what the run has moved away from it

)
