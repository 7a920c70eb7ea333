package catalog

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// runMovePrimary moves a database's unsharded collections to another shard; they get
// new uuids, and the database's version is increased. It answers when all is copied.
// When its client leaves or its time limit passes, the move goes on, and the same
// command joins it.
func (c *Cluster) runMovePrimary(ctx context.Context, req *engine.Request, _ string) (bson.D, error) {
	db, _ := req.Lookup(req.Name).StringValueOK()
	to, _ := req.Lookup("to").StringValueOK()
	if db == "" {
		return nil, status.Errorf(status.InvalidNamespace, "invalid db name specified: %s", db)
	}
	if db == "admin" || db == "config" || db == "local" {
		return nil, status.Errorf(status.InvalidOptions, "Can't move primary for %s database", db)
	}
	if to == "" {
		return nil, status.Errorf(status.InvalidOptions, "you have to specify where you want to move it")
	}
	m, err := func() (*primaryMove, error) {
		c.Mu.Lock()
		defer c.Mu.Unlock()
		return c.beginMovePrimary(ctx, db, to, appOf(req))
	}()
	if m == nil || err != nil {
		return bson.D{}, err
	}
	return bson.D{}, m.wait(ctx)
}

// beginMovePrimary starts a move on its own goroutine, or returns the running one if it is
// the same. It returns nil when the shard is the primary already. The caller holds Mu.
func (c *Cluster) beginMovePrimary(ctx context.Context, db, to, app string) (*primaryMove, error) {
	d := c.dbs[db]
	switch {
	case d == nil:
		return nil, status.Errorf(status.NamespaceNotFound, "database %s not found", db)
	case c.shard(to) == nil && c.since(8):
		return nil, status.Errorf(status.ShardNotFound, "requested primary shard %s does not exist :: caused by :: Shard %s not found", to, to)
	case c.shard(to) == nil:
		return nil, status.Errorf(status.ShardNotFound,
			"Could not move database '%s' to shard '%s' :: caused by :: Shard %s not found", db, to, to)
	case c.life.Err() != nil:
		return nil, errShutdown()
	}
	if m := c.primaries[db]; m != nil {
		if m.To == to {
			return m, nil
		}
		// The code and the text are assumed.
		return nil, status.Errorf(status.ConflictingOperationInProgress,
			"Unable to start new movePrimary operation because this shard is currently moving its primary for namespace %s to %s", db, m.To)
	}
	if d.primary == to {
		return nil, nil
	}
	m := &primaryMove{completion: newCompletion(), c: c, asked: ctx,
		PrimaryMove: PrimaryMove{DB: db, From: d.primary, To: to, App: app, Begun: c.Now()}}
	c.primaries[db] = m
	c.carryOut(m.completion, m.run, func() { delete(c.primaries, db) })
	return m, nil
}

// PrimaryMove describes a running movePrimary.
type PrimaryMove struct {
	DB, From, To string
	App          string // application name of the requesting client, if any
	Begun        time.Time
}

// primaryMove is one running movePrimary. Reads continue on the old primary shard while it
// copies. Writes to what moves are refused from 5.0 on; before that, what is written to a
// document after it was copied is lost.
type primaryMove struct {
	*completion
	PrimaryMove
	c     *Cluster
	asked context.Context // of the first request, for the hook
	parts []*movedCollection
}

// movedCollection is an unsharded collection and its copy on the new primary shard.
type movedCollection struct {
	source, copied *engine.Coll
	left           []engine.RecordID
}

// PrimaryMoves lists the running movePrimary operations by database. The caller holds Mu.
func (c *Cluster) PrimaryMoves() (out []PrimaryMove) {
	for _, db := range sortedKeys(c.primaries) {
		out = append(out, c.primaries[db].PrimaryMove)
	}
	return out
}

// CheckPrimaryMove returns error 319 if a running movePrimary forbids to change a
// collection. Sharded and tracked collections do not move. The caller holds Mu.
func (c *Cluster) CheckPrimaryMove(db, coll string) error {
	if c.primaries[db] == nil || !c.since(5) || c.tables[db+"."+coll] != nil {
		return nil
	}
	return status.Errorf(status.MovePrimaryInProgress, "movePrimary is in progress")
}

// passes is a step at which the hook may stop the move. Mu is not held.
func (m *primaryMove) passes(step Step) func(life context.Context) error {
	return func(life context.Context) error {
		err := m.c.atStep(valuesContext{life, m.asked}, Point{
			Command: "movePrimary", Step: step, NS: m.DB, From: m.From, To: m.To, Answer: m.answer,
		})
		var down *SteppedDown
		if errors.As(err, &down) {
			return status.Errorf(status.InterruptedByStepDown, "%s", down.Error())
		}
		return err
	}
}

func (m *primaryMove) run(life context.Context) error {
	for _, do := range []func(life context.Context) error{m.begin, m.passes(Cloning), m.copy, m.passes(Committing), m.commit} {
		if err := do(life); err != nil {
			m.fail()
			return err
		}
	}
	return m.passes(Committed)(life)
}

func (m *primaryMove) log(what string) {
	details := value.D("from", m.From, "to", m.To)
	if !m.c.since(8) {
		details = append(value.D("database", m.DB), details...)
	}
	m.c.logChange(m.From, what, m.DB, details)
}

// begin creates the collections on the new primary shard and lists what to copy.
func (m *primaryMove) begin(context.Context) error {
	c := m.c
	c.Mu.Lock()
	defer c.Mu.Unlock()
	m.log("movePrimary.start")
	var sources []*engine.Coll
	for _, coll := range c.Shards[m.From].Colls(m.DB) {
		ns := m.DB + "." + coll.Name
		if c.tables[ns] != nil {
			continue // sharded, or tracked where it is
		}
		if c.data(m.To, ns) != nil {
			return status.Errorf(status.NamespaceExists, "collection %s already exists on shard %s", ns, m.To)
		}
		sources = append(sources, coll)
	}
	for _, coll := range sources {
		copied, err := c.EnsureCollection(m.To, m.DB+"."+coll.Name, c.UUID(), coll)
		if err != nil {
			return err
		}
		p := &movedCollection{source: coll, copied: copied}
		for id := range coll.All() {
			p.left = append(p.left, id)
		}
		m.parts = append(m.parts, p)
	}
	return nil
}

// copy copies in batches; each takes time in proportion to its bytes.
func (m *primaryMove) copy(life context.Context) error {
	for _, p := range m.parts {
		for batch := range slices.Chunk(p.left, cloneBatch) {
			size, err := m.copyBatch(p, batch)
			if err == nil {
				err = m.c.pause(life, time.Duration(float64(cloneTime)*float64(size)/(1<<20)))
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *primaryMove) copyBatch(p *movedCollection, batch []engine.RecordID) (size int, err error) {
	m.c.Mu.Lock()
	defer m.c.Mu.Unlock()
	for _, id := range batch {
		doc := p.source.Get(id)
		if doc == nil {
			continue
		}
		if _, err := p.copied.Insert(doc); err != nil {
			return size, err
		}
		size += len(doc)
	}
	return size, nil
}

// commit makes the shard the primary and drops what was copied from the old one.
func (m *primaryMove) commit(context.Context) error {
	c := m.c
	c.Mu.Lock()
	defer c.Mu.Unlock()
	d := c.dbs[m.DB]
	if d == nil {
		return status.Errorf(status.NamespaceNotFound, "database %s not found", m.DB)
	}
	for _, p := range m.parts {
		c.Shards[m.From].Drop(m.DB, p.source.Name)
	}
	d.primary = m.To
	d.lastMod++
	at := c.Timestamp()
	if c.since(8) {
		d.timestamp = at
	}
	c.saveDatabase(d)
	c.writePlacement(d.name, nil, at, m.To)
	m.log("movePrimary.commit")
	if c.since(8) {
		m.log("movePrimary.end")
	}
	return nil
}

// fail ends a move that has changed nothing yet. The copies stay before 7.0, so that the
// next movePrimary to this shard is refused because of them.
func (m *primaryMove) fail() {
	c := m.c
	c.Mu.Lock()
	defer c.Mu.Unlock()
	m.log("movePrimary.error")
	if !c.since(7) {
		return
	}
	for _, p := range m.parts {
		c.Shards[m.To].Drop(m.DB, p.source.Name)
	}
}
