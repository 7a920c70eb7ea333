package catalog

import (
	"context"
	"errors"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
)

// newResharding prepares an operation on a collection. The caller holds Mu.
func (c *Cluster) newResharding(command string, r *Routing, key pattern) *resharding {
	db, _, _ := splitNS(r.NS)
	return &resharding{
		completion: newCompletion(), c: c, key: key, abort: make(chan struct{}), hurry: make(chan struct{}),
		Resharding: Resharding{
			NS: r.NS, TempNS: db + ".system.resharding." + uuidText(r.UUID), Source: r.UUID, UUID: c.UUID(), Key: key.raw,
			State: "unused", Command: command, Initial: 1, Begun: c.Now(),
		},
	}
}

// start runs the operation on its own goroutine. The caller holds Mu; asked is the
// context of the request.
func (o *resharding) start(asked context.Context) {
	c := o.c
	c.reshard, o.asked = o, asked
	c.carryOut(o.completion, o.run, func() { c.reshard = nil })
}

// joinResharding begins an operation or finds the running one, with Mu held, and waits for it; nil means that there was
// nothing to do.
func (c *Cluster) joinResharding(ctx context.Context, req *engine.Request, begin func() (*resharding, error)) (bson.D, error) {
	c.Mu.Lock()
	o, err := begin()
	if o != nil && o.App == "" {
		o.App = appOf(req)
	}
	c.Mu.Unlock()
	if o == nil || err != nil {
		return bson.D{}, err
	}
	return bson.D{}, o.wait(ctx)
}

// runningOperation is the running operation that this command started on a collection,
// or error 339: abortMoveCollection does not end a reshardCollection.
func (c *Cluster) runningOperation(ns, command string) (*resharding, error) {
	o := c.reshard
	command = strings.TrimPrefix(command, "abort")
	command = strings.TrimPrefix(command, "commit")
	if o == nil || o.NS != ns || !strings.EqualFold(o.Command, command) {
		return nil, status.Errorf(status.NoSuchReshardCollection, "Could not find resharding-related metadata that matches the given namespace")
	}
	return o, nil
}

// runCommitReshardCollection makes a running resharding commit as soon as everything is
// copied.
func (c *Cluster) runCommitReshardCollection(ctx context.Context, req *engine.Request, ns string) (bson.D, error) {
	return c.joinResharding(ctx, req, func() (*resharding, error) {
		o, err := c.runningOperation(ns, req.Name)
		if err != nil && c.since(8) {
			err = status.Errorf(status.NoSuchReshardCollection, "Could not find resharding metadata for %s", ns)
		}
		if err == nil && !o.hurried {
			o.hurried = true
			close(o.hurry)
		}
		return o, err
	})
}

// keys are the new keys of all documents, sorted.
func (o *resharding) keys(r *Routing) []bson.Raw {
	var keys []bson.Raw
	o.eachPlace(r, func(_ docPlace, doc bson.Raw) {
		if key, err := o.key.keyOf(doc); err == nil {
			keys = append(keys, key)
		}
	})
	slices.SortFunc(keys, compareKeys)
	return keys
}

// points are the split points for the initial number of chunks and at zone boundaries.
func (o *resharding) points(keys []bson.Raw) []bson.Raw {
	var points []bson.Raw
	if o.c.since(8) {
		points = sampledPoints(keys, o.Initial)
	}
	for i := int64(1); i < o.Initial && len(keys) > 0 && !o.c.since(8); i++ {
		points = append(points, keys[int(i)*len(keys)/int(o.Initial)])
	}
	for _, z := range o.zones {
		points = append(points, z.Min, z.Max)
	}
	slices.SortFunc(points, compareKeys)
	points = slices.CompactFunc(points, func(a, b bson.Raw) bool { return compareKeys(a, b) == 0 })
	return slices.DeleteFunc(points, func(p bson.Raw) bool {
		return compareKeys(p, o.key.min()) <= 0 || compareKeys(p, o.key.max()) >= 0
	})
}

// checkCardinality refuses a key with too few values for the number of chunks (8.0). The server reads ten samples for
// each chunk in order and cuts after every tenth; without so many documents, it has them all.
func (o *resharding) checkCardinality(r *Routing) error {
	if o.To != "" {
		return nil
	}
	return tooFewValues(o.Initial, o.points(o.keys(r)))
}

// tooFewValues is the error for a number of chunks that the split points do not make.
func tooFewValues(chunks int64, points []bson.Raw) error {
	if int64(len(points)) >= chunks-1 {
		return nil
	}
	return status.Errorf(4952606, "The shard key provided does not have enough cardinality to make the required number of chunks of %d, "+
		"it can only make %d chunks", chunks, len(points)+1)
}

// samplesPerChunk is how many documents the server reads for each chunk to find split points
// (reshardCollectionSamplesPerChunk).
const samplesPerChunk = 10

// sampledPoints are the split points that a sample of sorted keys gives: the last of every ten, without the same twice.
// Of more keys than needed, evenly spaced ones are taken where the server draws them.
func sampledPoints(keys []bson.Raw, chunks int64) (points []bson.Raw) {
	n := min(int64(len(keys)), chunks*samplesPerChunk)
	for last := int64(samplesPerChunk - 1); int64(len(points)) < chunks-1 && last-(samplesPerChunk-1) < n; last += samplesPerChunk {
		key := keys[min(last, n-1)*int64(len(keys))/n]
		if len(points) == 0 || compareKeys(points[len(points)-1], key) != 0 {
			points = append(points, key)
		}
	}
	return points
}

// estimate computes the approximate work of one recipient: the donors' data, orphans
// included, divided by the number of recipients.
func (o *resharding) estimate(r *Routing) {
	n := int64(max(len(o.c.tables[o.TempNS].counts), 1))
	for _, s := range r.ShardsOwning() {
		if coll := o.c.data(s, o.NS); coll != nil {
			o.Bytes, o.Docs = o.Bytes+coll.Bytes(), o.Docs+int64(coll.Len())
		}
	}
	o.Bytes, o.Docs = o.Bytes/n, o.Docs/n
}

// bumpRecipients increases the version of one chunk on every recipient, so that the
// shards notice a state change.
func (o *resharding) bumpRecipients() {
	t := o.c.tables[o.TempNS]
	if o.c.since(8) {
		o.c.bumpNewest(t)
		return
	}
	seen := make(map[string]bool)
	major := true
	for _, ch := range t.chunks {
		if seen[ch.Shard] {
			continue
		}
		seen[ch.Shard] = true
		if major {
			ch.Version, major = t.bumpMajor(), false
		} else {
			ch.Version = t.bumpMinor()
		}
		o.c.saveChunk(t, ch)
	}
}

// stepOfState is the step at which the hook is called in a state of a resharding.
var stepOfState = map[string]Step{"cloning": Cloning, "applying": Cloned, "blocking-writes": Critical}

// atStep calls the hook for a resharding; an error ends it without a change. A step-down
// does not: the coordinator and the shards keep their state on disk, and the next primary
// goes on. Only who waits for an answer gets an error. Mu is not held.
func (o *resharding) atStep(life context.Context, step Step) error {
	if step == "" {
		return nil
	}
	err := o.c.atStep(valuesContext{life, o.asked}, Point{Command: o.Command, Step: step, NS: o.NS, To: o.To, Answer: o.answer})
	var down *SteppedDown
	if errors.As(err, &down) {
		o.answer(status.Errorf(status.InterruptedByStepDown, "%s", down.Error()))
		return nil
	}
	return err
}
