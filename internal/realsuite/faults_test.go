package realsuite_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/realcluster"
)

const (
	faultsNS = "suite-faults.rows"
	// rowsOfChunk make a move take some seconds where its copying is slowed down.
	rowsOfChunk = 3000
	// freezeTime is longer than what a client waits for a member by itself.
	freezeTime = 20 * time.Second
	// quiet is how long nothing may change after a run has ended.
	quiet = 3 * time.Second
)

// fault is something that goes wrong while a chunk moves.
type fault struct {
	name string
	long bool // only in the whole form
	// strike hurts what takes part in a move that has begun; it heals the cluster before it returns.
	strike func(m *movingChunk)
}

// movingChunk is a move that the product has begun.
type movingChunk struct {
	*world
	d        *dashboard
	id       string // of the run
	command  string // moveChunk or moveRange
	from, to string
	number   int // of the chunk
}

func faultList() []fault {
	frozen := func(name string, member func(m *movingChunk) string, long bool) fault {
		return fault{name + " frozen", long, func(m *movingChunk) {
			m.untilMoving()
			m.must(m.cluster.Freeze(m.Context(), member(m)))
			m.pass(freezeTime)
			m.must(m.cluster.Thaw())
		}}
	}
	return []fault{
		frozen("recipient", func(m *movingChunk) string { return m.to }, false),
		frozen("donor", func(m *movingChunk) string { return m.from }, true),
		frozen("config server", func(*movingChunk) string { return realcluster.ConfigServer }, true),
		frozen("mongos", func(*movingChunk) string { return realcluster.Router }, true),
		{"donor stepped down", true, func(m *movingChunk) {
			m.untilMoving()
			m.must(m.cluster.StepDown(m.Context(), m.from))
		}},
		{"mongos restarted", true, func(m *movingChunk) {
			m.untilMoving()
			m.must(m.cluster.Restart(m.Context(), realcluster.Router))
		}},
		{"connections cut", true, func(m *movingChunk) {
			m.untilMoving()
			m.proxy.Cut()
			m.pass(2 * time.Second)
		}},
	}
}

// faults shows what the product says after a fault in the middle of a move: it is what the cluster has,
// nothing was sent twice, and nothing of it is left on any member.
func faults(w *world) {
	sent := watchMoves(w.proxy)
	w.makeRows()
	n := 0
	for _, f := range faultList() {
		if f.long && !w.form.whole {
			continue
		}
		w.point(f.name, func(w *world) {
			d := w.serve()
			m := w.beginMove(d, n)
			stop := w.proxy.InterceptCommand(m.command)
			m.id = d.begin(m.plan(d))
			w.must(stop.Wait(within(w, patience)))
			stop.Release()
			f.strike(m)
			m.heal()
			m.checkEnd(sent)
		})
		n++
	}
	for _, k := range killList() {
		if k.long && !w.form.whole {
			continue
		}
		w.point("shardboard killed "+k.name, func(w *world) {
			d := w.serve()
			m := w.beginMove(d, n)
			k.kill(m)
			m.heal()
			d.start()
			m.checkEnd(sent)
		})
		n++
	}
	w.point("nothing is left", nothingIsLeft)
	db, _, _ := strings.Cut(faultsNS, ".")
	w.must(w.data.Database(db).Drop(w.Context()))
}

// killing ends the product at one point of a move.
type killing struct {
	name string
	long bool
	kill func(m *movingChunk)
}

func killList() []killing {
	return []killing{
		{"before the command left", true, func(m *movingChunk) {
			stop := m.proxy.InterceptCommand(m.command)
			m.id = m.d.begin(m.plan(m.d))
			m.must(stop.Wait(within(m.world, patience)))
			m.d.kill()
			stop.Drop()
		}},
		{"while the chunk moves", false, func(m *movingChunk) {
			stop := m.proxy.InterceptCommand(m.command)
			m.id = m.d.begin(m.plan(m.d))
			m.must(stop.Wait(within(m.world, patience)))
			stop.Release()
			m.untilMoving()
			m.d.kill()
		}},
		{"before the answer came", true, func(m *movingChunk) {
			stop := m.proxy.InterceptAnswer(m.command)
			m.id = m.d.begin(m.plan(m.d))
			m.must(stop.Wait(within(m.world, healingPatience)))
			m.d.kill()
			stop.Drop()
		}},
		{"after the answer came", true, func(m *movingChunk) {
			stop := m.proxy.InterceptAnswer(m.command)
			m.id = m.d.begin(m.plan(m.d))
			m.must(stop.Wait(within(m.world, healingPatience)))
			stop.Release()
			m.d.kill()
		}},
	}
}

func within(w *world, limit time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(w.Context(), limit)
	w.Cleanup(cancel)
	return ctx
}

// chunksForFaults are those of the collection: one for each fault of the whole form.
const chunksForFaults = 12

// makeRows makes a collection whose chunks have some thousand rows each.
func (w *world) makeRows() {
	w.Helper()
	db, _, _ := strings.Cut(faultsNS, ".")
	w.admin(bson.D{{Key: "enableSharding", Value: db}})
	w.admin(bson.D{{Key: "shardCollection", Value: faultsNS}, {Key: "key", Value: bson.D{{Key: "p", Value: 1}}}})
	for i := range chunksForFaults {
		w.admin(bson.D{{Key: "split", Value: faultsNS}, {Key: "middle", Value: bson.D{{Key: "p", Value: i * rowsOfChunk}}}})
	}
	text := strings.Repeat("x", 200)
	for i := range w.form.count(chunksForFaults, 2) {
		rows := make([]any, rowsOfChunk)
		for j := range rows {
			rows[j] = bson.D{{Key: "p", Value: i*rowsOfChunk + j}, {Key: "text", Value: text}}
		}
		w.must(must.Err(w.namespace(faultsNS).InsertMany(w.Context(), rows, options.InsertMany().SetOrdered(false))))
	}
}

// beginMove chooses a chunk and where it goes.
func (w *world) beginMove(d *dashboard, n int) *movingChunk {
	w.Helper()
	c := w.chunks(faultsNS)[n+1]
	m := &movingChunk{world: w, d: d, number: n, from: c.Shard, to: w.otherShard(c.Shard), command: "moveChunk"}
	p := m.plan(d)
	var body map[string]json.RawMessage
	w.must(json.Unmarshal(p.Commands[len(p.Commands)-1].Command, &body))
	if _, ok := body["moveRange"]; ok {
		m.command = "moveRange"
	}
	return m
}

func (m *movingChunk) plan(d *dashboard) plan {
	m.Helper()
	c := m.chunks(faultsNS)[m.number+1]
	return d.plan("move", args{"ns": faultsNS, "to": m.to, "bounds": [2]json.RawMessage{extended(m.world, c.Min), extended(m.world, c.Max)}})
}

// untilMoving waits until the donor has logged that the move began.
func (m *movingChunk) untilMoving() {
	m.Helper()
	lower := bson.D{{Key: "p", Value: int32(m.number * rowsOfChunk)}}
	err := until(m.Context(), patience, func(ctx context.Context) error {
		return m.config("changelog").FindOne(ctx, bson.D{{Key: "what", Value: "moveChunk.start"}, {Key: "ns", Value: faultsNS},
			{Key: "details.min", Value: lower}}).Err()
	})
	must.That(m, err == nil, "the move has not begun: %v", err)
}

// pass lets time go by on the cluster; a test that ends early does not wait.
func (m *movingChunk) pass(long time.Duration) {
	select {
	case <-time.After(long):
	case <-m.Context().Done():
	}
}

func (m *movingChunk) heal() {
	m.Helper()
	m.proxy.Restore()
	m.must(m.cluster.Revive(m.Context()))
}

// checkEnd compares what the run says in the end with what the cluster has, then and a while later.
func (m *movingChunk) checkEnd(sent *sentMoves) {
	m.Helper()
	r := m.d.wait(m.id, healingPatience)
	m.Logf("%s", r)
	for moment := range 2 {
		if moment > 0 {
			m.pass(quiet)
		}
		owner := m.chunks(faultsNS)[m.number+1].Shard
		switch {
		case r.State == "succeeded" && owner != m.to:
			m.Errorf("the run succeeded, and the chunk is on %s", owner)
		case r.State != "succeeded" && owner == m.to:
			m.Errorf("the run %s, and the chunk is on %s, where it was to go", r.State, owner)
		case r.State == "unknown":
			m.Errorf("the outcome stays unknown: %s", r)
		}
	}
	intents := 0
	for _, s := range r.Steps {
		if s.SentAt != nil {
			intents++
		}
	}
	n := sent.of(r.ID)
	expect.That(m, n <= intents, "%d commands were sent for %d intents", n, intents)
	var rows int64
	m.must(until(m.Context(), patience, func(ctx context.Context) (err error) {
		rows, err = m.namespace(faultsNS).CountDocuments(ctx, bson.D{{Key: "p", Value: bson.D{
			{Key: "$gte", Value: m.number * rowsOfChunk}, {Key: "$lt", Value: (m.number + 1) * rowsOfChunk}}}})
		return err
	}))
	expect.That(m, rows == rowsOfChunk, "the chunk has %d rows, want %d", rows, rowsOfChunk)
}

// sentMoves counts the moves that reached the router, by the run in their comment.
type sentMoves struct {
	mu sync.Mutex
	n  map[string]int
}

func watchMoves(p *realcluster.Proxy) *sentMoves {
	s := &sentMoves{n: make(map[string]int)}
	p.Watch(func(command bson.Raw) {
		first, err := command.IndexErr(0)
		if err != nil || first.Key() != "moveChunk" && first.Key() != "moveRange" {
			return
		}
		comment, _ := command.Lookup("comment").StringValueOK()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.n[comment]++
	})
	return s
}

func (s *sentMoves) of(run string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n[run]
}

// left is what a member has of a client.
type left struct {
	Type, NS, Desc, AppName string
	Cursor                  struct {
		OriginatingCommand struct {
			Client struct {
				Application struct{ Name string }
			} `bson:"$client"`
		} `bson:"originatingCommand"`
	}
	Transaction bson.Raw
}

func (l left) app() string {
	if l.AppName != "" {
		return l.AppName
	}
	return l.Cursor.OriginatingCommand.Client.Application.Name
}

// nothingIsLeft looks for cursors, sessions with a transaction and operations of the product on every
// member, after it was killed. A config server may keep the cursor that followed the changelog until that
// ends by itself after ten minutes: nobody waits for it, and a mongos passes killSessions on to shards only.
func nothingIsLeft(w *world) {
	members := w.cluster.Addresses()
	if len(members) == 0 {
		members = map[string]string{"all members, through mongos": w.cluster.Address()}
	}
	for name, address := range members {
		client, err := mongo.Connect(options.Client().ApplyURI("mongodb://" + address + "/?directConnection=true").SetAppName("the suite"))
		w.must(err)
		w.Cleanup(func() { _ = client.Disconnect(context.Background()) })
		err = until(w.Context(), patience, func(ctx context.Context) error {
			cursor, err := client.Database("admin").Aggregate(ctx, bson.A{bson.D{{Key: "$currentOp", Value: bson.D{
				{Key: "allUsers", Value: true}, {Key: "idleCursors", Value: true}, {Key: "idleSessions", Value: true}}}}})
			if err != nil {
				return err
			}
			var all []left
			if err := cursor.All(ctx, &all); err != nil {
				return err
			}
			for _, l := range all {
				tail := l.Type == "idleCursor" && l.NS == "config.changelog"
				if strings.HasPrefix(l.app(), "shardboard") && !tail {
					return fmt.Errorf("a %s of %s on %s is left", l.Type, l.app(), l.NS)
				}
			}
			return nil
		})
		expect.That(w, err == nil, "%s: %v", name, err)
	}
}
