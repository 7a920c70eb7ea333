package catalog

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
)

// onSource begins the text of every refusal of a donor in 8.0, where the config server
// sends all moves.
const onSource = "Command request failed on source shard."

// sourceError is the config server's error when the donor refuses or fails.
func sourceError(err error) error { return withContext(onSource, err) }

// onSourceShard is the error of a move as its client sees it. Errors of the config
// server itself, and a missing shard or chunk, have no such beginning.
func (c *Cluster) onSourceShard(err error) error {
	e := status.Of(err)
	if e == nil || !c.features.observed8 || strings.HasPrefix(e.Message, onSource) {
		return err
	}
	switch e.Code {
	case status.ConflictingOperationInProgress, status.ChunkTooBig, status.OperationFailed:
		return sourceError(err)
	}
	return err
}

// chunkToMove is the chunk that moveChunk of 8.0 names, by a query or by its bounds
// (s/commands/cluster_move_chunk_cmd.cpp).
func (r *Routing) chunkToMove(find, lo, hi bson.Raw, bound bool) (*Chunk, error) {
	switch {
	case find != nil && bound:
		return nil, status.Errorf(status.InvalidOptions, "cannot specify bounds and query at the same time")
	case find == nil && !bound:
		return nil, status.Errorf(status.InvalidOptions, "need to specify query or bounds")
	case find != nil:
		ch, err := r.chunkOfQuery(find)
		if err != nil {
			return nil, status.Errorf(656450, "no shard key found in chunk query %s", text(find))
		}
		return ch, nil
	}
	l, ok1 := r.pattern.normalize(lo)
	h, ok2 := r.pattern.normalize(hi)
	if !ok1 || !ok2 {
		return nil, status.Errorf(656451, "shard key bounds [%s,%s) are not valid for shard key pattern %s", text(lo), text(hi), text(r.Key))
	}
	if ch := r.chunkExactly(l, h); ch != nil {
		return ch, nil
	}
	return nil, status.Errorf(656452, "no chunk found with the shard key bounds %s", rangeText(l, h))
}

// notOwned is the error of a shard of 8.0 whose chunks do not fill a range exactly.
func (r *Routing) notOwned(shard string, lo, hi bson.Raw) error {
	var version bson.Timestamp
	for _, ch := range r.chunks {
		if ch.Shard == shard && older(version, ch.Version) {
			version = ch.Version
		}
	}
	e := status.Errorf(status.StaleConfig, "Range with bounds %s is not owned by this shard.", rangeText(lo, hi))
	e.Extra = bson.D{
		{Key: "ns", Value: r.NS},
		{Key: "vReceived", Value: bson.D{
			{Key: "e", Value: bson.ObjectID{4: 255, 5: 255, 6: 255, 7: 255, 8: 255, 9: 255, 10: 255, 11: 255}},
			{Key: "t", Value: bson.Timestamp{T: 1<<32 - 1, I: 1<<32 - 1}}, {Key: "v", Value: bson.Timestamp{}},
		}},
		{Key: "vWanted", Value: bson.D{
			{Key: "e", Value: r.Epoch}, {Key: "t", Value: r.Timestamp}, {Key: "v", Value: version},
		}},
		{Key: "shardId", Value: shard},
	}
	return e
}
