package changes_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/cluster"
	"shardboard/internal/heat"
	"shardboard/internal/outcome"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/simcluster"
	"shardboard/internal/store"
	"shardboard/internal/store/sqlite"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// measured is a site with the real engine, heat and recorder over a simulated
// cluster to which a test writes. What is restarted is what dies with a process.
type measured struct {
	*webtest.SimulatedServer
	client *cluster.Client
	engine *engine.Engine
	db     *sqlite.DB
	rows   *mongo.Collection
	hot    *outcome.Recorder
	parts  sync.WaitGroup
	end    func()
}

func onMeasured(t *testing.T, test func(m *measured)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m := &measured{SimulatedServer: &webtest.SimulatedServer{T: t}}
		sim, err := simcluster.New(t.Context(), simcluster.Options{Projects: 15, Documents: 300, Still: true})
		m.Must(err)
		m.Sim = sim
		defer func() { _ = sim.Close() }()
		sim.Start(t.Context())
		uri, err := cluster.ParseURI(simcluster.URI())
		m.Must(err)
		m.client, err = cluster.Connect(t.Context(), uri, cluster.Options{Dialer: sim})
		m.Must(err)
		defer func() { _ = m.client.Close(context.Background()) }()
		writer, err := mongo.Connect(options.Client().ApplyURI(simcluster.URI()).SetDialer(sim).SetServerMonitoringMode("poll"))
		m.Must(err)
		defer func() { _ = writer.Disconnect(context.Background()) }()
		m.rows = writer.Database("yorkie-meta").Collection("changes")
		m.db, err = sqlite.Open(t.Context(), t.TempDir())
		m.Must(err)
		defer func() { _ = m.db.Close() }()
		m.Watcher = topology.NewWatcher(m.client, topology.Options{})
		_, err = m.Watcher.Load(t.Context())
		m.Must(err)
		keeper := placement.NewKeeper(m.client, m.Watcher, profile.Yorkie(), nil)
		m.engine = engine.New(
			engine.Options{Admin: m.client, Renderer: m.client, Reader: m.client, Planners: actions.Planners(), Journal: m.db, Audit: m.db,
				Tables: m.Watcher, Directory: keeper, Profile: profile.Yorkie()},
		)
		ctx, end := context.WithCancel(context.Background())
		var all sync.WaitGroup
		all.Go(func() { _ = m.Watcher.Run(ctx) })
		all.Go(func() { _ = m.engine.Serve(ctx) })
		defer func() { end(); all.Wait() }()
		m.start()
		defer func() { m.stop() }()
		m.Server = webtest.New(t, webtest.WithPeople, webtest.WithActions(m.engine), func(d *site.Deps) {
			d.Now, d.Watcher, d.Keeper, d.Outcomes = time.Now, m.Watcher, keeper, m
		})
		test(m)
	})
}

// start begins to count writes, as a process does.
func (m *measured) start() {
	counter := heat.NewCollector(m.client, m.Watcher, profile.Yorkie(), heat.Options{Seed: 3})
	m.hot = outcome.New(outcome.Options{Runs: m.engine, Tables: m.Watcher, Profile: profile.Yorkie(), Store: store.Store(m.db)})
	counter.OnSlot(m.hot.Take)
	ctx, end := context.WithCancel(context.Background())
	m.end = end
	hot := m.hot
	m.parts.Go(func() { _ = counter.Run(ctx) })
	m.parts.Go(func() { _ = hot.Run(ctx) })
}

// stop ends that, and forgets what was in memory.
func (m *measured) stop() { m.end(); m.parts.Wait() }

// Of and Subscribe are those of the recorder that there is now.
func (m *measured) Of(ctx context.Context, r engine.Run) (outcome.Outcome, error) {
	return m.hot.Of(ctx, r)
}

func (m *measured) Subscribe() (<-chan struct{}, func()) { return m.hot.Subscribe() }

// hotDoc is a Yorkie document and the chunk of changes that its rows go to.
type hotDoc struct {
	id, project bson.ObjectID
	chunk       int
}

// documents are one of each chunk that has any.
func (m *measured) documents() (out []hotDoc) {
	m.Helper()
	c := m.Watcher.Table().Collection("yorkie-meta.changes")
	cursor, err := m.rows.Database().Collection(
		"documents",
	).Find(
		m.Context(),
		bson.D{},
		options.Find().SetProjection(bson.D{{Key: "project_id", Value: 1}}),
	)
	m.Must(err)
	var docs []struct {
		ID      bson.ObjectID `bson:"_id"`
		Project bson.ObjectID `bson:"project_id"`
	}
	m.Must(cursor.All(m.Context(), &docs))
	for _, d := range docs {
		k, err := c.Key.Extract(webtest.MustBSON(bson.D{{Key: "doc_id", Value: d.ID}}))
		m.Must(err)
		i, _ := c.Chunks.Find(k)
		if !slices.ContainsFunc(out, func(t hotDoc) bool { return t.chunk == i }) {
			out = append(out, hotDoc{d.ID, d.Project, i})
		}
	}
	return out
}

// write inserts rows of a document each second, so many seconds long.
func (m *measured) write(seconds int, rates map[hotDoc]int) {
	m.Helper()
	for range seconds {
		for of, n := range rates {
			for i := range n {
				_, err := m.rows.InsertOne(
					m.Context(),
					bson.D{{Key: "_id", Value: bson.NewObjectIDFromTimestamp(time.Now())}, {Key: "project_id", Value: of.project},
						{Key: "doc_id", Value: of.id}, {Key: "server_seq", Value: time.Now().UnixNano() + int64(i)}, {Key: "actor_id", Value: of.id}},
				)
				m.Must(err)
			}
		}
		time.Sleep(time.Second)
	}
}

// twoHot are documents of two chunks of one shard, and one of another shard.
func (m *measured) twoHot() (stays, goes, other hotDoc, to string) {
	c := m.Watcher.Table().Collection("yorkie-meta.changes")
	by := map[string][]hotDoc{}
	for _, d := range m.documents() {
		shard := c.Chunks.Owner(d.chunk)
		by[shard] = append(by[shard], d)
	}
	from := ""
	for shard, list := range by {
		if len(list) > 1 && (from == "" || shard < from) {
			from = shard
		}
	}
	for shard := range by {
		if shard != from && (to == "" || shard < to) {
			to = shard
		}
	}
	if from == "" || to == "" {
		m.Fatalf("no shard has documents in two chunks: %v", by)
	}
	return by[from][0], by[from][1], by[to][0], to
}

// move plans and runs the move of a document's chunk, and gives the run at its end.
func (m *measured) move(of hotDoc, to string) api.Run {
	m.Helper()
	c := m.Watcher.Table().Collection("yorkie-meta.changes")
	p := m.Plan(
		"anna",
		`{"kind":"move","args":{"ns":"yorkie-meta.changes","chunk":"`+answer.ChunkRef(
			c,
			c.Chunks.At(of.chunk).Min,
		)+`","to":"`+to+`"},"reason":"hot"}`,
	)
	w := m.Post("anna", "/api/v1/plans/"+p.ID+"/run", `{"hash":"`+p.Hash+`"}`)
	var r api.Run
	if err := json.Unmarshal(w.Body.Bytes(), &r); err != nil || w.Code != http.StatusAccepted {
		m.Fatalf("%d %s", w.Code, w.Body)
	}
	done := m.Ended(r.ID)
	if done.State != "succeeded" {
		m.Fatalf("the move: %s %s", done.State, done.Why)
	}
	return done
}

func (m *measured) Run(id string) api.Run {
	m.Helper()
	return webtest.Decode[api.Run](m.T, m.Do("GET", "/api/v1/runs/"+id, webtest.As("vera", auth.Viewer)))
}

func near(got, want float64) bool { return got > want-.02 && got < want+.02 }

func TestAMoveOfAHotChunkIsMeasuredBeforeAndAfter(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates 25 minutes")
	}
	onMeasured(t, func(m *measured) {
		stays, goes, other, to := m.twoHot()
		load := map[hotDoc]int{stays: 2, goes: 2, other: 1}
		m.write(11*60, load)
		run := m.move(goes, to)
		told, end := m.hot.Subscribe()
		defer end()
		if o := run.Outcome; o == nil || o.State != "tooEarly" || o.KnownAt == nil || o.Verdict != "" || o.After.Writes != nil ||
			!near(*o.Before.HottestShare, .8) {
			t.Fatalf("just after the run: %+v", o)
		}
		known := *run.Outcome.KnownAt
		m.write(int(time.Until(known).Seconds()), load)
		if o := m.Run(run.ID).Outcome; o.State != "tooEarly" {
			t.Errorf("%s before its time: %+v", o.State, o)
		}
		select {
		case <-told:
			t.Error("told too early")
		default:
		}
		time.Sleep(15 * time.Second)
		select {
		case <-told:
		default:
			t.Error("nobody was told")
		}
		is := m.Run(run.ID)
		o := is.Outcome
		if o.State != "measured" || o.Verdict != "helped" || !near(*o.Before.HottestShare, .8) || !near(*o.After.HottestShare, .6) ||
			o.After.Hottest != to {
			t.Fatalf("%s, %s: %s; before %+v, after %+v", o.State, o.Verdict, o.Text, o.Before, o.After)
		}
		if o.Before.CoveredSeconds != 600 || o.After.CoveredSeconds != 600 || len(o.Notes) != 0 || len(o.OtherRuns) != 0 || o.OtherMoves != 0 {
			t.Errorf("%+v", o)
		}
		// The figures are those that were written: five rows a second.
		if rows := o.Before.Writes.Rows; rows < 2950 || rows > 3050 || !o.Before.Writes.Exact {
			t.Errorf("before: %+v", o.Before.Writes)
		}
		i := slices.IndexFunc(o.Chunks, func(c api.OutcomeChunk) bool { return c.ShardAfter == to && c.Before != nil })
		if i < 0 || !near(o.Chunks[i].Before.WritesPerSecond, 2) || !near(o.Chunks[i].After.WritesPerSecond, 2) || o.Chunks[i].ShardBefore == to {
			t.Errorf("chunks %+v", o.Chunks)
		}
		if c := is.Cost; c == nil || c.Moved != 1 || c.Actual.Documents.Value == nil || *c.Actual.Documents.Value == 0 ||
			c.Actual.Bytes.Value == nil ||
			c.Estimated.Bytes.Value == nil {
			t.Errorf("cost %+v", c)
		}
	})
}

func TestARestartAfterARunKeepsWhatWasCounted(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates 25 minutes")
	}
	onMeasured(t, func(m *measured) {
		stays, goes, other, to := m.twoHot()
		load := map[hotDoc]int{stays: 2, goes: 2, other: 1}
		m.write(8*60, load)
		run := m.move(goes, to)
		m.write(4*60, load)
		m.stop()
		m.write(60, load)
		m.start()
		m.write(30, load)
		if o := m.Run(run.ID).Outcome; o.State != "tooEarly" || !near(*o.Before.HottestShare, .8) {
			t.Errorf("after the restart: %+v", o)
		}
		m.write(int(time.Until(*run.Outcome.KnownAt).Seconds())+1, load)
		time.Sleep(20 * time.Second)
		o := m.Run(run.ID).Outcome
		if o.State != "measured" || o.Verdict != "helped" || !near(*o.Before.HottestShare, .8) || !near(*o.After.HottestShare, .6) {
			t.Fatalf("%s, %s: %s", o.State, o.Verdict, o.Text)
		}
		if b, a := o.Before.CoveredSeconds, o.After.CoveredSeconds; b < 400 || b > 480 || a < 500 || a > 550 {
			t.Errorf("counted %v s before and %v s after", b, a)
		}
		if !slices.ContainsFunc(o.Notes, func(n api.OutcomeNote) bool { return n.Code == outcome.NotePartial }) {
			t.Errorf("notes %+v", o.Notes)
		}
		if i := slices.IndexFunc(o.Chunks, func(c api.OutcomeChunk) bool { return c.ShardAfter == to && c.Before != nil }); i < 0 ||
			!near(o.Chunks[i].After.WritesPerSecond, 2) {
			t.Errorf("chunks %+v", o.Chunks)
		}
		// And for ever: another start reads the same.
		m.stop()
		m.start()
		time.Sleep(time.Minute)
		if again := m.Run(run.ID).Outcome; again.Text != o.Text || again.State != o.State {
			t.Errorf("%s, then %s", o.Text, again.Text)
		}
	})
}

func TestOutcomeIsUnknownAfterAnotherRunOfTheSameCollection(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates 25 minutes")
	}
	onMeasured(t, func(m *measured) {
		stays, goes, other, to := m.twoHot()
		load := map[hotDoc]int{stays: 2, goes: 2, other: 1}
		m.write(4*60, load)
		first := m.move(goes, to)
		m.write(3*60, load)
		second := m.move(stays, to)
		m.write(11*60, load)
		time.Sleep(time.Minute)
		for id, by := range map[string]string{first.ID: second.ID, second.ID: first.ID} {
			o := m.Run(id).Outcome
			if o.State != "shared" || o.Verdict != "" || !slices.Equal(o.OtherRuns, []string{by}) || len(o.Shards) == 0 || o.OtherMoves != 1 {
				t.Errorf("%s %q by %v, %d migrations: %s", o.State, o.Verdict, o.OtherRuns, o.OtherMoves, o.Text)
			}
		}
		page := webtest.ParseHTML(t, m.Do("GET", "/runs/"+first.ID, webtest.As("vera", auth.Viewer)).Body.String())
		if page.Find(".outcome a[href='/runs/"+second.ID+"']").Length() != 1 {
			t.Errorf("the page does not lead to the other run: %s", page.Find(".outcome").Text())
		}
	})
}
