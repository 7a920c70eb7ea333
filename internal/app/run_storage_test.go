package app

import (
	"context"
	"log/slog"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/auth"
	"shardboard/internal/cluster"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/simcluster"
	"shardboard/internal/store/sqlite"
	"shardboard/internal/topology"
)

// Uses the real store, the real driver and the real clock.
func TestARunIsKeptInTheStore(t *testing.T) {
	sim, err := simcluster.New(t.Context(), simcluster.Options{Empty: true, Still: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sim.Close() }()
	sim.Start(t.Context())
	for _, cmd := range []bson.D{
		{{Key: "enableSharding", Value: "app"}},
		{{Key: "shardCollection", Value: "app.users"}, {Key: "key", Value: bson.D{{Key: "p", Value: 1}}}},
	} {
		if _, err := sim.Command(t.Context(), "admin", cmd); err != nil {
			t.Fatal(err)
		}
	}
	uri, err := cluster.ParseURI(simcluster.URI())
	if err != nil {
		t.Fatal(err)
	}
	client, err := cluster.Connect(t.Context(), uri, cluster.Options{Dialer: sim})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close(context.Background()) }()
	db, err := sqlite.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	watcher, prof, log := topology.NewWatcher(client, topology.Options{}), profile.Yorkie(), slog.New(slog.DiscardHandler)
	keeper := placement.NewKeeper(client, watcher, prof, log)
	e := newEngine(engineParts{client: client, watcher: watcher, keeper: keeper, profile: prof, store: db, log: log,
		duplicates: placement.NewDuplicateCheck(client, watcher, keeper, prof, log)})
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error)
	go func() { served <- e.Serve(ctx) }()
	defer func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}()
	at, _ := bson.Marshal(bson.D{{Key: "p", Value: 7}})
	by := auth.Local()
	p, err := e.Plan(ctx, by, engine.Request{Kind: actions.Split, Args: actions.Args{NS: "app.users", At: at}, Reason: "a test"})
	if err != nil {
		t.Fatal(err)
	}
	told, end := e.Subscribe()
	defer end()
	run, created, err := e.Run(ctx, by, p.ID, engine.RunRequest{Hash: p.Hash, Confirm: p.Confirm})
	if err != nil || !created {
		t.Fatal(created, err)
	}
	for run.State.Open() {
		<-told
		if run, err = e.RunByID(ctx, run.ID); err != nil {
			t.Fatal(err)
		}
	}
	if run.State != engine.Succeeded {
		t.Fatalf("the run ended as %s, expected success: %+v", run.State, run.Steps)
	}
	kept, err := db.RunRecord(ctx, run.ID)
	if err != nil || kept.Open || kept.State != string(engine.Succeeded) {
		t.Errorf("the stored run is %+v, %v", kept, err)
	}
	intents, err := db.Intents(ctx, run.ID)
	if err != nil || len(intents) != 1 || string(intents[0].Command) != string(p.Commands[0].Doc) {
		t.Errorf("the stored intents are %v, %v", intents, err)
	}
	if records, err := db.AuditRecords(ctx, 0, 10); err != nil || len(records) < 3 {
		t.Errorf("%d audit records, %v", len(records), err)
	}
}
