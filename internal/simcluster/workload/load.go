package workload

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/value"
)

// chunkMB is the cluster's chunk size. It is small, so that the small data set has many
// chunks.
const chunkMB = 1

// prepare creates, shards, spreads and indexes the collections while they are empty.
func (w *Workload) prepare(ctx context.Context, d *data) error {
	if !w.o.KeepChunkSize {
		if err := w.setChunkSize(ctx); err != nil {
			return err
		}
	}
	if _, err := w.admin(ctx, value.D("enableSharding", w.o.Database, "primaryShard", w.o.Shards[0])); err != nil {
		return err
	}
	for _, c := range w.layout.collections {
		if c.key == nil {
			if _, err := w.command(ctx, value.D("create", c.name)); err != nil {
				return err
			}
		} else if _, err := w.admin(ctx, value.D("shardCollection", w.ns(c.name), "key", c.key)); err != nil {
			return err
		}
		if err := w.spread(ctx, c, d.rows[c.name]); err != nil {
			return fmt.Errorf("spread %s: %w", c.name, err)
		}
		specs := bson.A{}
		for _, i := range c.indexes {
			specs = append(specs, i.spec())
		}
		if len(specs) == 0 {
			continue
		}
		if _, err := w.command(ctx, value.D("createIndexes", c.name, "indexes", specs)); err != nil {
			return err
		}
	}
	return nil
}

// setChunkSize makes the cluster's chunks small.
func (w *Workload) setChunkSize(ctx context.Context) error {
	_, err := w.c.Command(ctx, "config", value.D("update", "settings",
		"updates", bson.A{
			value.D("q", value.D("_id", "chunksize"),
				"u", value.D("$set", value.D("value", int32(chunkMB))), "upsert", true),
		}))
	return err
}

// spread splits an empty ranged collection so that its data will fill about half of
// each chunk, or less if there is little data, and distributes the chunks. Hashed
// collections are already distributed.
func (w *Workload) spread(ctx context.Context, c collection, rows []bson.Raw) error {
	if c.key == nil || c.key[0].Value == "hashed" {
		return nil
	}
	field := c.key[0].Key
	cuts := cutsOf(rows, field, min(chunkMB<<20/2, bytesIn(rows)/(2*len(w.o.Shards))))
	for _, at := range cuts {
		if _, err := w.admin(ctx, value.D("split", w.ns(c.name), "middle", c.bound(at))); err != nil {
			return err
		}
	}
	for i, at := range cuts {
		to := w.o.Shards[(i+1)%len(w.o.Shards)]
		if to == w.o.Shards[0] {
			continue
		}
		upper := c.last()
		if i+1 < len(cuts) {
			upper = c.bound(cuts[i+1])
		}
		if _, err := w.admin(ctx, value.D("moveChunk", w.ns(c.name), "bounds", bson.A{c.bound(at), upper}, "to", to,
			"_waitForDelete", true)); err != nil {
			return err
		}
	}
	return nil
}

// bound is a chunk bound that begins with v: the other fields at MinKey.
func (c collection) bound(v any) bson.D {
	d := value.D(c.key[0].Key, v)
	for _, f := range c.key[1:] {
		d = append(d, bson.E{Key: f.Key, Value: bson.MinKey{}})
	}
	return d
}

// last is the upper end of the key space.
func (c collection) last() bson.D {
	var d bson.D
	for _, f := range c.key {
		d = append(d, bson.E{Key: f.Key, Value: bson.MaxKey{}})
	}
	return d
}

func bytesIn(rows []bson.Raw) int {
	n := 0
	for _, r := range rows {
		n += len(r)
	}
	return n
}

// cutsOf returns the values of field that split the rows, in field order, into parts of
// size bytes. Rows with the same value stay together.
func cutsOf(rows []bson.Raw, field string, size int) []bson.ObjectID {
	bytesOf := map[bson.ObjectID]int{}
	for _, r := range rows {
		if id, ok := r.Lookup(field).ObjectIDOK(); ok {
			bytesOf[id] += len(r)
		}
	}
	ids := slices.SortedFunc(maps.Keys(bytesOf), func(a, b bson.ObjectID) int { return bytes.Compare(a[:], b[:]) })
	var cuts []bson.ObjectID
	sum := 0
	for i, id := range ids {
		if sum > 0 && sum+bytesOf[id] > size && i > 0 {
			cuts = append(cuts, id)
			sum = 0
		}
		sum += bytesOf[id]
	}
	return cuts
}

// fill inserts the generated rows, referenced rows first.
func (w *Workload) fill(d *data) error {
	for _, c := range w.layout.collections {
		if err := w.c.BulkInsert(w.ns(c.name), d.rows[c.name]); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return nil
}

const (
	// projectAge is the age of the oldest project.
	projectAge = 500 * 24 * time.Hour
	zipf       = 1.05
)

// makeProjects generates the projects, oldest first. Their sizes follow Zipf's law with
// shuffled ranks, so that the largest is not always the oldest.
func (w *Workload) makeProjects(r *rand.Rand) {
	n := w.o.Projects
	start := w.o.Epoch.Add(-projectAge)
	created := make([]time.Time, n)
	for i := range created {
		created[i] = between(r, start, w.o.Epoch.Add(-24*time.Hour))
	}
	slices.SortFunc(created, time.Time.Compare)
	counts := shares(n, w.o.Documents)
	r.Shuffle(n, func(i, j int) { counts[i], counts[j] = counts[j], counts[i] })
	owners := make([]bson.ObjectID, max(1, n/4))
	for i := range owners {
		owners[i] = w.ids.At(start.Add(-time.Hour))
	}
	for i := range n {
		w.projects = append(w.projects, &project{
			id: w.ids.At(created[i]), name: projectName(i), created: created[i],
			owner: owners[r.IntN(len(owners))], docs: counts[i], snapshotEvery: snapshotEvery,
		})
		if i%2 == 0 {
			w.projects[i].snapshotEvery = snapshotOften
		}
	}
}

// shares divides total into n parts by Zipf's law; the parts add up to total.
func shares(n, total int) []int {
	weights, sum := make([]float64, n), 0.0
	for i := range weights {
		weights[i] = 1 / math.Pow(float64(i+1), zipf)
		sum += weights[i]
	}
	out, left := make([]int, n), total
	for i := range out {
		out[i] = int(float64(total) * weights[i] / sum)
		left -= out[i]
	}
	for i := 0; left > 0; i = (i + 1) % n {
		out[i]++
		left--
	}
	return out
}

// projectDocument is a row of projects, in the fields and types that Yorkie's
// CreateProjectInfo writes.
func (w *Workload) projectDocument(r *rand.Rand, p *project, clients int) bson.D {
	return value.D("_id", p.id, "name", p.name, "owner", p.owner, "public_key", shortuuid(r),
		"secret_key", shortuuid(r), "auth_webhook_max_retries", int64(10), "auth_webhook_min_wait_interval", "100ms",
		"auth_webhook_max_wait_interval", "3s", "auth_webhook_request_timeout", "3s",
		"event_webhook_max_retries", int64(10), "event_webhook_min_wait_interval", "100ms",
		"event_webhook_max_wait_interval", "3s", "event_webhook_request_timeout", "3s",
		"client_deactivate_threshold", "24h0m0s", "snapshot_threshold", int64(500),
		"snapshot_interval", p.snapshotEvery, "max_subscribers_per_document", int32(0),
		"max_attachments_per_document", int32(0), "max_size_per_document", int32(10485760), "remove_on_detach", false,
		"created_at", p.created, "updated_at", p.created,
		value.When(w.layout.current, "stats_clients_count", int64(clients), "stats_documents_count", int64(p.docs),
			"stats_updated_at", w.o.Epoch.Add(-2*time.Minute).Truncate(time.Millisecond)))
}
