package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/natural"
	"shardboard/internal/topology"
)

// Databases reads config.databases.
func (c *Client) Databases(ctx context.Context) ([]topology.Database, error) {
	var out []topology.Database
	skipped := skipping("config.databases")
	cmd := find("databases", bson.D{}, databaseFields, withMajority)
	err := c.each(ctx, "config", cmd, findOn("databases", "read the databases"), func(doc bson.Raw) error {
		d, ok := c.decodeDatabase(ctx, doc)
		if !ok {
			skipped.add(errors.New("a database without a name"))
			return nil
		}
		out = append(out, d)
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(out, func(a, b topology.Database) int { return strings.Compare(a.Name, b.Name) })
	return out, skipped.err()
}

// Zones reads config.tags. The _id may have any form and is ignored.
func (c *Client) Zones(ctx context.Context) ([]topology.ZoneRange, error) {
	return c.zones(ctx, bson.D{})
}

func (c *Client) zones(ctx context.Context, filter bson.D) ([]topology.ZoneRange, error) {
	var out []topology.ZoneRange
	skipped := skipping("config.tags")
	cmd := find("tags", filter, fields("ns", "min", "max", "tag"), withMajority)
	err := c.each(ctx, "config", cmd, findOn("tags", "read the zones"), func(doc bson.Raw) error {
		var z topology.ZoneRange
		w := walk(doc)
		for w.next() {
			switch string(w.key) {
			case "ns":
				ns, _ := w.str()
				z.NS = topology.Namespace(ns)
			case "tag":
				z.Zone, _ = w.str()
			case "min":
				d, _ := w.doc()
				z.RawMin = bytes.Clone(d)
			case "max":
				d, _ := w.doc()
				z.RawMax = bytes.Clone(d)
			}
		}
		if w.broken || z.NS == "" || z.Zone == "" || z.RawMin == nil || z.RawMax == nil {
			skipped.add(fmt.Errorf("a zone range of %s without ns, tag, min or max", quoted(string(z.NS))))
			return nil
		}
		out = append(out, z)
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(out, func(a, b topology.ZoneRange) int {
		if d := strings.Compare(string(a.NS), string(b.NS)); d != 0 {
			return d
		}
		return bytes.Compare(a.RawMin, b.RawMin)
	})
	return out, skipped.err()
}

// routerLimit is how many mongos are read, newest ping first: the server never removes
// the rows of old ones.
const routerLimit = 1000

// Routers reads config.mongos.
func (c *Client) Routers(ctx context.Context) ([]topology.Router, error) {
	var out []topology.Router
	cmd := find("mongos", bson.D{}, append(singleBatch(routerLimit), fields("_id", "ping", "mongoVersion"),
		bson.E{Key: "sort", Value: bson.D{{Key: "ping", Value: int32(-1)}}}, withMajority)...)
	err := c.each(ctx, "config", cmd, findOn("mongos", "read the list of mongos"), func(doc bson.Raw) error {
		var r topology.Router
		w := walk(doc)
		for w.next() {
			switch string(w.key) {
			case "_id":
				r.Host, _ = w.str()
			case "ping":
				r.Ping, _ = w.date()
			case "mongoVersion":
				r.Version, _ = w.str()
			}
		}
		if r.Host != "" {
			out = append(out, r)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(out, func(a, b topology.Router) int { return natural.Compare(a.Host, b.Host) })
	return out, nil
}
