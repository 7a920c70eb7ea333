package simcluster

import (
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// In a past nothing waits, and everything has the time at which it happened.
func TestThePastTakesNoTimeAndHasItsOwnTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		c, err := New(t.Context(), Options{Projects: 10, Documents: 500, Epoch: begun.Add(-24 * time.Hour)})
		must.Do(t, err)
		defer c.Close()
		p, err := c.Past()
		must.Do(t, err)
		noon := begun.Add(-12 * time.Hour)
		p.AdvanceTo(noon)
		must.Do(t, p.Push(t.Context(), 1, 20))
		expect.That(t, p.Balance(t.Context(), 1) != 0, "the balancer moved nothing")
		took := c.Now().Sub(noon)
		expect.That(t, took > 0 && took <= time.Minute, "a round of the balancer took %v of the cluster's time", took)
		p.AdvanceTo(begun)
		p.End()
		if time.Since(begun) != 0 || !c.Now().Equal(begun) {
			t.Errorf("after the past %v have passed, and the cluster's clock is at %v, want %v", time.Since(begun), c.Now(), begun)
		}
		log, err := c.Command(t.Context(), "config", bson.D{{Key: "find", Value: "changelog"},
			{Key: "filter", Value: bson.D{{Key: "what", Value: "moveChunk.commit"}}}, {Key: "sort", Value: bson.D{{Key: "time", Value: -1}}}})
		must.Do(t, err)
		at := log.Lookup("cursor", "firstBatch", "0", "time").Time()
		if at.Before(noon) || at.After(noon.Add(time.Minute)) {
			t.Errorf("the move is logged at %v, want about %v", at, noon)
		}
		rows, err := c.Command(t.Context(), "yorkie-meta", bson.D{{Key: "find", Value: "changes"},
			{Key: "sort", Value: bson.D{{Key: "_id", Value: -1}}}})
		must.Do(t, err)
		made := rows.Lookup("cursor", "firstBatch", "0", "_id").ObjectID().Timestamp()
		if made.Before(noon.Add(-time.Second)) || made.After(noon.Add(time.Minute)) {
			t.Errorf("the newest change is of %v, want about %v", made, noon)
		}
	})
}

func TestThePastHasWavesAndOneBusyHour(t *testing.T) {
	end := time.Now().Truncate(time.Minute)
	c, err := New(t.Context(), Options{Projects: 10, Documents: 2000, Busy: true, Epoch: end.Add(-24 * time.Hour)})
	must.Do(t, err)
	defer c.Close()
	p, err := c.Past()
	must.Do(t, err)
	id, name := c.BusyProject()
	must.That(t, id != "" && name != "", "no project gets busy")
	rows := func(ago time.Duration) (all, busy int64) {
		for _, w := range p.Minute(end.Add(-ago), end) {
			all += w.Rows
			if w.Project.Hex() == id {
				busy += w.Rows
			}
		}
		return all, busy
	}
	now, _ := rows(6 * time.Minute)
	night, _ := rows(12 * time.Hour)
	hot, of := rows(6*time.Hour + 30*time.Minute)
	if night*2 > now || hot < 2*now || of*2 < hot {
		t.Errorf("%d writes a minute now, %d in the night, %d in the busy hour, %d of them of the busy project", now, night, hot, of)
	}
	// What goes on after the end has begun before it, so that nobody waits for it.
	if all, busy := rows(time.Minute); busy*10 < all*7 {
		t.Errorf("%d of %d writes of the last minute are of the busy project", busy, all)
	}
}

// From the start on some documents of one project, all in one chunk, get most edits. When that ends is
// a test of package workload.
func TestAProjectIsBusyFromTheStart(t *testing.T) {
	// written is how many rows were made within the first seconds: all, and those of the busy project.
	written := func(busy bool) (all, ofProject int64) {
		synctest.Test(t, func(t *testing.T) {
			c, err := New(t.Context(), Options{Projects: 3, Documents: 300, Busy: busy})
			must.Do(t, err)
			defer c.Close()
			id, _ := c.BusyProject()
			project, _ := bson.ObjectIDFromHex(id) // none is busy without Busy
			count := func(filter bson.D) int64 {
				reply, err := c.Command(t.Context(), "yorkie-meta", bson.D{{Key: "count", Value: "changes"}, {Key: "query", Value: filter}})
				must.Do(t, err)
				return reply.Lookup("n").AsInt64()
			}
			newer := bson.E{Key: "_id", Value: bson.D{{Key: "$gte", Value: bson.NewObjectIDFromTimestamp(c.Now())}}}
			c.Start(t.Context())
			time.Sleep(20 * time.Second)
			all, ofProject = count(bson.D{newer}), count(bson.D{newer, {Key: "project_id", Value: project}})
		})
		return all, ofProject
	}
	quiet, _ := written(false)
	all, busy := written(true)
	if all < 3*quiet || busy*10 < all*7 {
		t.Errorf("%d rows without, then %d, %d of them of the busy project", quiet, all, busy)
	}
}
