package simcluster

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/balancer"
	"shardboard/internal/simcluster/catalog"
	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
)

// errCut means that the connection is to be closed without an answer.
var errCut = errors.New("connection cut")

// trigger applies the rules for a point. An error ends the operation there.
func (f *Faults) trigger(ctx context.Context, at catalog.Point, r *engine.Request) error {
	if ctx.Value(internalCommand{}) != nil {
		return nil
	}
	var body bson.Raw // nil for migrations of the balancer
	if r != nil {
		body = r.Body
	} else if t, ok := ctx.Value(inflightKey{}).(*inflightCommand); ok {
		body = t.body
	}
	var failed error
	for _, p := range f.matching(at, body) {
		if err := f.apply(ctx, at, p); err != nil && failed == nil {
			failed = err
		}
	}
	return failed
}

func (f *Faults) apply(ctx context.Context, at catalog.Point, p *Planted) error {
	r := p.rule
	hit := Hit{At: f.cluster.catalog.Now(), Command: at.Command, Step: at.Step, NS: at.NS, Rule: r}
	var act *sideEffect
	if r.Do != nil {
		act = &sideEffect{done: make(chan struct{})}
		hit.Done, hit.DoErr = act.done, act.result
	}
	f.mu.Lock()
	if len(f.hits) >= maxSeen {
		f.hits = slices.Delete(f.hits, 0, maxSeen/2)
	}
	f.hits = append(f.hits, hit)
	f.mu.Unlock()
	if r.Delay > 0 {
		if err := wait(ctx, time.After(r.Delay), nil); err != nil {
			return err
		}
	}
	if r.Hold {
		if err := wait(ctx, nil, p.gone); err != nil {
			return err
		}
	}
	if r.Freeze != "" {
		f.Freeze(r.Freeze)
	}
	if act != nil {
		if !f.cluster.life.run(f.cluster.life.ctx, func(life context.Context) { act.run(life, f.cluster, r.Do) }) {
			act.err = ErrClosed
			close(act.done)
		}
		if err := wait(ctx, time.After(r.Patience), act.done); err != nil {
			return err
		}
	}
	return f.fail(ctx, at, r)
}

// fail applies the part of a fault that the client notices.
func (f *Faults) fail(ctx context.Context, at catalog.Point, r Rule) error {
	answer, migrating := at.Answer, at.Answer != nil
	if trip, ok := ctx.Value(inflightKey{}).(*inflightCommand); ok && !migrating {
		trip.twice = trip.twice || r.Twice && at.Step == Received
		answer = trip.answer
	}
	var err error
	switch {
	case r.Cut:
		err = errCut
	case r.StepDown && migrating && !r.GoOn:
		err = &catalog.SteppedDown{Term: f.elect(at.From)}
	case r.StepDown:
		err = Fail(11602)
	case r.Err != nil:
		err = r.Err
	default:
		return nil
	}
	if (r.Cut || r.GoOn) && answer != nil {
		answer(err)
	}
	if r.GoOn || r.Cut && migrating {
		return nil
	}
	return err
}

// elect counts an election of a member and returns the term that it ended.
func (f *Faults) elect(member string) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.terms[member]++
	return f.terms[member]
}

// wait returns when either channel is ready, or with an error when ctx ends.
func wait(ctx context.Context, timer <-chan time.Time, done <-chan struct{}) error {
	select {
	case <-timer:
	case <-done:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// maxSeen is how many commands are kept.
const maxSeen = 20_000

// Seen is a command that arrived over a connection. A command that a fault runs twice
// was sent once and is recorded once.
type Seen struct {
	N        int       // counts up from 1
	At       time.Time // the cluster's time
	Conn     int32     // number of the connection
	DB, Name string
	NS       string // "" when the command names none
	Comment  bson.RawValue
	Body     bson.Raw
}

// Seen lists the commands that arrived over connections and change the cluster
// (sharding commands, DDL, writes to config), in order, optionally only those with the
// given names. The newest 20,000 are kept. Internal commands ([Cluster.Command],
// Rule.Do, the balancer) are not recorded.
func (f *Faults) Seen(names ...string) []Seen {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []Seen
	for _, s := range f.seen {
		if len(names) == 0 || slices.Contains(names, s.Name) {
			out = append(out, s)
		}
	}
	return out
}

// recordCommand records a client's command.
func (f *Faults) recordCommand(r *engine.Request) {
	if r.Conn == nil || !changes(r) {
		return
	}
	s := Seen{
		At: f.cluster.catalog.Now(), Conn: r.Conn.ID, DB: r.DB, Name: r.Name, NS: namespaceOf(r),
		Body: slices.Clone(r.Body),
	}
	s.Comment = s.Body.Lookup("comment")
	f.mu.Lock()
	defer f.mu.Unlock()
	f.number++
	s.N = f.number
	if len(f.seen) >= maxSeen {
		f.seen = slices.Delete(f.seen, 0, maxSeen/2)
	}
	f.seen = append(f.seen, s)
}

// changes reports whether a command changes the cluster's layout or metadata, not just
// documents.
func changes(r *engine.Request) bool {
	switch r.Command() {
	case "split", "mergeChunks", "moveChunk", "moveRange", "mergeAllChunksOnShard", "clearJumboFlag",
		"addShardToZone", "removeShardFromZone", "updateZoneKeyRange",
		"balancerStart", "balancerStop", "configureCollectionBalancing", "setAllowMigrations",
		"enableSharding", "shardCollection", "refineCollectionShardKey",
		"reshardCollection", "abortReshardCollection", "moveCollection", "unshardCollection", "abortMoveCollection", "abortUnshardCollection",
		"movePrimary", "removeShard", "startShardDraining", "stopShardDraining", "commitShardRemoval",
		"transitionFromDedicatedConfigServer", "transitionToDedicatedConfigServer",
		"create", "drop", "dropDatabase", "renameCollection", "createIndexes", "dropIndexes":
		return true
	case "insert", "update", "delete", "findAndModify":
		return r.DB == "config"
	}
	return false
}

// Other makes a Rule.Do in which another client runs one command and ignores the answer.
func Other(db string, cmd any) func(context.Context, *Cluster) error {
	return func(ctx context.Context, c *Cluster) error {
		_, err := c.Command(ctx, db, cmd)
		return err
	}
}

// sideEffect is one run of Rule.Do.
type sideEffect struct {
	done chan struct{}
	err  error // set before done is closed
}

func (d *sideEffect) run(ctx context.Context, c *Cluster, do func(context.Context, *Cluster) error) {
	defer close(d.done)
	d.err = do(context.WithValue(ctx, internalCommand{}, true), c)
}

// result waits for Do to return.
func (d *sideEffect) result() error {
	<-d.done
	return d.err
}

// Round is a Rule.Do that runs one balancer round if the settings allow it.
func Round(ctx context.Context, c *Cluster) error {
	balancer.New(c.catalog, balancer.Options{Seed: uint64(c.opts.Seed)}).Round(ctx)
	return nil
}

// Move makes a Rule.Do that moves the chunk that begins at lo, as the balancer or another
// operator would. lo must be the chunk's full lower bound.
func Move(ns string, lo bson.D, to string) func(context.Context, *Cluster) error {
	return func(ctx context.Context, c *Cluster) error {
		key, err := bson.Marshal(lo)
		if err != nil {
			return err
		}
		c.catalog.Mu.RLock()
		var hi bson.Raw
		if r := c.catalog.Routing(ns); r != nil {
			for _, ch := range r.Chunks() {
				if slices.Equal(ch.Min, key) {
					hi = ch.Max
				}
			}
		}
		c.catalog.Mu.RUnlock()
		if hi == nil {
			return status.Errorf(status.IncompatibleShardingMetadata, "no chunk of %s begins at %s", ns, bson.Raw(key))
		}
		return c.catalog.Move(ctx, ns, key, hi, to, catalog.MoveOptions{})
	}
}
