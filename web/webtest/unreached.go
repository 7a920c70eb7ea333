package webtest

import (
	"errors"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/fault"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
)

// NeverReached and ReachedWithoutRights are why nothing was ever read of a cluster.
var (
	NeverReached = topology.Health{Err: fault.NoAnswer(errors.New("connection refused"),
		"The cluster at mongos.example:27017 cannot be reached. Nothing listens there: start the mongos, or correct host and port.")}
	ReachedWithoutRights = topology.Health{Denied: true, Privilege: "find on config.collections",
		Err: fault.Wrap(fault.Forbidden, &topology.DeniedError{Privilege: "find on config.collections", Err: errors.New("code 13")},
			"The cluster user may not read the collections; it lacks find on config.collections.")}
)

// Unreached is what is known of a cluster of which no part was ever read, for a reason.
func Unreached(why topology.Health) answer.View {
	t := &topology.Table{Began: Epoch.Add(-5 * time.Minute), Health: map[topology.Part]topology.Health{}}
	for _, p := range EveryPart() {
		t.Health[p] = why
	}
	return answer.View{Now: Epoch, Table: t, Dir: placement.NewDirectory(0, nil, nil, topology.Health{})}
}
