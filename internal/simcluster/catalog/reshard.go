package catalog

import (
	"context"
	"maps"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// runReshardCollection changes a collection's shard key. It answers when the operation
// is finished; a repeated request joins the running operation.
func (c *Cluster) runReshardCollection(ctx context.Context, req *engine.Request, ns string) (bson.D, error) {
	p, err := keyArgument(req)
	if err != nil {
		return nil, err
	}
	if truthy(req.Lookup("unique")) {
		return nil, status.Errorf(status.BadValue, "unique: true is not supported by reshardCollection")
	}
	n, given := asInt64(req.Lookup("numInitialChunks"))
	if !given {
		n = 90 // reshardingNumInitialChunks
	}
	return c.joinResharding(ctx, req, func() (*resharding, error) {
		return c.beginReshard(ctx, ns, p, req.Lookup("zones"), n, truthy(req.Lookup("forceRedistribution")))
	})
}

// beginReshard checks the request and starts the operation, or returns the running one.
// It returns nil when the collection already has that key. The caller holds Mu.
func (c *Cluster) beginReshard(ctx context.Context, ns string, p pattern, zones bson.RawValue, chunks int64, again bool,
) (*resharding, error) {
	if o := c.reshard; o != nil {
		if o.NS == ns && o.Command == "reshardCollection" && value.CompareDocs(o.key.raw, p.raw) == 0 {
			return o, nil
		}
		return nil, status.Errorf(status.ReshardCollectionInProgress, "Only one resharding operation is allowed to be active at a time")
	}
	r := c.Routing(ns)
	if r == nil {
		return nil, status.Errorf(status.NamespaceNotSharded, "Collection %s is not sharded.", ns)
	}
	if value.CompareDocs(r.Key, p.raw) == 0 && !(again && c.since(8)) {
		return nil, nil
	}
	if len(c.zones[ns]) > 0 && zones.Type != bson.TypeArray {
		return nil, status.Errorf(status.BadValue, "Must specify value for zones field")
	}
	list, err := c.reshardZones(p, zones)
	if err != nil {
		return nil, err
	}
	if c.life.Err() != nil {
		return nil, errShutdown()
	}
	o := c.newResharding("reshardCollection", r, p)
	o.Zones = zones
	o.zones, o.Initial, o.force = list, max(chunks, 1), again
	o.start(ctx)
	return o, nil
}

// reshardZones reads the zone ranges that replace the collection's current ones.
func (c *Cluster) reshardZones(p pattern, zones bson.RawValue) ([]*Zone, error) {
	if zones.Type != bson.TypeArray {
		return nil, nil
	}
	var list []*Zone
	for v := range value.Items(zones) {
		d, ok := v.DocumentOK()
		if !ok {
			return nil, status.Errorf(status.TypeMismatch, "BSON field 'reshardCollection.zones' is the wrong type")
		}
		lo, _ := d.Lookup("min").DocumentOK()
		hi, _ := d.Lookup("max").DocumentOK()
		name, _ := d.Lookup("zone").StringValueOK()
		z := &Zone{Name: name}
		var ok1, ok2 bool
		if z.Min, ok1 = p.extend(lo); ok1 {
			z.Max, ok2 = p.extend(hi)
		}
		if !ok1 || !ok2 || compareKeys(z.Min, z.Max) >= 0 {
			return nil, status.Errorf(status.BadValue, "zone range %s is not valid for shard key pattern %s", rangeText(lo, hi), text(p.raw))
		}
		if !c.zoneExists(name) {
			return nil, status.Errorf(status.ZoneNotFound, "zone %s does not exist", name)
		}
		list = append(list, z)
	}
	return list, nil
}

// runAbortReshardCollection aborts a running resharding, whose client then gets error
// 341.
func (c *Cluster) runAbortReshardCollection(ctx context.Context, req *engine.Request, ns string) (bson.D, error) {
	c.Mu.Lock()
	o, err := c.runningOperation(ns, req.Name)
	if err != nil {
		c.Mu.Unlock()
		return nil, err
	}
	if o.State == "committing" {
		c.Mu.Unlock()
		return nil, status.Errorf(status.ReshardCollectionCommitted, "Can't abort resharding operation after deciding to commit")
	}
	if !o.aborted {
		o.aborted = true
		close(o.abort)
	}
	c.Mu.Unlock()
	return bson.D{}, await(ctx, o.done)
}

// resharding is one running reshardCollection. The metadata goes through the states
// of the real coordinator (db/s/resharding/resharding_coordinator_service.cpp); the
// documents are cloned in steps, and what changed meanwhile is copied at the end under
// one lock, where a real server applies the oplog.
type resharding struct {
	*completion
	Resharding
	c     *Cluster
	key   pattern
	zones []*Zone
	force bool // forceRedistribution, or one shard is named

	begunAt, clonedAt, copiedAt, appliedAt time.Time // when it and its phases began or ended

	record  engine.RecordID
	fetched bson.Timestamp
	copies  map[docPlace]docPlace // of each copied document

	asked context.Context // of the first request, for the hook; nil before the start

	aborted bool
	abort   chan struct{}
	hurry   chan struct{} // closed by commitReshardCollection: commit as soon as possible
	hurried bool
}

// Resharding describes a running resharding.
type Resharding struct {
	NS, TempNS  string
	Source      [16]byte // uuid of the collection
	UUID        [16]byte // of the operation and of the new collection
	Key         bson.Raw
	State       string
	Bytes, Docs int64               // approximate work of one recipient
	Command     string              // reshardCollection, moveCollection or unshardCollection
	To          string              // the only recipient of moveCollection and unshardCollection
	Progress    map[string]Progress // by recipient
	Begun       time.Time
	Elapsed     time.Duration

	// As 8.0 shows it.
	App                         string        // of the client
	Initial                     int64         // numInitialChunks
	Distribution                bson.A        // shardDistribution
	Zones                       bson.RawValue // as given
	Donors, Recipients          []string
	Copying, Applying, Critical time.Duration
}

// Resharding returns the running resharding, if any. The caller holds Mu.
func (c *Cluster) Resharding() (r Resharding, ok bool) {
	o := c.reshard
	if o == nil {
		return r, false
	}
	r = o.Resharding
	r.Progress, r.Elapsed = maps.Clone(o.Progress), c.Now().Sub(o.Begun)
	if t := c.tables[o.NS]; t != nil && o.State != "unused" && o.State != "initializing" { // nobody takes part before
		r.Donors, r.Recipients = t.ShardsOwning(), o.recipients()
	}
	if o.To != "" {
		r.Distribution = o.distribution()
	}
	r.Copying, r.Applying = c.between(o.clonedAt, o.copiedAt), c.between(o.copiedAt, o.appliedAt)
	r.Critical = c.between(o.appliedAt, time.Time{})
	return r, true
}

// between is how long a phase took that began and perhaps ended.
func (c *Cluster) between(begun, ended time.Time) time.Duration {
	switch {
	case begun.IsZero():
		return 0
	case ended.IsZero():
		return c.Now().Sub(begun)
	}
	return ended.Sub(begun)
}

// run goes through the states. Most of the minimum duration is spent in cloning and
// blocking-writes.
func (o *resharding) run(life context.Context) error {
	least := o.c.opts.Reshard
	for _, s := range []struct {
		name string
		time time.Duration
	}{
		{"initializing", 60 * time.Millisecond}, {"preparing-to-donate", 140 * time.Millisecond},
		{"cloning", least / 2}, {"applying", 100 * time.Millisecond}, {"blocking-writes", least / 2},
	} {
		if err := o.enterState(s.name); err != nil {
			return err
		}
		if err := o.atStep(life, stepOfState[s.name]); err != nil {
			o.rollBack()
			return err
		}
		if err := o.workFor(life, s.name, s.time); err != nil {
			o.rollBack()
			return err
		}
	}
	return o.commit(life)
}

func (o *resharding) pause(life context.Context, d time.Duration) error {
	if o.c.still.Load() {
		d = 0
	}
	select {
	case <-time.After(time.Duration(float64(d) * o.c.opts.Pace)):
		return nil
	case <-o.hurry:
		return nil
	case <-o.abort:
		return status.Errorf(status.ReshardCollectionAborted, "resharding operation aborted")
	case <-life.Done():
		return errShutdown()
	}
}

// enterState writes a new state to the log and to all documents that show it.
func (o *resharding) enterState(state string) error {
	c := o.c
	c.Mu.Lock()
	defer c.Mu.Unlock()
	r := c.tables[o.NS]
	if r == nil || r.UUID != o.Source {
		return status.Errorf(status.NamespaceNotSharded, "Collection %s is not sharded.", o.NS)
	}
	if state == "preparing-to-donate" && c.since(8) {
		if err := o.checkCardinality(r); err != nil {
			o.logTransition("done")
			c.bumpNewest(r)
			r.extra, r.blocked = nil, false
			c.saveCollection(r)
			c.config.delete("reshardingOperations", o.record)
			return err
		}
	}
	now := c.Now().Truncate(time.Millisecond)
	o.logTransition(state)
	switch state {
	case "initializing":
		o.begunAt = now
		o.record = c.config.insert("reshardingOperations", o.document(r))
	case "preparing-to-donate":
		if err := o.prepare(r); err != nil {
			return err
		}
	case "cloning":
		o.fetched, o.clonedAt = c.Timestamp(), now
		o.estimate(r)
		o.bumpRecipients()
	case "applying":
		o.copiedAt = now
		o.bumpRecipients()
	case "blocking-writes":
		o.appliedAt = now
		o.bumpRecipients()
	default:
		o.bumpRecipients()
	}
	c.bumpNewest(r)
	o.writeState(r)
	return nil
}

// logTransition changes the state and logs it.
func (o *resharding) logTransition(state string) {
	o.c.logChange(configServer, "resharding.coordinator.transition", o.NS, value.D("newState", state,
		"oldState", o.State, "namespace", o.NS, "collectionUUID", uuidText(o.Source),
		"reshardingUUID", uuidText(o.UUID)))
	o.State = state
}

// prepare computes the new chunks from the keys of the existing documents and creates
// the temporary collection.
func (o *resharding) prepare(r *Routing) error {
	c := o.c
	keys := o.keys(r)
	at := c.Timestamp()
	t := c.newRouting(o.TempNS, o.key, o.UUID, false, c.objectID(configServer), at)
	t.blocked, t.simple, r.blocked = true, true, true
	t.newer.unsplittable = o.To != ""
	shards := c.notDraining()
	if order := c.placements[o.NS]; order != nil {
		shards = order
	}
	if o.To != "" {
		shards = []string{o.To}
	}
	lo := o.key.min()
	var chunks []*Chunk
	points := append(o.points(keys), o.key.max())
	for i, hi := range points {
		list := shards
		for _, z := range o.zones {
			if compareKeys(z.Min, lo) <= 0 && compareKeys(hi, z.Max) <= 0 {
				list = c.inZone(z.Name)
			}
		}
		shard := list[i%len(list)]
		chunks = append(chunks, c.placeChunk(t, lo, hi, shard, bson.Timestamp{T: 1, I: uint32(i)}, at))
		lo = hi
	}
	t.setChunks(chunks)
	return nil
}

// rollBack removes all traces after an abort.
func (o *resharding) rollBack() {
	c := o.c
	c.Mu.Lock()
	defer c.Mu.Unlock()
	o.logTransition("aborting")
	if c.since(8) {
		o.logTransition("done")
	}
	if t := c.tables[o.TempNS]; t != nil {
		c.forgetCollection(t, true)
	}
	db, temp, _ := splitNS(o.TempNS)
	for _, s := range c.shards {
		c.Shards[s.name].Drop(db, temp)
	}
	if r := c.tables[o.NS]; r != nil {
		r.blocked, r.extra = false, nil
		c.saveCollection(r)
		c.bumpNewest(r)
	}
	c.config.delete("reshardingOperations", o.record)
}
