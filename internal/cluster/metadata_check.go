package cluster

import (
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/topology"
)

const (
	maxInconsistencies = 1000
	maxDetails         = 2000 // bytes
)

var errEnough = errors.New("there are more findings")

// CheckMetadata runs checkMetadataConsistency, on the whole cluster (db ""), one database (collection "") or one
// collection, and returns at most 1,000 findings; more tells that there are others. It changes nothing, and the
// context's deadline ends it on the server too. Needs MongoDB 7.0 and checkMetadataConsistency on what is checked.
func (c *Client) CheckMetadata(ctx context.Context, db, collection string) (found []topology.Inconsistency, more bool, err error) {
	cmd := bson.D{{Key: "checkMetadataConsistency", Value: 1}}
	if collection != "" {
		cmd[0].Value = collection
	}
	if db == "" {
		db = "admin"
	}
	op := readOp{what: "check the metadata", privilege: "checkMetadataConsistency"}
	err = c.each(ctx, db, cmd, op, func(doc bson.Raw) error {
		if len(found) == maxInconsistencies {
			return errEnough
		}
		found = append(found, decodeInconsistency(doc))
		return nil
	})
	if errors.Is(err, errEnough) {
		return found, true, nil
	}
	return found, false, err
}

func decodeInconsistency(doc bson.Raw) (out topology.Inconsistency) {
	w := walk(doc)
	for w.next() {
		switch string(w.key) {
		case "type":
			out.Kind, _ = w.str()
		case "description":
			out.Description, _ = w.str()
		case "details":
			if d, ok := w.doc(); ok {
				ns, _ := d.Lookup("namespace").StringValueOK()
				out.NS = topology.Namespace(ns)
				out.Shard, _ = d.Lookup("shard").StringValueOK()
				out.Details = shortJSON(d)
			}
		}
	}
	return out
}

// shortJSON is a document as relaxed Extended JSON, cut where it is long.
func shortJSON(doc bson.Raw) string {
	text, err := bson.MarshalExtJSON(doc, false, false)
	if err != nil {
		return ""
	}
	if len(text) > maxDetails {
		return string(text[:maxDetails]) + "…"
	}
	return string(text)
}
