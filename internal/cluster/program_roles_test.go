package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"

	"shardboard/internal/cluster"
	"shardboard/internal/doctor"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/must"
	"shardboard/internal/heat"
	"shardboard/internal/heat/survey"
	"shardboard/internal/history"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/simcluster"
	"shardboard/internal/store/sqlite"
	"shardboard/internal/topology"
)

// refusals records which commands the cluster refused because of a missing privilege.
type refusals struct {
	mu   sync.Mutex
	seen []string
}

func (r *refusals) monitor() *event.CommandMonitor {
	return &event.CommandMonitor{Failed: func(_ context.Context, e *event.CommandFailedEvent) {
		if strings.Contains(e.Failure.Error(), "(Unauthorized)") { // the driver's type for it is internal
			r.mu.Lock()
			defer r.mu.Unlock()
			r.seen = append(r.seen, e.DatabaseName+"."+e.CommandName)
		}
	}}
}

// take returns those since the last call.
func (r *refusals) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.seen
	r.seen = nil
	return out
}

// complaints collects what the program reported as failed.
type complaints struct{ list []string }

func (c *complaints) note(what string, err error) {
	if err != nil {
		c.list = append(c.list, fmt.Sprintf("%s: %v", what, err))
	}
}

// reader is the reading part of the program with one cluster client.
type reader struct {
	client  *cluster.Client
	watcher *topology.Watcher
	keeper  *placement.Keeper
	locator *placement.Locator
	prover  *placement.Prover
	check   *placement.DuplicateCheck
	heat    *heat.Collector
	surveys *survey.Engine
	history *history.Recorder
}

func newReader(t *testing.T, c *cluster.Client, log *slog.Logger) *reader {
	t.Helper()
	prof := profile.Yorkie()
	w := topology.NewWatcher(c, topology.Options{Sweep: 5 * time.Second, Log: log})
	r := &reader{client: c, watcher: w, keeper: placement.NewKeeper(c, w, prof, log), prover: placement.NewProver(c, w)}
	r.locator = placement.NewLocator(c, w, r.keeper, prof)
	r.check = placement.NewDuplicateCheck(c, w, r.keeper, prof, log)
	r.locator.MarkShared(r.check)
	r.heat = heat.NewCollector(c, w, prof, heat.Options{Log: log})
	r.surveys = survey.New(c, w, r.keeper, prof, survey.Options{Log: log})
	kept := must.Get(sqlite.Open(t.Context(), t.TempDir()))
	t.Cleanup(func() { _ = kept.Close() })
	r.history = history.NewRecorder(kept, w, log, nil)
	return r
}

// readEverything does every read of the program: polls, locating, proofs, counts, the
// check for duplicate ids, heat, history and surveys. It returns what the program
// reported as failed. Call it in a synctest bubble.
func (r *reader) readEverything(ctx context.Context, sample sample) []string {
	var all complaints
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	for _, run := range []func(context.Context) error{r.watcher.Run, r.keeper.Run, r.check.Run, r.heat.Run, r.surveys.Run, r.history.Run} {
		running.Go(func() { _ = run(ctx) })
	}
	defer running.Wait()
	defer cancel()
	time.Sleep(21 * time.Second) // every poll, and the sizes of every collection
	synctest.Wait()
	t := r.watcher.Table()
	for part, h := range t.Health {
		all.note(string(part), h.Err)
		if h.Denied {
			all.note(string(part), errors.New("denied"))
		}
	}
	if t.Rounds.Denied {
		all.note("rounds", errors.New("denied"))
	}
	if t.Moves.ListPrivilege != "" {
		all.note("moves", errors.New("denied"))
	}
	if t.ServerInfo.ClusterID == "" {
		all.note("cluster id", errors.New("unknown"))
	}
	if _, err := r.client.AllSizes(ctx); fault.Of(err) != fault.NotFound {
		all.note("all sizes", err)
	}
	if doctor.ParseRelease(t.ServerInfo.Version)[0] >= 7 {
		_, _, err := r.client.Owners(ctx, sampleNS)
		all.note("owners", err)
	}
	all.note("projects", r.keeper.Directory().Health().Err)
	for _, text := range sample.questions {
		a, err := r.locator.Ask(ctx, placement.Query{Text: text})
		if fault.Of(err) != fault.NotFound {
			all.note("locate "+text, err)
		}
		for _, it := range a.Items {
			for _, place := range it.Places {
				all.note("prove "+string(place.NS), r.prover.Prove(ctx, place).Err)
				if f := r.prover.Count(ctx, place); f.Reason == "notPermitted" {
					all.note("count "+string(place.NS), errors.New(f.Reason))
				}
			}
		}
	}
	if r.prover.Primaries(ctx) == nil {
		all.note("primaries", errors.New("unknown"))
	}
	if err := r.check.Start(false, nil); err != nil {
		all.note("duplicates", err)
	} else {
		time.Sleep(time.Minute)
		synctest.Wait()
		if rep := r.check.Report(); rep.State != placement.CheckDone {
			all.note("duplicates", fmt.Errorf("%s: %s", rep.State, rep.Problem))
		}
	}
	r.measureEverything(ctx, sample, &all)
	_ = r.client.LoadPerMinute()
	return all.list
}

// examine runs the doctor.
func (r *reader) examine(ctx context.Context, t *testing.T) doctor.Report {
	t.Helper()
	server, err := r.client.Server(ctx)
	must.Do(t, err)
	report, err := doctor.Examine(ctx, r.client, doctor.Subject{
		Table: r.watcher.Table(), Server: server, Profile: profile.Yorkie(),
		Data: []doctor.Data{{DB: "yorkie-meta", Layout: profile.Yorkie().Layouts[0]}},
	})
	must.Do(t, err)
	return report
}

// sample has one existing object of each kind.
type sample struct {
	questions         []string
	project, document bson.ObjectID
}

// collectSample finds existing rows and fills the one collection that the simulated data
// leaves empty.
func collectSample(t *testing.T, sim *simcluster.Cluster) sample {
	t.Helper()
	first := func(coll string) bson.Raw {
		reply, err := sim.Command(t.Context(), "yorkie-meta", bson.D{{Key: "find", Value: coll}, {Key: "limit", Value: 1}})
		must.Do(t, err)
		doc, ok := reply.Lookup("cursor", "firstBatch", "0").DocumentOK()
		if !ok {
			t.Fatalf("%s is empty", coll)
		}
		return doc
	}
	id := func(doc bson.Raw, field string) string { return doc.Lookup(field).ObjectID().Hex() }
	project, document := first("projects"), first("documents")
	must.Do(t, run(t, sim, "yorkie-meta", bson.D{{Key: "insert", Value: "snapshot_bodies"}, {Key: "documents", Value: bson.A{
		bson.D{{Key: "project_id", Value: document.Lookup("project_id")}, {Key: "doc_id", Value: document.Lookup("_id")}},
	}}}))
	s := sample{project: document.Lookup("project_id").ObjectID(), document: document.Lookup("_id").ObjectID()}
	s.questions = []string{
		project.Lookup("name").StringValue(), project.Lookup("public_key").StringValue(), id(project, "_id"),
		id(document, "project_id") + "/" + document.Lookup("key").StringValue(), id(document, "_id"),
		"Document (" + id(document, "project_id") + "." + id(document, "_id") + ")",
		bson.NewObjectID().Hex(), // looked up in every collection that has ids
	}
	return s
}

var discardLog = slog.New(slog.NewTextHandler(io.Discard, nil))

// missingPrivileges returns the privileges that a report names as missing, each once, and the
// features whose state it does not know.
func missingPrivileges(r doctor.Report, changes bool) (lacks, unknown []string) {
	for _, f := range r.Findings {
		if f.Change && !changes {
			continue
		}
		for _, p := range f.Lacks {
			if !slices.Contains(lacks, p.String()) {
				lacks = append(lacks, p.String())
			}
		}
		if len(f.Unsure) > 0 {
			unknown = append(unknown, f.Code)
		}
	}
	return lacks, unknown
}
