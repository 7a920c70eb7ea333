package cluster

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"shardboard/internal/fault"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// RangeSize counts the documents and bytes of a shard key range with one dataSize,
// which is sent to every shard that owns chunks of the collection. For an estimate each
// shard counts the entries of its shard key index and multiplies by the mean document
// size; for an exact result it also reads every document, without yielding. The
// context's deadline, or else the client's default, is sent as maxTimeMS. Needs find on
// the collection.
//
// The error is fault.Conflict if the shard key has changed, fault.Unavailable if it
// took too long (errors.Is DeadlineExceeded) or a shard does not answer.
func (c *Client) RangeSize(ctx context.Context, m topology.Meta, r shardkey.Range, exact bool) (topology.RangeSize, error) {
	lo, err := m.Key.Document(r.Min)
	if err != nil {
		return topology.RangeSize{}, fault.Wrap(fault.Invalid, err, "The lower bound does not have the fields of the shard key %s.", m.Key)
	}
	hi, err := m.Key.Document(r.Max)
	if err != nil {
		return topology.RangeSize{}, fault.Wrap(fault.Invalid, err, "The upper bound does not have the fields of the shard key %s.", m.Key)
	}
	cmd := bson.D{
		{Key: "dataSize", Value: string(m.NS)},
		{Key: "keyPattern", Value: m.Key.Raw()},
		{Key: "min", Value: lo},
		{Key: "max", Value: hi},
		{Key: "estimate", Value: !exact},
	}
	reply, err := c.one(ctx, m.NS.Database(), cmd,
		readOp{what: "measure a chunk of " + quoted(string(m.NS)), privilege: "find on " + string(m.NS)})
	if err != nil {
		return topology.RangeSize{}, c.rangeError(err, m)
	}
	out := topology.RangeSize{Exact: exact, At: time.Now()}
	bytes, okBytes := topology.Amount(reply.Lookup("size"))
	documents, okDocuments := topology.Amount(reply.Lookup("numObjects"))
	if !okBytes || !okDocuments {
		return topology.RangeSize{}, fault.New(fault.Internal, "The cluster's answer to dataSize of %s has no size.", quoted(string(m.NS)))
	}
	out.Bytes, out.Documents = bytes, documents
	out.Took, _ = duration(reply.Lookup("millis"), time.Millisecond)
	if !exact && documents > 0 {
		out.Mean = bytes / documents
	}
	return out, nil
}

// rangeError recognizes a changed shard key and an exceeded time limit.
func (c *Client) rangeError(err error, m topology.Meta) error {
	var server mongo.ServerError
	switch {
	case !errors.As(err, &server):
		return err
	case server.HasErrorCode(codeBadValue):
		return fault.Wrap(fault.Conflict, err, "The shard key of %s is not %s any more; look again in a moment.", quoted(string(m.NS)), m.Key)
	case server.HasErrorCode(codeMaxTime), server.HasErrorCode(codeExceededTimeLimit), server.HasErrorCode(codeShardTimeLimit):
		return fault.Wrap(fault.Unavailable, errors.Join(context.DeadlineExceeded, err), "Measuring the chunk took too long and was given up.")
	}
	return err
}
