package catalog

import (
	"encoding/binary"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// The collection of logical sessions, which servers make for themselves.
const (
	sessionsNS = "config.system.sessions"
	// sessionsAfter is how long after its start a cluster has it.
	sessionsAfter = time.Minute
	// sessionChunks is in how many chunks the balancer cuts it, so that every shard gets a
	// share of it (minNumChunksForSessionsCollection).
	sessionChunks = 1024
)

// setUpSessions makes the collection of sessions when it is time, if the options want it:
// sharded by _id, one chunk, on the first shard (assumed: which one). Mu is held.
func (c *Cluster) setUpSessions() {
	due := c.clock.epoch.Add(time.Duration(float64(sessionsAfter) * c.opts.Pace))
	if !c.opts.Sessions || c.routes[sessionsNS] != nil || len(c.shards) == 0 || c.Now().Before(due) {
		return
	}
	key, err := parsePattern(encode(bson.D{{Key: "_id", Value: int32(1)}}))
	if err != nil {
		panic(err) // it is a constant
	}
	home := c.shards[0].name
	coll, err := c.EnsureCollection(home, sessionsNS, c.uuid(), nil)
	if err != nil {
		return
	}
	_, _ = coll.EnsureIndex(bson.D{
		{Key: "key", Value: bson.D{{Key: "lastUse", Value: int32(1)}}}, {Key: "name", Value: "lsidTTLIndex"},
		{Key: "expireAfterSeconds", Value: int32(1800)},
	})
	at := c.Timestamp()
	r := c.newRouting(sessionsNS, key, coll.UUID, false, c.objectID(configServer), at)
	ch := &Chunk{
		ID: c.objectID(configServer), Min: key.min(), Max: key.max(), Shard: home,
		Version: bson.Timestamp{T: 1}, History: []Placement{{ValidAfter: at, Shard: home}},
	}
	c.addChunk(r, ch)
	r.setChunks([]*Chunk{ch})
	c.notePlacement(r)
}

// SplitSessions cuts the collection of sessions at even distances of its uuids, as the
// balancer does at the beginning of a round where it counts chunks: there were 1,024
// chunks and 1,023 log entries of a cut into many (assumed: because the first point is
// cut by itself). The caller holds Mu for writing.
func (c *Cluster) SplitSessions() error {
	r := c.routes[sessionsNS]
	if r == nil || c.features.bySize || len(r.chunks) != 1 || c.moves.donating(sessionsNS, "") != nil {
		return nil
	}
	points := make([]bson.Raw, 0, sessionChunks-1)
	for i := uint32(1); i < sessionChunks; i++ {
		var id [16]byte
		binary.BigEndian.PutUint32(id[:], i*(1<<32/sessionChunks))
		points = append(points, encode(bson.D{{Key: "_id", Value: bson.D{{Key: "id", Value: uuidValue(id)}}}}))
	}
	if err := c.split(r, r.chunks[0], points[:1]); err != nil {
		return err
	}
	return c.split(r, r.chunks[1], points[1:])
}
