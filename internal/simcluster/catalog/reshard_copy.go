package catalog

import (
	"bytes"
	"context"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
)

// docPlace is the shard and the record id of a document.
type docPlace struct {
	shard string
	id    engine.RecordID
}

// copyState maps each copied document of a resharding to its copy.
type copyState struct {
	begun  time.Time
	copies map[docPlace]docPlace
	done   map[string]Progress
}

// Progress is the progress of one recipient of a resharding.
type Progress struct {
	Docs, Bytes int64 // cloned
	Applied     int64 // changes since then
}

func (o *resharding) progress() map[string]Progress {
	out := make(map[string]Progress, len(o.copying.done))
	for shard, p := range o.copying.done {
		out[shard] = p
	}
	return out
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
	if err != nil || len(list) == 0 {
		return orPause(err, func() error { return o.pause(life, d) })
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

func orPause(err error, pause func() error) error {
	if err != nil {
		return err
	}
	return pause()
}

// beginCopy creates the temporary collection, with the source's indexes and one for the
// new key, and lists the documents to copy. The caller holds Mu.
func (o *resharding) beginCopy() ([]docPlace, error) {
	c := o.c
	r, t := c.table(o.ns), c.table(o.temp)
	o.copying.copies, o.copying.done = make(map[docPlace]docPlace), make(map[string]Progress)
	if o.command == "reshardCollection" {
		if err := c.uniqueStays(r, o.key); err != nil {
			return nil, err // a recipient finds it after it has made the other indexes
		}
	}
	var model *engine.Coll
	for _, s := range r.ShardsOwning() {
		if model = c.data(s, o.ns); model != nil {
			break
		}
	}
	for _, s := range t.ShardsOwning() {
		coll, err := c.EnsureCollection(s, o.temp, o.uuid, model)
		if err != nil {
			return nil, err
		}
		if _, err := c.shardKeyIndex(shardSpec{ns: o.temp, key: o.key}, s, coll, true); err != nil {
			return nil, err
		}
		o.copying.done[s] = Progress{}
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
		scan(coll, func(id engine.RecordID, doc bson.Raw) bool {
			if r.Owns(shard, doc) {
				visit(docPlace{shard, id}, doc)
			}
			return true
		})
	}
}

func (o *resharding) copyBatch(batch []docPlace) error {
	o.c.Mu.Lock()
	defer o.c.Mu.Unlock()
	t := o.c.table(o.temp)
	for _, at := range batch {
		coll := o.c.data(at.shard, o.ns)
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
		p := o.copying.done[to]
		p.Docs, p.Bytes = p.Docs+1, p.Bytes+int64(len(doc))
		o.copying.done[to] = p
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
	id, err := o.c.data(shard, o.temp).Insert(doc)
	if err == nil {
		o.copying.copies[from] = docPlace{shard, id}
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
	stale := o.copying.copies
	o.copying.copies = make(map[docPlace]docPlace, len(stale))
	o.eachPlace(r, func(at docPlace, doc bson.Raw) {
		to, ok := stale[at]
		if ok && bytes.Equal(o.c.data(to.shard, o.temp).Get(to.id), doc) {
			o.copying.copies[at] = to
			delete(stale, at)
			return
		}
		changes = append(changes, change{at, doc})
	})
	for _, to := range stale {
		o.c.data(to.shard, o.temp).Delete(to.id)
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
	p := o.copying.done[shard]
	p.Applied++
	o.copying.done[shard] = p
}
