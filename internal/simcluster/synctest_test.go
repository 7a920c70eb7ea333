package simcluster

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// One simulated hour of polling a live cluster leaves no goroutine behind: synctest
// fails the test if it does.
func TestHourOfPollingLeaksNoGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := New(t.Context(), Options{Empty: true})
		must.Do(t, err)
		c.Start(t.Context())
		client := must.Get(mongo.Connect(options.Client().ApplyURI(URI()).SetDialer(c).SetServerMonitoringMode("poll")))
		begin, polls := time.Now(), 0
		for time.Since(begin) < time.Hour {
			time.Sleep(5 * time.Second)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			cur, err := client.Database("config").Collection("mongos").Find(ctx, bson.D{})
			must.Do(t, err)
			var rows []struct{ Ping time.Time }
			if err := cur.All(ctx, &rows); err != nil || len(rows) != 1 {
				t.Fatalf("rows %v, %v, want len 1", rows, err)
			}
			if age := time.Since(rows[0].Ping); age > 11*time.Second {
				t.Fatalf("the router's ping is %s old, want at most %v", age, 11*time.Second)
			}
			cancel()
			polls++
		}
		expect.That(t, polls >= 700, "%d polls in an hour, want at least 700", polls)
		expect.NoError(t, client.Disconnect(t.Context()), "Disconnect")
		expect.NoError(t, c.Close(), "Close")
	})
}

// A streaming hello is answered after the time that the driver asked for, or when the
// cluster closes.
func TestStreamingHelloWaitsInSimulatedTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := New(t.Context(), Options{Empty: true, Still: true})
		must.Do(t, err)
		client := must.Get(mongo.Connect(options.Client().ApplyURI(URI()).SetDialer(c).SetServerMonitoringMode("stream")))
		for range 5 {
			must.Do(t, client.Ping(t.Context(), nil))
			time.Sleep(time.Minute)
		}
		if n := c.stats.requests.Load(); n > 100 {
			t.Errorf("%d requests in five minutes: the streaming hello does not wait", n)
		}
		expect.NoError(t, client.Disconnect(t.Context()), "Disconnect")
		expect.NoError(t, c.Close(), "Close")
	})
}
