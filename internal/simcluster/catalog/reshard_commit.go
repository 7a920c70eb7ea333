package catalog

import (
	"context"
	"slices"
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
	if o.c.features.observed8 {
		d = slices.Insert(d, len(d)-1, bson.E{Key: "startTime", Value: bson.NewDateTimeFromTime(o.begunAt)},
			bson.E{Key: "provenance", Value: o.command})
	}
	donors, recipients := bson.A{}, bson.A{}
	for _, s := range r.ShardsOwning() {
		state := bson.D{{Key: "state", Value: "unused"}}
		if !o.fetched.IsZero() {
			coll := o.c.data(s, o.ns)
			state = bson.D{{Key: "state", Value: o.donorState()}, {Key: "minFetchTimestamp", Value: o.fetched}}
			if coll != nil {
				state = append(state, bson.E{Key: "bytesToClone", Value: coll.Bytes()}, bson.E{Key: "documentsToClone", Value: int64(coll.Len())})
			}
			if state[0].Value == "blocking-writes" {
				state = append(state, bson.E{Key: "writesDuringCriticalSection", Value: int64(0)})
			}
		}
		donors = append(donors, bson.D{{Key: "id", Value: s}, {Key: "mutableState", Value: state}})
	}
	for _, s := range o.recipients() {
		state := bson.D{{Key: "state", Value: o.recipientState()}}
		recipients = append(recipients, bson.D{{Key: "id", Value: s}, {Key: "mutableState", Value: state}})
	}
	d = append(d,
		bson.E{Key: "donorShards", Value: donors}, bson.E{Key: "recipientShards", Value: recipients},
		bson.E{Key: "numInitialChunks", Value: o.initial}, bson.E{Key: "active", Value: true})
	if o.c.features.observed8 {
		if o.to != "" {
			d = append(d, bson.E{Key: "shardDistribution", Value: o.distribution()})
		}
		d = append(d, bson.E{Key: "sourceKey", Value: r.Key}, bson.E{Key: "forceRedistribution", Value: o.force})
	}
	if !o.fetched.IsZero() {
		d = append(d,
			bson.E{Key: "approxBytesToCopy", Value: o.bytes}, bson.E{Key: "approxDocumentsToCopy", Value: o.docs},
			bson.E{Key: "cloneTimestamp", Value: o.fetched})
	}
	if o.c.features.observed8 && !o.clonedAt.IsZero() {
		d = append(d, bson.E{Key: "metrics", Value: o.metrics()})
	}
	return d
}

// donorState and recipientState are the states of a shard in config.reshardingOperations; 5.0 was seen to write none
// but the first ones there.
func (o *resharding) donorState() string {
	if o.c.features.observed8 && (o.state == "blocking-writes" || o.state == "committing") {
		return "blocking-writes"
	}
	return "donating-initial-data"
}

func (o *resharding) recipientState() string {
	switch {
	case !o.c.features.observed8:
	case o.state == "applying" || o.state == "blocking-writes":
		return "applying"
	case o.state == "committing":
		return "strict-consistency"
	}
	return "unused"
}

// distribution is the one range of an operation that takes all documents to one shard.
func (o *resharding) distribution() bson.A {
	return bson.A{bson.D{{Key: "min", Value: o.key.min()}, {Key: "max", Value: o.key.max()}, {Key: "shard", Value: o.to}}}
}

// metrics are the times at which phases began and ended.
func (o *resharding) metrics() bson.D {
	from := func(name string, at time.Time) bson.E { return bson.E{Key: name, Value: bson.NewDateTimeFromTime(at)} }
	clone := bson.D{from("start", o.clonedAt)}
	if !o.copiedAt.IsZero() {
		clone = append(clone, from("stop", o.copiedAt))
	}
	d := bson.D{{Key: "documentCopy", Value: clone}}
	if !o.appliedAt.IsZero() {
		d = append(d, bson.E{Key: "oplogApplication", Value: bson.D{from("stop", o.appliedAt)}})
	}
	return d
}

func (o *resharding) recipients() []string {
	t := o.c.table(o.temp)
	if t == nil {
		return nil
	}
	list := t.ShardsOwning()
	db, _, _ := splitNS(o.ns)
	// In 8.0 the primary shard always receives, be it nothing.
	if primary, ok := o.c.Primary(db); ok && o.c.features.observed8 && !slices.Contains(list, primary) {
		list = append(list, primary)
		slices.Sort(list)
	}
	return list
}

// writeState writes the state to the documents of both collections and of the
// operation; each write changes lastmod. The caller holds Mu.
func (o *resharding) writeState(r *Routing) {
	c := o.c
	c.config.update("reshardingOperations", o.record, o.document(r))
	t := c.table(o.temp)
	if t == nil && !c.features.observed8 {
		return
	}
	ids := bson.A{}
	for _, s := range o.recipients() {
		ids = append(ids, s)
	}
	common := bson.D{{Key: "uuid", Value: uuidValue(o.uuid)}, {Key: "state", Value: o.state}}
	donor := bson.E{Key: "donorFields", Value: bson.D{
		{Key: "tempNs", Value: o.temp}, {Key: "reshardingKey", Value: o.key.raw}, {Key: "recipientShardIds", Value: ids},
	}}
	var since bson.D
	if c.features.observed8 {
		since = bson.D{{Key: "startTime", Value: bson.NewDateTimeFromTime(o.begunAt)}, {Key: "provenance", Value: o.command}}
	}
	fields := append(slices.Clone(common), since...)
	if t != nil {
		fields = append(fields, donor)
	}
	r.extra = bson.D{{Key: "allowMigrations", Value: false}, {Key: "reshardingFields", Value: fields}}
	if t == nil {
		r.extra = r.extra[1:]
	}
	r.Lastmod = c.Now().Truncate(time.Millisecond)
	c.saveCollection(r)
	if t == nil {
		return
	}
	fields = append(append(slices.Clone(common), bson.E{Key: "recipientFields", Value: o.recipientFields(r)}), since...)
	t.extra = bson.D{{Key: "reshardingFields", Value: fields}, {Key: "allowMigrations", Value: false}}
	t.Lastmod = r.Lastmod
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
	t := c.table(o.temp)
	err := o.catchUp(c.table(o.ns), t)
	if err != nil {
		c.Mu.Unlock()
		o.rollBack()
		return status.Errorf(status.ReshardCollectionAborted, "%s", err.Error())
	}
	defer c.Mu.Unlock()
	db, coll, _ := splitNS(o.ns)
	_, temp, _ := splitNS(o.temp)
	if c.features.observed8 {
		c.replaceData(o.ns, db, coll)
	} else {
		c.dropData(o.ns, db, coll)
	}
	for _, shard := range t.ShardsOwning() {
		if err := c.Shards[shard].Rename(db, temp, db, coll, true); err != nil {
			return err
		}
	}
	delete(c.routes, o.temp)
	delete(c.tracked, o.temp)
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
	if c.features.observed8 {
		o.logTransition("done")
	}
	return nil
}

func (o *resharding) dropTemporary() {
	db, temp, _ := splitNS(o.temp)
	for _, s := range o.c.shards {
		o.c.Shards[s.name].Drop(db, temp)
	}
}
