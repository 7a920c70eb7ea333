package catalog

import (
	"strings"
	"testing"
	"testing/synctest"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
)

func TestJumboChunkCommandsAnswerAsTheRecordedServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newReplayer(t)
		defer p.c.Close()
		steps := readSteps(t, "jumbo")
		for _, s := range steps {
			switch s.N {
			case 3:
				p.insertJumboDocuments()
			case 14:
				p.jumboRound(steps[15])
				p.replay([]step{s}, "jumbo")
			default:
				p.replay([]step{s}, "jumbo")
			}
		}
	})
}

// insertJumboDocuments inserts the documents of the jumbo recording, which does not
// contain them: 931 bytes each, 2706 of them with the same key.
func (p *replayer) insertJumboDocuments() {
	p.c.Mu.Lock()
	defer p.c.Mu.Unlock()
	id := int32(0)
	add := func(key int32, n int) {
		for range n {
			id++
			d := bson.D{{Key: "_id", Value: id}, {Key: "p", Value: key}, {Key: "pad", Value: ""}}
			d[2].Value = strings.Repeat("x", 931-len(encode(d)))
			if err := p.insertRouted("jumbo", "t", encode(d)); err != nil {
				p.t.Fatal(err)
			}
		}
	}
	add(10, 12)
	add(20, 2706)
	add(100, 120)
	add(300, 120)
}

// jumboRound repeats what the recorded balancer did: it marks the zone's chunk jumbo
// and moves another one.
func (p *replayer) jumboRound(log step) {
	p.t.Helper()
	lo, hi := doc(p.t, `{"p":{"$numberInt":"20"}}`), doc(p.t, `{"p":{"$numberInt":"21"}}`)
	if err := p.c.Move(p.t.Context(), "jumbo.t", lo, hi, "shard-rs-3", MoveOptions{}); status.Of(err).Code != status.ChunkTooBig {
		p.t.Fatalf("got %v", err)
	}
	p.c.Mu.Lock()
	err := p.c.SplitOrMark("jumbo.t", lo)
	moves := p.c.Candidates("jumbo.t", map[string]bool{})
	p.c.Mu.Unlock()
	if err != nil || len(moves) != 1 {
		p.t.Fatalf("got %v, %v, want len 1", moves, err)
	}
	m := moves[0]
	if err := p.c.Move(p.t.Context(), m.NS, m.Min, m.Max, m.To, MoveOptions{}); err != nil {
		p.t.Fatal(err)
	}
}
