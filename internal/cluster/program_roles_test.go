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
	"shardboard/internal/store"
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
		must.That(t, ok, "%s is empty", coll)
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

// measureEverything collects write counts, samples sizes and runs a survey of each
// kind. In a small cluster the survey engine and the collector skip some reads, so
// those are called directly.
func (r *reader) measureEverything(ctx context.Context, sample sample, all *complaints) {
	counted := heat.Counted(r.watcher.Table(), profile.Yorkie())
	if len(counted) == 0 {
		all.note("heat", errors.New("no collection's writes are counted"))
	}
	for _, ns := range counted {
		h, ok := r.heat.Health(ns)
		if !ok {
			all.note("heat "+string(ns), errors.New("not counted"))
		}
		all.note("heat "+string(ns), h.Err)
	}
	now := time.Now()
	for _, c := range profile.Yorkie().Layouts[0].Collections {
		if c.ProjectField == "" || c.Scope == profile.ScopeCluster {
			continue
		}
		ns := topology.Namespace("yorkie-meta." + c.Name)
		of := heat.WriteQuery{NS: ns, Project: c.ProjectField, Document: c.DocumentField, From: now.Add(-time.Hour), To: now, Limit: 10}
		_, err := r.client.Writes(ctx, of)
		all.note("writes of "+string(ns), err)
		if of.Date = c.WrittenAt; of.Date != "" {
			of.Of = placement.ObjectIDValue(sample.project)
			_, err = r.client.Writes(ctx, of)
			all.note("changed rows of "+string(ns), err)
		}
		_, err = r.client.Operations(ctx, ns)
		all.note("operations of "+string(ns), err)
		if coll := r.watcher.Table().Collection(ns); coll != nil {
			_, err = r.client.RangeSize(ctx, coll.Meta, rangeOf(coll.Chunks.At(0)), false)
			all.note("size of a chunk of "+string(ns), err)
		}
		_, err = r.client.SampleSizes(ctx, survey.SizeQuery{NS: ns, Project: c.ProjectField, Document: c.DocumentField, Dead: c.Dead, Limit: 5})
		all.note("sample of "+string(ns), err)
	}
	for _, q := range []survey.Request{
		{Kind: survey.Projects}, {Kind: survey.Project, Project: sample.project},
		{Kind: survey.Document, Project: sample.project, Document: sample.document},
	} {
		r.survey(ctx, q, all)
	}
}

// survey runs one survey and records what it could not read.
func (r *reader) survey(ctx context.Context, q survey.Request, all *complaints) {
	what := "survey " + string(q.Kind)
	started, err := r.surveys.Start(ctx, q, store.AuditEntry{By: "test"})
	if err != nil {
		all.note(what, err)
		return
	}
	for range 600 {
		s, result, err := r.surveys.Survey(ctx, started.ID)
		if err != nil {
			all.note(what, err)
			return
		}
		if !s.State.Ended() {
			time.Sleep(time.Second)
			continue
		}
		if s.State != survey.Done {
			all.note(what, fmt.Errorf("%s: %s", s.State, s.Problem))
		}
		if result == nil || len(result.Collections) == 0 {
			all.note(what, errors.New("it measured nothing"))
			return
		}
		for _, c := range result.Collections {
			if c.Reason != "" {
				all.note(what, fmt.Errorf("%s: %s", c.NS, c.Reason))
			}
		}
		return
	}
	all.note(what, errors.New("it does not end"))
}

// isDocumentSize reports whether an expression is the size of the document, which reveals
// no field.
func isDocumentSize(v bson.RawValue) bool {
	return isExpression(v, "$bsonSize", func(of bson.RawValue) bool {
		text, ok := of.StringValueOK()
		return ok && text == "$$ROOT"
	})
}

// countsOrAddsSizes reports whether an accumulator counts documents or adds up their sizes.
func countsOrAddsSizes(v bson.RawValue) bool {
	return isExpression(v, "$sum", func(of bson.RawValue) bool { return of.IsNumber() || isDocumentSize(of) })
}

// isExpression reports whether a value is one operator with that operand.
func isExpression(v bson.RawValue, operator string, operand func(bson.RawValue) bool) bool {
	doc, ok := v.DocumentOK()
	if !ok {
		return false
	}
	parts, err := doc.Elements()
	return err == nil && len(parts) == 1 && parts[0].Key() == operator && operand(parts[0].Value())
}

// checkOnlyNumbers checks that a $group returns only numbers, overall or by the ids of projects
// and documents.
func checkOnlyNumbers(group bson.Raw) error {
	elements, err := group.Elements()
	if err != nil {
		return err
	}
	for _, el := range elements {
		switch by, isDoc := el.Value().DocumentOK(); {
		case el.Key() != "_id":
			if !countsOrAddsSizes(el.Value()) {
				return fmt.Errorf("%s is no number of documents or bytes", el)
			}
		case el.Value().Type == bson.TypeNull:
		case !isDoc:
			return fmt.Errorf("a group by values")
		default:
			parts, err := by.Elements()
			if err != nil {
				return err
			}
			for _, p := range parts {
				if name, _ := p.Value().StringValueOK(); name != "$project_id" && name != "$doc_id" && name != "$_id" {
					return fmt.Errorf("a group by %s", p)
				}
			}
		}
	}
	return nil
}
