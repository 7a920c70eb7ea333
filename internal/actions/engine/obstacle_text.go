package engine

import (
	"shardboard/internal/actions/operation"
	"shardboard/internal/message"
)

// waitingText is why a run waits while one of its steps cannot be done.
func waitingText(w Backoff) message.Message {
	return message.New("run.obstacle", "Waiting: something is in the way; the step says what.", w.What.Facts...)
}

// obstacleText says what the server was busy with.
func obstacleText(busy *operation.BusyError) message.Message {
	out := message.New("obstacle."+string(busy.Obstacle), "", message.Text("obstacle", string(busy.Obstacle)))
	if busy.NS != "" {
		out = out.With(message.Namespace("ns", busy.NS))
	}
	if busy.Shard != "" {
		out = out.With(message.Shard("shard", busy.Shard))
	}
	switch {
	case busy.Obstacle == operation.ObstacleMigration && busy.NS != "" && busy.Range != "":
		out = out.With(message.Key("range", busy.Range))
		out.Code, out.Pattern = out.Code+".receives", "A shard of this move is receiving the range {range} of {ns} from {shard}: "+
			"a shard takes part in one move at a time."
		if busy.Gives {
			out.Code, out.Pattern = "obstacle.migration.gives", "A shard of this move is giving the range {range} of {ns} to {shard}: "+
				"a shard takes part in one move at a time."
		}
	case busy.Obstacle == operation.ObstacleMigration && busy.NS != "":
		out.Code += ".of"
		out.Pattern = "A move of {ns} with {shard}: a shard takes part in one move at a time."
	case busy.Obstacle == operation.ObstacleMigration:
		out.Pattern = "One of the shards takes part in another move."
	case busy.Obstacle == operation.ObstacleOrphans:
		out.Pattern = "The shard still has documents of this range from before, " +
			"and deletes them about 15 minutes after the range was moved away."
	case busy.Obstacle == operation.ObstacleLock:
		out.Pattern = "Another operation holds a lock that the server needs for this."
	case busy.Obstacle == operation.ObstacleMetadata:
		out.Pattern = "The routing information changed while the command was running."
	case busy.Obstacle == operation.ObstacleDDL:
		out.Pattern = "Another operation is changing the collection, or its moves are blocked."
	case busy.Obstacle == operation.ObstacleTime:
		out.Pattern = "The server’s time limit was reached, as happens behind a move of the same collection."
	default:
		out.Pattern = "Something is in the way ({obstacle})."
	}
	return out
}
