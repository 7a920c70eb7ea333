package realsuite_test

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

const (
	incidentWritten = hashedData + ".changes"
	// incidentNamedWithin is how soon an incident is the overview's title: a full minute and a half, and the look at it.
	incidentNamedWithin = 2*time.Minute + 30*time.Second
)

// problem is what the tests look at of a problem with its first plan.
type problem struct {
	Title  string
	WhyNot string
	Plans  []struct {
		Kind    string
		Args    args
		Busiest *struct{ Before, After float64 }
	}
}

// incidents makes things go wrong with the balancer on. Each is named, the first plan against it does what it promised,
// it is judged by what it did, and taken back.
func incidents(w *world) {
	w.admin(bson.D{{Key: "balancerStart", Value: 1}})
	defer w.admin(bson.D{{Key: "balancerStop", Value: 1}})
	d := w.serve()
	w.point("zone violated", func(w *world) { zoneViolated(w, w.as(d)) })
	w.point("hot project", func(w *world) { hotProject(w, w.as(d)) })
}

// named waits until the first problem, which is the overview's title, says something.
func (d *dashboard) named(parts ...string) (p problem) {
	d.Helper()
	d.eventually(incidentNamedWithin, fmt.Sprint(parts), func(ctx context.Context) error {
		var list struct{ Items []problem }
		if err := d.get(ctx, "/api/v1/advice", &list); err != nil {
			return err
		}
		if len(list.Items) == 0 {
			return errors.New("no problem is found")
		}
		p = list.Items[0]
		for _, part := range parts {
			if !strings.Contains(p.Title, part) {
				return errors.New(p.Title)
			}
		}
		answer, err := http.Get(d.root + "/")
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		page, err := io.ReadAll(answer.Body)
		if err == nil && !strings.Contains(string(page), ">"+html.EscapeString(p.Title)+"</a></h1>") {
			err = errors.New("the overview has another title")
		}
		return err
	})
	d.Log(p.Title)
	return p
}

// firstPlan plans what is offered first against a problem.
func (d *dashboard) firstPlan(p problem) plan {
	d.Helper()
	must.That(d, len(p.Plans) != 0, "%s: no plan is offered: %s", p.Title, p.WhyNot)
	return d.plan(p.Plans[0].Kind, p.Plans[0].Args)
}

// hotProject writes to documents of one project whose changes are on one shard, and a little to the others.
func hotProject(w *world, d *dashboard) {
	var project struct {
		ID   bson.ObjectID `bson:"_id"`
		Name string
	}
	w.must(w.namespace(hashedData+".projects").FindOne(w.Context(), bson.D{}).Decode(&project))
	busy := w.chunks(incidentWritten)[0].Shard
	owners := map[string]bool{}
	for _, c := range w.chunks(incidentWritten) {
		owners[c.Shard] = true
	}
	load, found := map[bson.ObjectID]int{}, map[string]int{}
	for len(load) < 6+len(owners)-1 {
		id := bson.NewObjectID()
		on, err := w.targets(w.Context(), incidentWritten, bson.D{{Key: "doc_id", Value: id}})
		w.must(err)
		if n := found[on[0]]; on[0] == busy && n < 6 {
			load[id] = 8 - n
		} else if on[0] != busy && n == 0 {
			load[id] = 1
		}
		found[on[0]]++
	}
	d.eventually(5*time.Minute, "enough is counted to compare a run with", func(ctx context.Context) error {
		var list struct{ Items []hot }
		err := d.get(ctx, "/api/v1/heat/shards?ns="+incidentWritten+"&window=5m", &list)
		if err == nil && (len(list.Items) == 0 || list.Items[0].CoveredSeconds < 150) {
			err = fmt.Errorf("%+v", list.Items)
		}
		return err
	})
	ctx, end := context.WithCancel(w.Context())
	var writing sync.WaitGroup
	writing.Go(func() { w.writeChanges(ctx, project.ID, load) })
	defer func() { end(); writing.Wait() }()
	places := func() string {
		var out []string
		for id := range load {
			on, err := w.targets(w.Context(), incidentWritten, bson.D{{Key: "doc_id", Value: id}})
			w.must(err)
			out = append(out, fmt.Sprint(id.Hex(), on))
		}
		return fmt.Sprint(slices.Sorted(slices.Values(out)))
	}
	before := places()
	p := d.named("The project "+project.Name+" makes", "on "+busy)
	r := d.succeed(d.firstPlan(p))
	promise := p.Plans[0].Busiest
	must.That(w, promise != nil, "nothing is promised")
	d.eventually(3*time.Minute, "the busiest shard's share falls as promised", func(ctx context.Context) error {
		var list struct{ Items []hot }
		if err := d.get(ctx, "/api/v1/heat/shards?ns="+incidentWritten+"&window=1m", &list); err != nil {
			return err
		}
		most, all := 0.0, 0.0
		for _, s := range list.Items {
			most, all = max(most, s.WritesPerSecond), all+s.WritesPerSecond
		}
		promised, fell := promise.Before-promise.After, promise.Before-most/all
		if !(math.Abs(fell-promised) <= 0.2*promised) {
			return fmt.Errorf("it fell by %.2f, promised is %.2f", fell, promised)
		}
		return nil
	})
	d.eventually(4*time.Minute, "the run helped", func(ctx context.Context) error {
		var run struct {
			Outcome struct{ State, Verdict, Text string }
		}
		if err := d.get(ctx, "/api/v1/runs/"+r.ID, &run); err != nil {
			return err
		}
		if o := run.Outcome; o.Verdict != "helped" {
			return fmt.Errorf("%s %s: %s", o.State, o.Verdict, o.Text)
		}
		return nil
	})
	d.succeed(d.undo(r.ID))
	now := places()
	expect.That(w, now == before, "after the undo the documents are on %s, before on %s", now, before)
}

// writeChanges inserts changes of documents, so many per second each, until the context ends.
func (w *world) writeChanges(ctx context.Context, project bson.ObjectID, load map[bson.ObjectID]int) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for seq := int64(1); ctx.Err() == nil; {
		var rows []any
		for doc, rate := range load {
			for range rate {
				rows = append(rows, bson.D{{Key: "project_id", Value: project}, {Key: "doc_id", Value: doc}, {Key: "server_seq", Value: seq},
					{Key: "actor_id", Value: doc}})
				seq++
			}
		}
		_, _ = w.namespace(incidentWritten).InsertMany(ctx, rows)
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// zoneViolated switches the balancing of a collection off and gives the range of one of its chunks to a zone of another
// shard.
func zoneViolated(w *world, d *dashboard) {
	w.since(5, 0)
	w.must(w.config("collections").Database().RunCommand(w.Context(), bson.D{{Key: "update", Value: "collections"}, {Key: "updates",
		Value: bson.A{bson.D{{Key: "q", Value: bson.D{{Key: "_id", Value: incidentWritten}}},
			{Key: "u", Value: bson.D{{Key: "$set", Value: bson.D{{Key: "noBalance", Value: true}}}}}}}}}).Err())
	c := w.chunks(incidentWritten)[0]
	to := w.otherShard(c.Shard)
	w.admin(bson.D{{Key: "addShardToZone", Value: to}, {Key: "zone", Value: "suite"}})
	w.admin(bson.D{{Key: "updateZoneKeyRange", Value: incidentWritten}, {Key: "min", Value: c.Min}, {Key: "max", Value: c.Max},
		{Key: "zone", Value: "suite"}})
	p := d.named("Balancing of "+incidentWritten+" is off", "on "+c.Shard+" instead of "+to)
	r := d.succeed(d.firstPlan(p))
	d.eventually(drainPatience, "the chunk is in its zone", func(context.Context) error {
		if now := w.chunks(incidentWritten)[0].Shard; now != to {
			return fmt.Errorf("it is on %s", now)
		}
		return nil
	})
	d.succeed(d.undo(r.ID))
	if c, _ := w.collection(incidentWritten); !c.NoBalance {
		w.Error("after the undo balancing is on")
	}
	w.admin(bson.D{{Key: "updateZoneKeyRange", Value: incidentWritten}, {Key: "min", Value: c.Min}, {Key: "max", Value: c.Max},
		{Key: "zone", Value: nil}})
	w.admin(bson.D{{Key: "removeShardFromZone", Value: to}, {Key: "zone", Value: "suite"}})
}
