package enginetest

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/auth"
	"shardboard/internal/cluster"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// Anna and Bert are operators.
var (
	Anna = auth.Principal{ID: "user:anna", Name: "Anna", Role: auth.Operator, Method: auth.ByPassword}
	Bert = auth.Principal{ID: "user:bert", Name: "Bert", Role: auth.Operator, Method: auth.ByPassword}
)

// NS is the collection of an empty rig: key {p: 1}, chunks at 0, 10, 20 and 30,
// all on shard-rs-1.
const NS topology.Namespace = "app.users"

// Rig is a simulated cluster and a process that watches and changes it.
type Rig struct {
	*testing.T
	Sim  *simcluster.Cluster
	Disk *Disk
	Line *Cable

	// Of the process that lives now:
	Engine  *engine.Engine
	Client  *cluster.Client
	Watcher *topology.Watcher
	Keeper  *placement.Keeper

	seed   uint64
	lives  uint64
	handle *Handle
	end    context.CancelFunc
	served chan error
	wrap   func(*engine.Options)
}

// Setup says what a rig is like; the zero value is a still, empty 5.0 cluster.
type Setup struct {
	Sim  simcluster.Options    // zero: Empty and Still, three shards
	Seed uint64                // of ids
	Wrap func(*engine.Options) // puts something between the engine and the rest, in every life
}

// OnRig runs a test in a bubble of simulated time, with a living process.
func OnRig(t *testing.T, s Setup, test func(r *Rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		if s.Sim.Projects == 0 {
			s.Sim.Empty, s.Sim.Still = true, true
		}
		sim, err := simcluster.New(t.Context(), s.Sim)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = sim.Close() }()
		sim.Start(t.Context())
		r := &Rig{T: t, Sim: sim, Disk: NewDisk(), Line: &Cable{sim: sim}, seed: s.Seed, wrap: s.Wrap}
		if s.Sim.Empty {
			r.users()
			time.Sleep(time.Hour) // what was done to make it is long ago
		}
		r.Boot()
		defer r.Kill()
		// What waits for ever would, at the speed of simulated time, do so busily.
		late := time.AfterFunc(longest, func() { debug.SetTraceback("all"); panic(t.Name() + " does not end") })
		defer late.Stop()
		test(r)
	})
}

// users makes the collection NS.
func (r *Rig) users() {
	r.Helper()
	r.Admin(bson.D{{Key: "enableSharding", Value: "app"}, {Key: "primaryShard", Value: "shard-rs-1"}})
	r.Admin(bson.D{{Key: "shardCollection", Value: NS}, {Key: "key", Value: bson.D{{Key: "p", Value: 1}}}})
	for _, at := range []int{0, 10, 20, 30} {
		r.Admin(bson.D{{Key: "split", Value: NS}, {Key: "middle", Value: bson.D{{Key: "p", Value: at}}}})
	}
}

// Boot begins a life: a new connection, a new watcher, the disk as it was left.
func (r *Rig) Boot() {
	r.Helper()
	r.lives++
	uri, err := cluster.ParseURI(simcluster.URI())
	r.Must(err)
	r.Client, err = cluster.Connect(r.Context(), uri, cluster.Options{Dialer: r.Line})
	r.Must(err)
	r.Watcher = topology.NewWatcher(r.Client, topology.Options{})
	_, err = r.Watcher.Load(r.Context())
	r.Must(err)
	prof := profile.Yorkie()
	r.Keeper = placement.NewKeeper(r.Client, r.Watcher, prof, nil)
	if dbs := prof.Match(r.Watcher.Table()); len(dbs) > 0 {
		r.Keeper.Poll(r.Context(), dbs)
	}
	r.handle = r.Disk.Open()
	o := engine.Options{
		Admin: r.Client, Renderer: r.Client, Reader: r.Client, Planners: actions.Planners(), Journal: r.handle, Audit: r.handle,
		Tables: r.Watcher, Directory: r.Keeper, Profile: prof, Random: &stream{r: rand.NewChaCha8(seedOf(r.seed, r.lives))},
	}
	if r.wrap != nil {
		r.wrap(&o)
	}
	r.Engine = engine.New(o)
	ctx, cancel := context.WithCancel(context.Background())
	r.end, r.served = cancel, make(chan error, 1)
	go func() { r.served <- r.Engine.Serve(ctx) }()
}

// Kill ends the process at once: nothing more reaches the disk. The cluster
// goes on with what it was told.
func (r *Rig) Kill() {
	r.Helper()
	if r.end == nil {
		return
	}
	r.handle.Cut()
	r.end()
	if err := <-r.served; err != nil && !errors.Is(err, errCut) {
		r.Error(err)
	}
	r.end = nil
	_ = r.Client.Close(context.Background())
}

// Restart is Kill and Boot.
func (r *Rig) Restart() { r.Helper(); r.Kill(); r.Boot() }

// Must ends the test on an error.
func (r *Rig) Must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// Admin is another operator's command, past the engine and the wire.
func (r *Rig) Admin(cmd bson.D) {
	r.Helper()
	_, err := r.Sim.Command(context.Background(), "admin", cmd)
	r.Must(err)
}

// Plan makes a plan as Anna; it must be possible.
func (r *Rig) Plan(kind actions.Kind, a actions.Args) actions.Plan {
	r.Helper()
	p, err := r.Engine.Plan(r.Context(), Anna, engine.Request{Kind: kind, Args: a, Reason: "a test"})
	r.Must(err)
	return p
}

// Start runs a plan as Anna; it must be started.
func (r *Rig) Start(p actions.Plan) engine.Run {
	r.Helper()
	run, _, err := r.Engine.Run(r.Context(), Anna, p.ID, engine.RunRequest{Hash: p.Hash, Confirm: p.Confirm})
	r.Must(err)
	return run
}

// longest is how long, in simulated time, a test may take.
const longest = 72 * time.Hour

// patience is how long, in simulated time, a run may take to end.
const patience = 3 * time.Hour

// Wait waits for a run to be as wanted.
func (r *Rig) Wait(id string, is func(engine.Run) bool) engine.Run {
	r.Helper()
	told, end := r.Engine.Subscribe()
	defer end()
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		run, err := r.Engine.RunByID(r.Context(), id)
		r.Must(err)
		if is(run) {
			return run
		}
		select {
		case <-told:
		case <-time.After(10 * time.Second): // ends of runs are told before they are forgotten
		case <-late.C:
			r.Fatalf("the run is still %s (%s): %+v", run.State, run.Why.Code, run.Steps)
		}
	}
}

// Ended waits for the end of a run.
func (r *Rig) Ended(id string) engine.Run {
	r.Helper()
	return r.Wait(id, func(run engine.Run) bool { return !run.State.Open() })
}

// EndedLate waits for the end of a run that may wait for orphaned documents at
// many steps.
func (r *Rig) EndedLate(id string) engine.Run {
	r.Helper()
	for range 8 {
		if run := r.within(id); !run.State.Open() {
			return run
		}
	}
	return r.Ended(id)
}

// within gives the run when it has ended, or after a while.
func (r *Rig) within(id string) engine.Run {
	r.Helper()
	told, end := r.Engine.Subscribe()
	defer end()
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		run, err := r.Engine.RunByID(r.Context(), id)
		r.Must(err)
		if !run.State.Open() {
			return run
		}
		select {
		case <-told:
		case <-time.After(10 * time.Second):
		case <-late.C:
			return run
		}
	}
}

// Do plans, runs and waits.
func (r *Rig) Do(kind actions.Kind, a actions.Args) engine.Run {
	r.Helper()
	return r.Ended(r.Start(r.Plan(kind, a)).ID)
}

// Sent are the commands of a run as they came to the cluster.
func (r *Rig) Sent(run string) (out []simcluster.Seen) {
	for _, s := range r.Sim.Faults().Seen() {
		if c, ok := s.Comment.StringValueOK(); ok && c == run {
			out = append(out, s)
		}
	}
	return out
}

// SentOnce fails the test when any step of a run was sent more than once, or
// something was sent that is none of its commands.
func (r *Rig) SentOnce(run engine.Run) {
	r.Helper()
	sent := r.Sent(run.ID)
	if len(sent) > len(run.Steps) {
		r.Errorf("%d commands of a run of %d steps: %v", len(sent), len(run.Steps), sent)
	}
	at := 0
	for _, s := range sent {
		for at < len(run.Steps) && !isPrefix(run.Steps[at].Command.Doc, s.Body) {
			at++
		}
		if at == len(run.Steps) {
			r.Errorf("sent out of order, twice, or not as planned: %v", s.Body)
			return
		}
		at++
	}
}

// isPrefix tells whether a document begins with all of another.
func isPrefix(doc, whole bson.Raw) bool {
	return len(doc) >= 5 && len(whole) >= len(doc) && string(doc[4:len(doc)-1]) == string(whole[4:len(doc)-1])
}

// Truth reads a fact past our reader: all of the catalogue as the cluster has
// it now.
func (r *Rig) Truth(f actions.Fact) map[string]string {
	r.Helper()
	uri, err := cluster.ParseURI(simcluster.URI())
	r.Must(err)
	c, err := cluster.Connect(r.Context(), uri, cluster.Options{Dialer: r.Sim})
	r.Must(err)
	defer func() { _ = c.Close(context.Background()) }()
	t, err := topology.NewWatcher(c, topology.Options{}).Load(r.Context())
	r.Must(err)
	return actions.Fields(t, f)
}

// Holds tells whether all facts are so.
func (r *Rig) Holds(facts []actions.Fact) bool {
	r.Helper()
	return !slices.ContainsFunc(facts, func(f actions.Fact) bool { return len(f.Against(r.Truth(f))) > 0 })
}

// P is a key of NS.
func P(n any) bson.Raw {
	doc, err := bson.Marshal(bson.D{{Key: "p", Value: n}})
	if err != nil {
		panic(err) // a number or MinKey
	}
	return doc
}

// stream makes ids that a seed tells; safe for concurrent use.
type stream struct {
	mu sync.Mutex
	r  *rand.ChaCha8
}

func (s *stream) Read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.r.Read(b)
}

func seedOf(seed, life uint64) (out [32]byte) {
	out[0], out[1], out[2], out[8], out[9] = byte(seed), byte(seed>>8), byte(seed>>16), byte(life), byte(life>>8)
	return out
}
