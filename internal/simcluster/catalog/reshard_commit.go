package catalog

import (
	"bytes"
	"context"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// docPlace is the shard and the record id of a document.
type docPlace struct {
	shard string
	id    engine.RecordID
}

// Progress is the progress of one recipient of a resharding.
type Progress struct {
	Docs, Bytes int64 // cloned
	Applied     int64 // changes since then
}

// workFor spends the time of one state: cloning copies documents, other states only
// wait.
func (o *resharding) workFor(life context.Context, state string, d time.Duration) error {
	if state != "cloning" {
		return o.pause(life, d)
	}
	o.c.Mu.Lock()
	list, err := o.beginCopy()
	o.c.Mu.Unlock()
	switch {
	case err != nil:
		return err
	case len(list) == 0:
		return o.pause(life, d)
	}
	each := d * cloneBatch / time.Duration(len(list))
	for batch := range slices.Chunk(list, cloneBatch) {
		if err := o.copyBatch(batch); err != nil {
			return status.Errorf(status.ReshardCollectionAborted, "%s", err.Error())
		}
		if err := o.pause(life, min(each, d)); err != nil {
			return err
		}
	}
	return nil
}

// beginCopy creates the temporary collection, with the source's indexes and one for the
// new key, and lists the documents to copy. The caller holds Mu.
func (o *resharding) beginCopy() ([]docPlace, error) {
	c := o.c
	r, t := c.tables[o.NS], c.tables[o.TempNS]
	o.copies, o.Progress = make(map[docPlace]docPlace), make(map[string]Progress)
	if o.Command == "reshardCollection" {
		if err := c.uniqueStays(r, o.key); err != nil {
			return nil, err // a recipient finds it after it has made the other indexes
		}
	}
	var model *engine.Coll
	for _, s := range r.ShardsOwning() {
		if model = c.data(s, o.NS); model != nil {
			break
		}
	}
	for _, s := range t.ShardsOwning() {
		coll, err := c.EnsureCollection(s, o.TempNS, o.UUID, model)
		if err != nil {
			return nil, err
		}
		if _, err := c.shardKeyIndex(shardSpec{ns: o.TempNS, key: o.key}, s, coll, true); err != nil {
			return nil, err
		}
		o.Progress[s] = Progress{}
	}
	var list []docPlace
	o.eachPlace(r, func(at docPlace, _ bson.Raw) { list = append(list, at) })
	return list, nil
}

// eachPlace visits every owned document.
func (o *resharding) eachPlace(r *Routing, visit func(docPlace, bson.Raw)) {
	for _, shard := range r.ShardsOwning() {
		coll := o.c.data(shard, r.NS)
		if coll == nil {
			continue
		}
		for id, doc := range coll.All() {
			if r.Owns(shard, doc) {
				visit(docPlace{shard, id}, doc)
			}
		}
	}
}

func (o *resharding) copyBatch(batch []docPlace) error {
	o.c.Mu.Lock()
	defer o.c.Mu.Unlock()
	t := o.c.tables[o.TempNS]
	for _, at := range batch {
		coll := o.c.data(at.shard, o.NS)
		if coll == nil {
			continue
		}
		doc := coll.Get(at.id)
		if doc == nil {
			continue
		}
		to, err := o.insert(t, at, doc)
		if err != nil {
			return err
		}
		p := o.Progress[to]
		p.Docs, p.Bytes = p.Docs+1, p.Bytes+int64(len(doc))
		o.Progress[to] = p
	}
	return nil
}

// insert copies one document to its owner under the new key.
func (o *resharding) insert(t *Routing, from docPlace, doc bson.Raw) (shard string, err error) {
	key, err := t.KeyOf(doc)
	if err != nil {
		return "", err
	}
	shard = t.Owner(key)
	id, err := o.c.data(shard, o.TempNS).Insert(doc)
	if err == nil {
		o.copies[from] = docPlace{shard, id}
	}
	return shard, err
}

// catchUp makes the copy equal to the current source. Deletions come first, so that
// their unique values are free. The caller holds Mu until the source is dropped, so
// nothing changes after it.
func (o *resharding) catchUp(r, t *Routing) error {
	type change struct {
		at  docPlace
		doc bson.Raw
	}
	var changes []change
	stale := o.copies
	o.copies = make(map[docPlace]docPlace, len(stale))
	o.eachPlace(r, func(at docPlace, doc bson.Raw) {
		to, ok := stale[at]
		if ok && bytes.Equal(o.c.data(to.shard, o.TempNS).Get(to.id), doc) {
			o.copies[at] = to
			delete(stale, at)
			return
		}
		changes = append(changes, change{at, doc})
	})
	for _, to := range stale {
		o.c.data(to.shard, o.TempNS).Delete(to.id)
		o.applied(to.shard)
	}
	for _, ch := range changes {
		shard, err := o.insert(t, ch.at, ch.doc)
		if err != nil {
			return err
		}
		o.applied(shard)
	}
	return nil
}

func (o *resharding) applied(shard string) {
	p := o.Progress[shard]
	p.Applied++
	o.Progress[shard] = p
}

// document is the operation's row of config.reshardingOperations.
func (o *resharding) document(r *Routing) bson.D {
	donors, recipients := bson.A{}, bson.A{}
	for _, s := range r.ShardsOwning() {
		state := value.D("state", "unused")
		if !o.fetched.IsZero() {
			coll := o.c.data(s, o.NS)
			state = value.D("state", o.donorState(), "minFetchTimestamp", o.fetched)
			if coll != nil {
				state = value.D(state, "bytesToClone", coll.Bytes(), "documentsToClone", int64(coll.Len()))
			}
			state = value.D(state, value.When(state[0].Value == "blocking-writes", "writesDuringCriticalSection", int64(0)))
		}
		donors = append(donors, value.D("id", s, "mutableState", state))
	}
	for _, s := range o.recipients() {
		recipients = append(recipients, value.D("id", s, "mutableState", value.D("state", o.recipientState())))
	}
	is8 := o.c.since(8)
	return value.D("_id", uuidValue(o.UUID), "ns", o.NS, "ui", uuidValue(o.Source), "tempNs", o.TempNS,
		"reshardingKey", o.key.raw, o.since(), "state", o.State, "donorShards", donors, "recipientShards", recipients,
		"numInitialChunks", o.Initial, "active", true,
		value.When(is8 && o.To != "", "shardDistribution", o.distribution()),
		value.When(is8, "sourceKey", r.Key, "forceRedistribution", o.force), o.toCopy(),
		value.When(is8 && !o.clonedAt.IsZero(), "metrics", o.metrics()))
}

// since are the start and the command of an operation, which 8.0 was seen to write.
func (o *resharding) since() bson.D {
	return value.When(o.c.since(8), "startTime", bson.NewDateTimeFromTime(o.begunAt), "provenance", o.Command)
}

// toCopy says how much there is to copy, once the donors have told it.
func (o *resharding) toCopy() bson.D {
	return value.When(!o.fetched.IsZero(), "approxBytesToCopy", o.Bytes, "approxDocumentsToCopy", o.Docs,
		"cloneTimestamp", o.fetched)
}

// donorState and recipientState are the states of a shard in config.reshardingOperations; 5.0 was seen to write none
// but the first ones there.
func (o *resharding) donorState() string {
	if o.c.since(8) && (o.State == "blocking-writes" || o.State == "committing") {
		return "blocking-writes"
	}
	return "donating-initial-data"
}

func (o *resharding) recipientState() string {
	switch {
	case !o.c.since(8):
	case o.State == "applying" || o.State == "blocking-writes":
		return "applying"
	case o.State == "committing":
		return "strict-consistency"
	}
	return "unused"
}

// distribution is the one range of an operation that takes all documents to one shard.
func (o *resharding) distribution() bson.A {
	return bson.A{value.D("min", o.key.min(), "max", o.key.max(), "shard", o.To)}
}

// metrics are the times at which phases began and ended.
func (o *resharding) metrics() bson.D {
	since := func(name string, at time.Time) bson.D {
		return value.When(!at.IsZero(), name, bson.NewDateTimeFromTime(at))
	}
	return value.D("documentCopy", value.D(since("start", o.clonedAt), since("stop", o.copiedAt)),
		value.When(!o.appliedAt.IsZero(), "oplogApplication", since("stop", o.appliedAt)))
}

func (o *resharding) recipients() []string {
	t := o.c.tables[o.TempNS]
	if t == nil {
		return nil
	}
	list := t.ShardsOwning()
	db, _, _ := splitNS(o.NS)
	// In 8.0 the primary shard always receives, be it nothing.
	if primary, ok := o.c.Primary(db); ok && o.c.since(8) && !slices.Contains(list, primary) {
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
	t := c.tables[o.TempNS]
	if t == nil && !c.since(8) {
		return
	}
	ids := bson.A{}
	for _, s := range o.recipients() {
		ids = append(ids, s)
	}
	common := value.D("uuid", uuidValue(o.UUID), "state", o.State)
	donor := value.D("tempNs", o.TempNS, "reshardingKey", o.key.raw, "recipientShardIds", ids)
	r.extra = value.D(value.When(t != nil, "allowMigrations", false),
		"reshardingFields", value.D(common, o.since(), value.When(t != nil, "donorFields", donor)))
	r.Lastmod = c.Now().Truncate(time.Millisecond)
	c.saveCollection(r)
	if t == nil {
		return
	}
	t.extra = value.D("reshardingFields", value.D(common, "recipientFields", o.recipientFields(r), o.since()),
		"allowMigrations", false)
	t.Lastmod = r.Lastmod
	c.saveCollection(t)
}

func (o *resharding) recipientFields(r *Routing) bson.D {
	donors := bson.A{}
	for _, s := range r.ShardsOwning() {
		donors = append(donors, value.D("shardId", s, value.When(!o.fetched.IsZero(), "minFetchTimestamp", o.fetched)))
	}
	return value.D("donorShards", donors, "sourceUUID", uuidValue(o.Source), "sourceNs", o.NS,
		"minimumOperationDurationMillis", o.c.opts.Reshard.Milliseconds(), o.toCopy())
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
	t := c.tables[o.TempNS]
	err := o.catchUp(c.tables[o.NS], t)
	if err != nil {
		c.Mu.Unlock()
		o.rollBack()
		return status.Errorf(status.ReshardCollectionAborted, "%s", err.Error())
	}
	defer c.Mu.Unlock()
	db, coll, _ := splitNS(o.NS)
	_, temp, _ := splitNS(o.TempNS)
	if c.since(8) {
		c.replaceData(o.NS, db, coll)
	} else {
		c.dropData(o.NS, db, coll)
	}
	for _, shard := range t.ShardsOwning() {
		c.Shards[shard].Rename(db, temp, db, coll)
	}
	delete(c.tables, o.TempNS)
	t.NS, t.Epoch, t.Timestamp = o.NS, c.objectID(configServer), c.Timestamp()
	t.extra, t.blocked, t.simple, t.Lastmod = nil, false, false, c.Now().Truncate(time.Millisecond)
	c.tables[t.NS] = t
	c.config.delete("collections", t.record)
	t.record = c.config.insert("collections", c.collectionDocument(t))
	for _, z := range o.zones {
		z.id = c.objectID(configServer)
		z.record = c.config.insert("tags", zoneDocument(o.NS, z))
		c.putZone(o.NS, z)
	}
	c.config.delete("reshardingOperations", o.record)
	c.notePlacement(t)
	if c.since(8) {
		o.logTransition("done")
	}
	return nil
}
