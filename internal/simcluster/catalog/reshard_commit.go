package catalog

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
)

// document is the operation's row of config.reshardingOperations.
func (o *resharding) document(r *Routing) bson.D {
	d := bson.D{
		{Key: "_id", Value: uuidValue(o.uuid)}, {Key: "ns", Value: o.ns}, {Key: "ui", Value: uuidValue(o.source)},
		{Key: "tempNs", Value: o.temp}, {Key: "reshardingKey", Value: o.key.raw}, {Key: "state", Value: o.state},
	}
	if o.command != "reshardCollection" {
		d = append(d, bson.E{Key: "provenance", Value: o.command})
	}
	donors, recipients := bson.A{}, bson.A{}
	for _, s := range r.ShardsOwning() {
		state := bson.D{{Key: "state", Value: "unused"}}
		if !o.fetched.IsZero() {
			coll := o.c.data(s, o.ns)
			state = bson.D{{Key: "state", Value: "donating-initial-data"}, {Key: "minFetchTimestamp", Value: o.fetched}}
			if coll != nil {
				state = append(state, bson.E{Key: "bytesToClone", Value: coll.Bytes()}, bson.E{Key: "documentsToClone", Value: int64(coll.Len())})
			}
		}
		donors = append(donors, bson.D{{Key: "id", Value: s}, {Key: "mutableState", Value: state}})
	}
	for _, s := range o.recipients() {
		recipients = append(recipients, bson.D{{Key: "id", Value: s}, {Key: "mutableState", Value: bson.D{{Key: "state", Value: "unused"}}}})
	}
	d = append(d,
		bson.E{Key: "donorShards", Value: donors}, bson.E{Key: "recipientShards", Value: recipients},
		bson.E{Key: "numInitialChunks", Value: o.initial}, bson.E{Key: "active", Value: true})
	if !o.fetched.IsZero() {
		d = append(d,
			bson.E{Key: "approxBytesToCopy", Value: o.bytes}, bson.E{Key: "approxDocumentsToCopy", Value: o.docs},
			bson.E{Key: "cloneTimestamp", Value: o.fetched})
	}
	return d
}

func (o *resharding) recipients() []string {
	if t := o.c.routes[o.temp]; t != nil {
		return t.ShardsOwning()
	}
	return nil
}

// writeState writes the state to the documents of both collections and of the
// operation; each write changes lastmod. The caller holds Mu.
func (o *resharding) writeState(r *Routing) {
	c := o.c
	c.config.update("reshardingOperations", o.record, o.document(r))
	t := c.routes[o.temp]
	if t == nil {
		return
	}
	ids := bson.A{}
	for _, s := range o.recipients() {
		ids = append(ids, s)
	}
	fields := bson.D{
		{Key: "uuid", Value: uuidValue(o.uuid)}, {Key: "state", Value: o.state},
		{Key: "donorFields", Value: bson.D{
			{Key: "tempNs", Value: o.temp}, {Key: "reshardingKey", Value: o.key.raw}, {Key: "recipientShardIds", Value: ids},
		}},
	}
	if o.command != "reshardCollection" { // assumed, as in config.reshardingOperations
		fields = append(fields, bson.E{Key: "provenance", Value: o.command})
	}
	r.extra = bson.D{{Key: "allowMigrations", Value: false}, {Key: "reshardingFields", Value: fields}}
	t.extra = bson.D{
		{Key: "reshardingFields", Value: bson.D{
			{Key: "uuid", Value: uuidValue(o.uuid)}, {Key: "state", Value: o.state},
			{Key: "recipientFields", Value: o.recipientFields(r)},
		}},
		{Key: "allowMigrations", Value: false},
	}
	r.Lastmod = c.Now().Truncate(time.Millisecond)
	t.Lastmod = r.Lastmod
	c.saveCollection(r)
	c.saveCollection(t)
}

func (o *resharding) recipientFields(r *Routing) bson.D {
	donors := bson.A{}
	for _, s := range r.ShardsOwning() {
		d := bson.D{{Key: "shardId", Value: s}}
		if !o.fetched.IsZero() {
			d = append(d, bson.E{Key: "minFetchTimestamp", Value: o.fetched})
		}
		donors = append(donors, d)
	}
	d := bson.D{
		{Key: "donorShards", Value: donors}, {Key: "sourceUUID", Value: uuidValue(o.source)}, {Key: "sourceNs", Value: o.ns},
		{Key: "minimumOperationDurationMillis", Value: o.c.opts.Reshard.Milliseconds()},
	}
	if !o.fetched.IsZero() {
		d = append(d,
			bson.E{Key: "approxBytesToCopy", Value: o.bytes}, bson.E{Key: "approxDocumentsToCopy", Value: o.docs},
			bson.E{Key: "cloneTimestamp", Value: o.fetched})
	}
	return d
}

// commit copies the remaining changes and renames the temporary collection to the
// original name, with a new epoch and timestamp.
func (o *resharding) commit(life context.Context) error {
	if err := o.enterState("committing"); err != nil {
		return err
	}
	if err := o.atStep(life, Committing); err != nil {
		o.answer(err) // the decision is made, so only the client notices
	}
	c := o.c
	c.Mu.Lock()
	t := c.routes[o.temp]
	err := o.catchUp(c.table(o.ns), t)
	if err != nil {
		c.Mu.Unlock()
		o.rollBack()
		return status.Errorf(status.ReshardCollectionAborted, "%s", err.Error())
	}
	defer c.Mu.Unlock()
	db, coll, _ := splitNS(o.ns)
	_, temp, _ := splitNS(o.temp)
	c.dropData(o.ns, db, coll)
	for _, shard := range t.ShardsOwning() {
		if err := c.Shards[shard].Rename(db, temp, db, coll, true); err != nil {
			return err
		}
	}
	delete(c.routes, o.temp)
	t.NS, t.Epoch, t.Timestamp = o.ns, c.objectID(configServer), c.Timestamp()
	t.extra, t.blocked, t.simple, t.Lastmod = nil, false, false, c.Now().Truncate(time.Millisecond)
	c.setTable(t)
	c.config.delete("collections", t.record)
	t.record = c.config.insert("collections", c.collectionDocument(t))
	for _, z := range o.zones {
		z.id = c.objectID(configServer)
		z.record = c.config.insert("tags", zoneDocument(o.ns, z))
		c.putZone(o.ns, z)
	}
	c.config.delete("reshardingOperations", o.record)
	c.notePlacement(t)
	return nil
}

func (o *resharding) dropTemporary() {
	db, temp, _ := splitNS(o.temp)
	for _, s := range o.c.shards {
		o.c.Shards[s.name].Drop(db, temp)
	}
}
