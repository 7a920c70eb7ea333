package realcluster

import (
	"context"
	"net"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
)

// proxied is a simulated cluster with a proxy in front.
func proxied(t *testing.T) (*Proxy, *simcluster.Cluster, *mongo.Client) {
	t.Helper()
	sim := must.Get(simcluster.New(t.Context(), simcluster.Options{Empty: true, Still: true}))
	t.Cleanup(func() { _ = sim.Close() })
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))
	go func() { _ = sim.Serve(l) }()
	p, err := NewProxy(func() string { return l.Addr().String() })
	must.Do(t, err)
	t.Cleanup(func() { _ = p.Close() })
	client, err := mongo.Connect(options.Client().ApplyURI("mongodb://" + p.Address() + "/?directConnection=true&retryWrites=false"))
	must.Do(t, err)
	t.Cleanup(func() { _ = client.Disconnect(context.Background()) })
	return p, sim, client
}

func send(client *mongo.Client, command bson.D) <-chan error {
	done := make(chan error, 1)
	go func() { done <- client.Database("admin").RunCommand(context.Background(), command).Err() }()
	return done
}

var enableSharding = bson.D{{Key: "enableSharding", Value: "app"}}

func TestProxyHoldsACommandAndItsAnswer(t *testing.T) {
	p, sim, client := proxied(t)
	stop := p.InterceptCommand("enableSharding")
	done := send(client, enableSharding)
	must.Do(t, stop.Wait(t.Context()))
	expect.Equal(t, len(sim.Faults().Seen("enableSharding")), 0, "a held command reached the router")
	stop.Release()
	expect.NoError(t, <-done, "the end")
	stop = p.InterceptAnswer("enableSharding")
	done = send(client, enableSharding)
	must.Do(t, stop.Wait(t.Context()))
	select {
	case err := <-done:
		t.Errorf("the client has an answer that is held: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	stop.Release()
	expect.NoError(t, <-done, "the end")
}

func TestProxyDropsACommand(t *testing.T) {
	p, _, client := proxied(t)
	stop := p.InterceptCommand("enableSharding")
	done := send(client, enableSharding)
	must.Do(t, stop.Wait(t.Context()))
	stop.Drop()
	expect.That(t, <-done != nil, "a dropped command was answered")
	databases := client.Database("config").Collection("databases")
	if n, err := databases.CountDocuments(t.Context(), bson.D{{Key: "_id", Value: "app"}}); err != nil || n != 0 {
		t.Errorf("a dropped command was carried out: %d databases, %v", n, err)
	}
}

func TestProxyCutsAndHoldsEverythingUntilItIsRestored(t *testing.T) {
	p, _, client := proxied(t)
	ping := bson.D{{Key: "ping", Value: 1}}
	must.Do(t, <-send(client, ping))
	p.Hold()
	held := send(client, ping)
	select {
	case err := <-held:
		t.Errorf("an answer came through: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	p.Restore()
	expect.NoError(t, <-held, "the end")
	p.Cut()
	short, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	expect.That(t, client.Database("admin").RunCommand(short, ping).Err() != nil, "a command went through a cut proxy")
	p.Restore()
	expect.NoError(t, <-send(client, ping), "send")
	p.Hold()
	held = send(client, ping)
	_ = p.Close()
	<-held // with its answer or an error: Close ends every call
}
