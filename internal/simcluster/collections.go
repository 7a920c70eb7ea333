package simcluster

import (
	"context"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/query"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// create makes an unsharded collection.
func (c *Cluster) create(ctx context.Context, r *engine.Request) (bson.D, error) {
	db, coll, err := namespace(r)
	if err != nil {
		return nil, err
	}
	if err := writable(db, coll); err != nil {
		return nil, err
	}
	options, series := bson.D{}, bson.D(nil)
	for e := value.Read(r.Body); e.Next(); {
		switch name := string(e.Key); name {
		case "viewOn", "clusteredIndex":
			return nil, status.Errorf(status.CommandNotSupported, "this simulated cluster does not create collections with '%s'", name)
		case "capped", "size", "max", "validator", "validationLevel", "validationAction", "storageEngine", "expireAfterSeconds":
			options = append(options, bson.E{Key: name, Value: e.Value})
		case "timeseries":
			given, ok := e.Value.DocumentOK()
			if !ok {
				return nil, status.Errorf(status.TypeMismatch, "BSON field 'create.timeseries' is the wrong type")
			}
			if coll, series, err = c.seriesOptions(coll, given); err != nil {
				return nil, err
			}
			if options = append(options, bson.E{Key: name, Value: series}); strings.HasPrefix(coll, bucketsPrefix) {
				options = bucketsOptions(series)
			}
		}
	}
	if err := simpleCollation(r.Lookup("collation")); err != nil {
		return nil, err
	}
	c.catalog.Mu.Lock()
	defer c.catalog.Mu.Unlock()
	if err := c.catalog.CheckPrimaryMove(db, coll); err != nil {
		return nil, err
	}
	c.catalog.Timestamp()
	node := c.catalog.Config
	if db != "config" && db != "admin" {
		c.catalog.EnsureDatabase(db)
		node, _ = c.homeOfColl(db, coll)
	}
	if node.Coll(db, coll) != nil || c.catalog.Routing(db+"."+coll) != nil {
		return nil, status.Errorf(status.NamespaceExists, "Collection already exists. NS: %s.%s", db, coll)
	}
	made := node.Create(db, coll, c.catalog.UUID(), encode(options))
	if series != nil {
		return bson.D{}, c.addSeries(node, made, series)
	}
	return bson.D{}, nil
}

func (c *Cluster) listCollections(_ context.Context, r *engine.Request) (bson.D, error) {
	filter, err := c.filter(r, "filter")
	if err != nil {
		return nil, err
	}
	size, err := cursorBatch(r)
	if err != nil {
		return nil, err
	}
	docs, err := c.collectionRows(r.DB, truthy(r.Lookup("nameOnly")), filter, c.mayListCollection(r))
	if err != nil {
		return nil, err
	}
	k := &cursor{ns: r.DB + ".$cmd.listCollections", docs: docs, session: sessionOf(r)}
	return c.metadataCursor(k, size)
}

// collectionRows lists the collections of a database that the user may see.
func (c *Cluster) collectionRows(db string, nameOnly bool, filter *query.Filter, may func(coll string) bool) ([]bson.Raw, error) {
	c.catalog.Mu.RLock()
	defer c.catalog.Mu.RUnlock()
	node, _ := c.home(db)
	if node == nil {
		return nil, nil
	}
	var docs []bson.Raw
	for _, coll := range c.collectionsOf(db, node) {
		if !may(coll.Name) {
			continue
		}
		for _, d := range seriesRow(coll, collectionRow(coll)) {
			row := encode(d)
			if ok, err := filter.Match(row); err != nil {
				return nil, err
			} else if !ok {
				continue
			}
			if nameOnly {
				row = encode(d[:2]) // name and type
			}
			docs = append(docs, row)
		}
	}
	return docs, nil
}

// collectionsOf lists the collections on a database's primary shard, and the sharded
// ones that have no chunk there (after movePrimary). The caller holds catalog.Mu.
func (c *Cluster) collectionsOf(db string, home *engine.Node) []*engine.Coll {
	list := home.Colls(db)
	for _, ns := range append(c.catalog.Namespaces(), c.catalog.Tracked()...) {
		in, name, _ := cut(ns)
		if in != db || home.Coll(db, name) != nil {
			continue
		}
		for _, s := range c.everywhere(db, name).sources {
			if s.coll != nil {
				list = append(list, s.coll)
				break
			}
		}
	}
	return list
}

func collectionRow(coll *engine.Coll) bson.D {
	options := coll.Options
	if options == nil {
		options = encode(bson.D{})
	}
	row := bson.D{
		{Key: "name", Value: coll.Name},
		{Key: "type", Value: "collection"},
		{Key: "options", Value: options},
		{Key: "info", Value: bson.D{{Key: "readOnly", Value: false}, {Key: "uuid", Value: uuidValue(coll.UUID)}}},
		{Key: "idIndex", Value: bson.D{{Key: "v", Value: int32(2)},
			{Key: "key", Value: bson.D{{Key: "_id", Value: int32(1)}}}, {Key: "name", Value: "_id_"}}},
	}
	if truthy(value.Field(options, "clusteredIndex")) {
		return row[:4] // no index of _id
	}
	return row
}

// cursorBatch reads cursor.batchSize, -1 when there is none: metadata cursors give
// all at once by default.
func cursorBatch(r *engine.Request) (int64, error) {
	doc, err := document(r, "cursor")
	if err != nil {
		return 0, err
	}
	v := value.Field(doc, "batchSize")
	if v.Type == 0 {
		return -1, nil
	}
	n, ok := wholeNumber(v)
	if !ok || n < 0 {
		return 0, status.Errorf(status.BadValue, "cursor.batchSize must be a non-negative number")
	}
	return n, nil
}

// metadataCursor is firstBatchReply in the field order of replies that mongos passes
// through from one shard.
func (c *Cluster) metadataCursor(k *cursor, size int64) (bson.D, error) {
	d, err := c.firstBatchReply(k, size, false)
	if err != nil {
		return nil, err
	}
	return bson.D{{Key: "cursor", Value: bson.D{d[1], d[2], d[0]}}}, nil
}
