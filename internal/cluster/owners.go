package cluster

import (
	"context"
	"errors"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/topology"
)

// mostOwnersRows is how many rows one read of config.placementHistory returns.
const mostOwnersRows = 50

// Owners reads which shards had data of a collection, newest first and at most 50 rows, by one find that the index of
// the collection's name serves; more tells that there are older rows. A row that is not understood is left out, and
// counted in a topology.SkippedError beside the others. Empty before 7.0, which has no config.placementHistory. Needs
// find on it.
func (c *Client) Owners(ctx context.Context, ns topology.Namespace) (rows []topology.OwnersRow, more bool, err error) {
	const of = "placementHistory"
	cmd := find(of, bson.D{{Key: "nss", Value: string(ns)}}, append(singleBatch(mostOwnersRows+1),
		bson.E{Key: "sort", Value: bson.D{{Key: "timestamp", Value: int32(-1)}}}, fields("uuid", "timestamp", "shards"), withMajority)...)
	skipped, seen := skipping("config."+of), 0
	err = c.each(ctx, "config", cmd, findOn(of, "read which shards had "+quoted(string(ns))), func(doc bson.Raw) error {
		if seen++; seen > mostOwnersRows {
			more = true
			return nil
		}
		row, err := c.decodeOwners(ctx, doc)
		if err != nil {
			skipped.add(err)
			return nil
		}
		rows = append(rows, row)
		return nil
	})
	if err != nil {
		return nil, false, err
	}
	return rows, more, skipped.err()
}

func (c *Client) decodeOwners(ctx context.Context, doc bson.Raw) (row topology.OwnersRow, err error) {
	w, listed := walk(doc), false
	for w.next() {
		switch string(w.key) {
		case "timestamp":
			row.Since, _ = w.timestamp()
		case "uuid":
			row.UUID, _ = w.uuid()
		case "shards":
			var list elements
			list, listed = w.array()
			for list.next() {
				name, _ := list.str()
				if id, ok := list.uuid(); ok {
					name = c.shardByID(ctx, id)
				}
				row.Shards = append(row.Shards, name)
			}
			listed = listed && !list.broken
		}
	}
	if w.broken || !listed || row.Since.IsZero() || slices.Contains(row.Shards, "") {
		return row, errors.New("timestamp or shards is missing")
	}
	return row, nil
}
