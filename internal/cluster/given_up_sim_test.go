package cluster_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"

	"shardboard/internal/cluster"
	"shardboard/internal/simcluster"
)

// A read that is given up while a server hangs may open its cursor later. Its session is killed, more than once,
// because the server may carry the read out after the first time, and no later read uses it.
func TestSessionsOfReadsThatWereGivenUpAreKilled(t *testing.T) {
	var mu sync.Mutex
	var read, killed []string
	monitor := &event.CommandMonitor{Started: func(_ context.Context, e *event.CommandStartedEvent) {
		mu.Lock()
		defer mu.Unlock()
		switch e.CommandName {
		case "find":
			read = append(read, e.Command.Lookup("lsid", "id").String())
		case "killSessions":
			ids, _ := e.Command.Lookup("killSessions").Array().Values()
			for _, id := range ids {
				killed = append(killed, id.Document().Lookup("id").String())
			}
		}
	}}
	onRows(t, cluster.Options{Monitor: monitor}, func(t *testing.T, sim *simcluster.Cluster, c *cluster.Client) {
		if _, err := c.Shards(t.Context()); err != nil {
			t.Fatal(err)
		}
		hung := sim.Faults().Add(simcluster.Rule{Command: "find", NS: "config.shards", At: simcluster.Received, Hold: true})
		short, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		if _, err := c.Shards(short); err == nil {
			t.Fatal("a held read was answered")
		}
		mu.Lock()
		lost := read[len(read)-1]
		mu.Unlock()
		hung.Remove()
		for range 20 {
			if _, err := c.Shards(t.Context()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		mu.Lock()
		defer mu.Unlock()
		n := 0
		for _, id := range killed {
			if id != lost {
				t.Errorf("the session %s was killed, and its read had been answered", id)
			}
			n++
		}
		if n < 2 || n > 4 {
			t.Errorf("the session was killed %d times in 20 s, want 2 to 4", n)
		}
		if slices.Contains(read[len(read)-20:], lost) {
			t.Error("the session of the lost read was used again")
		}
	})
}
