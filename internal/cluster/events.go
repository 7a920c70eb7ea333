package cluster

import (
	"bytes"
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/topology"
)

// eventPages is how many changelog entries a poll reads: few, because it is asked every
// two seconds on some releases, and more while none of them is known.
var eventPages = [...]int{5, 100}

// Events reads the changelog backwards in natural order: it has no index by
// time, and a capped collection keeps its order of insertion.
func (c *Client) Events(ctx context.Context, newest *topology.Event, limit int) ([]topology.Event, error) {
	if newest == nil {
		events, _, err := c.events(ctx, "", limit)
		return events, err
	}
	for _, page := range eventPages {
		if page >= limit {
			break
		}
		events, met, err := c.events(ctx, newest.ID, page)
		if err != nil || met || len(events) < page {
			return events, err
		}
	}
	events, _, err := c.events(ctx, newest.ID, limit)
	return events, err
}

// events reads backwards until it meets a known entry, which is not included.
func (c *Client) events(ctx context.Context, until string, limit int) (out []topology.Event, met bool, err error) {
	cmd := find("changelog", bson.D{}, append(singleBatch(limit), eventFields,
		bson.E{Key: "sort", Value: bson.D{{Key: "$natural", Value: int32(-1)}}})...)
	err = c.each(ctx, "config", cmd, findOn("changelog", "read the changelog"), func(doc bson.Raw) error {
		if met {
			return nil
		}
		e := decodeEvent(doc)
		if until != "" && e.ID == until {
			met = true
			return nil
		}
		out = append(out, e)
		return nil
	})
	return out, met, err
}

// eventFields are the fields of a changelog entry that are read.
var eventFields = fields("_id", "time", "what", "ns", "shard", "details")

func decodeEvent(doc bson.Raw) (e topology.Event) {
	w := walk(doc)
	for w.next() {
		switch string(w.key) {
		case "_id":
			if id, ok := w.str(); ok {
				e.ID = id
			} else {
				e.ID = string(w.val) // not observed, but still unique
			}
		case "time":
			e.Time, _ = w.date()
		case "what":
			e.What, _ = w.str()
		case "ns":
			e.NS, _ = w.str()
		case "shard":
			e.Shard, _ = w.str()
		case "details":
			d, _ := w.doc()
			e.Details = bytes.Clone(d)
		}
	}
	if e.NS == "renameCollection.metadata" { // 8.0.10 writes these two in each other's place
		e.What, e.NS = e.NS, e.What
	}
	return e
}
