package realsuite_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// waitsSay is how long a run may be under way before it has to say what it waits for, and until when.
const waitsSay = 4 * time.Minute

// arrival pins and isolates projects while the balancer works: all arrive where orphans are deleted soon.
func arrival(w *world) {
	d := w.serve()
	w.admin(bson.D{{Key: "balancerStart", Value: 1}})
	for i, a := range arrivals(w, d, w.form.count(20, 5)) {
		w.point(fmt.Sprintf("%d %s", i+1, a.kind), func(w *world) {
			r := d.change(a.kind, args{"project": a.project, "db": hashedData, "shard": a.shard})
			w.Logf("%s", r)
			w.checkArrived(a)
			if a.kind == "isolate" { // its zones leave no room for the next one's
				d.change("unpin", args{"project": a.project, "db": hashedData})
			}
		})
	}
	w.admin(bson.D{{Key: "balancerStop", Value: 1}})
}

// slowArrival does the same where a range may come back only after 15 minutes: each arrives, or says
// until when it waits.
func slowArrival(w *world) {
	d := w.serve()
	w.admin(bson.D{{Key: "balancerStart", Value: 1}})
	for i, a := range arrivals(w, d, w.form.count(20, 5)) {
		w.point(fmt.Sprintf("%d %s", i+1, a.kind), func(w *world) {
			p, err := d.tryPlan(a.kind, args{"project": a.project, "db": hashedData, "shard": a.shard})
			w.must(err)
			must.That(w, !p.Blocked, "the plan is blocked: %s", p.blockers())
			id := d.begin(p)
			var r run
			err = until(w.Context(), waitsSay, func(ctx context.Context) error {
				if err := d.get(ctx, "/api/v1/runs/"+id, &r); err != nil {
					return err
				}
				if r.Open && !saysUntil(r) {
					return fmt.Errorf("it is under way and does not say what it waits for: %s", r)
				}
				return nil
			})
			expect.That(w, err == nil, "%v", err)
			w.Logf("%s", r)
			switch {
			case r.State == "succeeded":
				w.checkArrived(a)
			case !r.Open:
				w.Errorf("it did not arrive: %s", r)
			default: // it waits; the next one must not wait for the same shards
				w.must(d.post(w.Context(), "/api/v1/runs/"+id+"/stop", nil, nil))
				d.wait(id, healingPatience)
			}
			if a.kind == "isolate" { // its zones leave no room for the next one's
				w.removeZones()
				d.eventually(patience, "the product knows that the zones are gone", func(ctx context.Context) error {
					var list struct{ Items []struct{ Zone string } }
					if err := d.get(ctx, "/api/v1/zones", &list); err != nil {
						return err
					}
					if len(list.Items) > 0 {
						return fmt.Errorf("it has %d", len(list.Items))
					}
					return nil
				})
			}
		})
	}
	w.admin(bson.D{{Key: "balancerStop", Value: 1}})
}

func saysUntil(r run) bool {
	return slices.ContainsFunc(r.Steps, func(s step) bool {
		return s.Waiting != nil && s.Waiting.Obstacle == "orphans" && s.Waiting.Until != nil && s.Waiting.Text != ""
	})
}

// arriving is one pin or isolation.
type arriving struct{ kind, project, shard string }

func arrivals(w *world, d *dashboard, n int) (all []arriving) {
	w.Helper()
	projects := castOf(d).projects
	shards := w.cluster.Shards()
	for i := range n {
		kind := "pin"
		if i%3 == 2 {
			kind = "isolate"
		}
		all = append(all, arriving{kind, projects[i%len(projects)], shards[(i+1)%len(shards)]})
	}
	return all
}

// checkArrived asks the router where the rows of a project are.
func (w *world) checkArrived(a arriving) {
	w.Helper()
	id, err := bson.ObjectIDFromHex(a.project)
	w.must(err)
	compared := 0
	for _, c := range w.shardedOf(hashedData) {
		if c.Key[0].Key != "project_id" {
			continue
		}
		compared++
		got, err := w.targets(w.Context(), c.ID, bson.D{{Key: "project_id", Value: id}})
		w.must(err)
		expect.That(w, slices.Equal(got, []string{a.shard}),
			"%s of %s is on %s, want %s", c.ID, a.project, strings.Join(got, " and "), a.shard)
	}
	expect.That(w, compared >= 2, "%d collections are too few for a meaningful test", compared)
}
