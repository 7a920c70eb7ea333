package replay

import (
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster/catalog"
	"shardboard/internal/simcluster/engine/status"
)

// findStep finds a step of a recording.
func findStep(t *testing.T, file string, n int) step {
	t.Helper()
	for _, s := range recording(t, file) {
		if s.N == n {
			return s
		}
	}
	t.Fatalf("%s has no step %d", file, n)
	return step{}
}

// replayBalancerMoves repeats the recorded balancer's moves up to a dump of the
// changelog, whose first entries are older. Which chunk the balancer moves first is
// random.
func (p *player) replayBalancerMoves(log step, older int) {
	p.t.Helper()
	rows, _ := log.Reply.Array().Values()
	rows = p.ofRecordedDatabases(rows)
	c := p.cluster.Catalog()
	var points []bson.Raw
	for _, row := range rows[older:] {
		d := row.Document()
		ns, details := d.Lookup("ns").StringValue(), d.Lookup("details").Document()
		switch d.Lookup("what").StringValue() {
		case "multi-split":
			points = append(points, details.Lookup("chunk", "max").Document())
			if details.Lookup("number").Int32() == details.Lookup("of").Int32() {
				c.Mu.Lock()
				err := c.SplitChunk(ns, points[0], points[:len(points)-1])
				c.Mu.Unlock()
				must.Do(p.t, err)
				points = nil
			}
		case "moveChunk.start":
			lo, hi := details.Lookup("min").Document(), details.Lookup("max").Document()
			must.Do(p.t, c.Move(p.t.Context(), ns, lo, hi, details.Lookup("to").StringValue(), catalog.MoveOptions{}))
		}
	}
}

// scenarioScript prepares the long recording: its balancer, and a resharding that runs
// during other commands.
func scenarioScript() script { return scenario(196, 184, 188) }

// scenario8Script is the same for 8.0, where the resharding ended a round of reads later.
func scenario8Script() script {
	steps := scenario(200, 184, 188)
	begin := steps[176]
	steps[176] = func(p *player, s step) bool {
		p.cluster.Catalog().PlaceNext("yorkie-meta.clients", []string{"shard-rs-3", "shard-rs-1"})
		return begin(p, s)
	}
	return steps
}

// scenario is the script of the long recording, with the step at which the resharding
// was recorded, and two before which it goes on.
func scenario(reshards, applies, blocks int) script {
	var done chan bson.Raw // created inside the synctest bubble
	wait := func(d time.Duration) func(*player, step) bool {
		return func(*player, step) bool { time.Sleep(d); return false }
	}
	return script{
		131: func(p *player, _ step) bool {
			before, _ := findStep(p.t, p.file, 114).Reply.Array().Values()
			p.replayBalancerMoves(findStep(p.t, p.file, 137), len(p.ofRecordedDatabases(before)))
			return false
		},
		176: func(p *player, _ step) bool {
			done = make(chan bson.Raw, 1)
			reshard := findStep(p.t, p.file, reshards)
			go func() { done <- p.run(reshard.DB, p.request(reshard)) }()
			time.Sleep(500 * time.Millisecond)
			return false
		},
		applies: wait(750 * time.Millisecond),
		blocks:  wait(200 * time.Millisecond),
		reshards: func(p *player, s step) bool {
			p.compareStep(s, <-done, nil)
			return true
		},
		reshards + 2: func(p *player, _ step) bool {
			p.sampleOf("yorkie-meta.clients", findStep(p.t, p.file, reshards+1))
			return false
		},
	}
}

// sampleOf notes that the chunks of a collection were cut by a sample; the step is a dump of config.collections.
func (p *player) sampleOf(ns string, collections step) {
	for _, r := range collections.documents() {
		if r.Lookup("_id").StringValue() == ns {
			p.sampled = append(p.sampled, typedBytes(r.Lookup("uuid")))
		}
	}
}

// eightScript prepares the recording of what later releases have: documents that are not
// recorded, 50 of 331 bytes for each of 40 keys, and small ones in the hashed collections.
func eightScript() script {
	return script{12: func(p *player, _ step) bool {
		docs := map[string]bson.A{}
		for i := range int32(2000) {
			docs["t"] = append(docs["t"], padded(bson.D{{Key: "_id", Value: i}, {Key: "p", Value: i % 40}}, 331))
			docs["h"] = append(docs["h"], bson.D{{Key: "_id", Value: i}, {Key: "k", Value: i}})
			docs["ph"] = append(docs["ph"], bson.D{{Key: "_id", Value: i}, {Key: "p", Value: i % 40}, {Key: "k", Value: i}})
		}
		for coll, list := range docs {
			p.mustRun("eight", bson.D{{Key: "insert", Value: coll}, {Key: "documents", Value: list}})
		}
		return false
	},
		117: func(p *player, _ step) bool {
			p.cluster.Catalog().PlaceNext("eight.h", []string{"shard-rs-3", "shard-rs-1", "shard-rs-2"})
			return false
		},
		121: func(p *player, s step) bool { p.sampleOf("eight.h", s); return false },
		167: func(p *player, _ step) bool {
			// The balancer drains the hashed collection, and then waits for orphans with every move.
			c := p.cluster.Catalog()
			for _, ch := range p.chunksOn("eight.h", "shard-rs-3") {
				must.Do(p.t, c.Move(p.t.Context(), "eight.h", ch[0], ch[1], "shard-rs-2", catalog.MoveOptions{}))
			}
			first := p.chunksOn("eight.t", "shard-rs-3")[0]
			err := c.Move(p.t.Context(), "eight.t", first[0], first[1], "shard-rs-1", catalog.MoveOptions{})
			if e := status.Of(err); e == nil || e.Code != status.OperationFailed {
				p.t.Fatalf("a move onto orphans: %v", err)
			}
			return false
		},
	}
}

// chunksOn are the bounds of the chunks of a collection on a shard, in order.
func (p *player) chunksOn(ns, shard string) (bounds [][2]bson.Raw) {
	c := p.cluster.Catalog()
	c.Mu.RLock()
	defer c.Mu.RUnlock()
	for _, ch := range c.Routing(ns).Chunks() {
		if ch.Shard == shard {
			bounds = append(bounds, [2]bson.Raw{ch.Min, ch.Max})
		}
	}
	return bounds
}

// jumboScript prepares the recording about jumbo chunks: documents that are not
// recorded, and the balancer.
func jumboScript() script { return jumbo(1) }

// jumbo8Script is the same for 8.0, whose balancer compares bytes and moves no other chunk.
func jumbo8Script() script { return jumbo(0) }

// jumbo is the script of jumbo chunks, with the number of chunks that the balancer moves.
func jumbo(moved int) script {
	return script{
		3: func(p *player, _ step) bool {
			p.insertJumboDocuments()
			return false
		},
		14: func(p *player, _ step) bool {
			// The zone's chunk is too big and is marked jumbo; another one moves for balance.
			c := p.cluster.Catalog()
			lo, hi := document(p.t, `{"p":{"$numberInt":"20"}}`), document(p.t, `{"p":{"$numberInt":"21"}}`)
			err := c.Move(p.t.Context(), "jumbo.t", lo, hi, "shard-rs-3", catalog.MoveOptions{})
			if e := status.Of(err); e == nil || e.Code != status.ChunkTooBig {
				p.t.Fatalf("moving the chunk that is too big: %v", err)
			}
			c.Mu.Lock()
			err = c.SplitOrMark("jumbo.t", lo)
			moves := c.Candidates("jumbo.t", map[string]bool{})
			c.Mu.Unlock()
			must.That(p.t, err == nil && len(moves) == moved, "got %v, %v, want %d moves", moves, err, moved)
			for _, m := range moves {
				must.Do(p.t, c.Move(p.t.Context(), m.NS, m.Min, m.Max, m.To, catalog.MoveOptions{}))
			}
			return false
		},
	}
}

func document(t *testing.T, text string) bson.Raw {
	t.Helper()
	var raw bson.Raw
	must.Do(t, bson.UnmarshalExtJSON([]byte(text), true, &raw))
	return raw
}

// insertJumboDocuments makes documents of 931 bytes, 2706 of them with the same key.
func (p *player) insertJumboDocuments() {
	p.t.Helper()
	id := int32(0)
	for _, part := range []struct{ key, n int32 }{{10, 12}, {20, 2706}, {100, 120}, {300, 120}} {
		docs := bson.A{}
		for range part.n {
			id++
			docs = append(docs, padded(bson.D{{Key: "_id", Value: id}, {Key: "p", Value: part.key}}, 931))
		}
		p.mustRun("jumbo", bson.D{{Key: "insert", Value: "t"}, {Key: "documents", Value: docs}})
	}
}

// insertNumbered inserts n documents of a size with p from 0 to n-1.
func (p *player) insertNumbered(db, coll string, n, size int) {
	p.t.Helper()
	docs := bson.A{}
	for i := range int32(n) {
		docs = append(docs, padded(bson.D{{Key: "_id", Value: i}, {Key: "p", Value: i}}, size))
	}
	p.mustRun(db, bson.D{{Key: "insert", Value: coll}, {Key: "documents", Value: docs}})
}

// padded pads a document to a number of bytes.
func padded(d bson.D, size int) bson.D {
	d = append(d, bson.E{Key: "pad", Value: ""})
	raw, _ := bson.Marshal(d)
	d[len(d)-1].Value = strings.Repeat("x", size-len(raw))
	return d
}
