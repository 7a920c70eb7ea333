package catalog

import (
	"encoding/binary"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// config.system.sessions, the collection of logical sessions.
const (
	sessionsNS = "config.system.sessions"
	// sessionsAfter is how long after the start it is created.
	sessionsAfter = time.Minute
	// sessionChunks is the number of chunks into which the balancer splits it
	// (minNumChunksForSessionsCollection).
	sessionChunks = 1024
)

// setUpSessions creates the sessions collection when it is due and Options.Sessions is
// set: sharded by _id, one chunk on the first shard (assumed). The caller holds Mu.
func (c *Cluster) setUpSessions() {
	due := c.clock.epoch.Add(time.Duration(float64(sessionsAfter) * c.opts.Pace))
	if !c.opts.Sessions || c.routes[sessionsNS] != nil || len(c.shards) == 0 || c.Now().Before(due) {
		return
	}
	key, err := parsePattern(encode(bson.D{{Key: "_id", Value: int32(1)}}))
	if err != nil {
		panic(err) // cannot happen: the pattern is a constant
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

// SplitSessions splits the sessions collection at evenly spaced uuids, as the balancer
// does at the beginning of a round on versions that count chunks. Recorded: 1,024
// chunks and 1,023 multi-split log entries (assumed: because the first split has only
// one point). The caller holds Mu for writing.
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
