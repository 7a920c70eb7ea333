package workload

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

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
		owners[i] = w.ids.at(start.Add(-time.Hour))
	}
	for i := range n {
		w.projects = append(w.projects, &project{
			id: w.ids.at(created[i]), name: projectName(i), created: created[i],
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
	d := bson.D{
		{Key: "_id", Value: p.id}, {Key: "name", Value: p.name}, {Key: "owner", Value: p.owner},
		{Key: "public_key", Value: shortuuid(r)}, {Key: "secret_key", Value: shortuuid(r)},
		{Key: "auth_webhook_max_retries", Value: int64(10)}, {Key: "auth_webhook_min_wait_interval", Value: "100ms"},
		{Key: "auth_webhook_max_wait_interval", Value: "3s"}, {Key: "auth_webhook_request_timeout", Value: "3s"},
		{Key: "event_webhook_max_retries", Value: int64(10)}, {Key: "event_webhook_min_wait_interval", Value: "100ms"},
		{Key: "event_webhook_max_wait_interval", Value: "3s"}, {Key: "event_webhook_request_timeout", Value: "3s"},
		{Key: "client_deactivate_threshold", Value: "24h0m0s"},
		{Key: "snapshot_threshold", Value: int64(500)}, {Key: "snapshot_interval", Value: p.snapshotEvery},
		{Key: "max_subscribers_per_document", Value: int32(0)}, {Key: "max_attachments_per_document", Value: int32(0)},
		{Key: "max_size_per_document", Value: int32(10485760)}, {Key: "remove_on_detach", Value: false},
		{Key: "created_at", Value: p.created}, {Key: "updated_at", Value: p.created},
	}
	if w.layout.current {
		d = append(d, bson.E{Key: "stats_clients_count", Value: int64(clients)},
			bson.E{Key: "stats_documents_count", Value: int64(p.docs)},
			bson.E{Key: "stats_updated_at", Value: w.o.Epoch.Add(-2 * time.Minute).Truncate(time.Millisecond)})
	}
	return d
}
