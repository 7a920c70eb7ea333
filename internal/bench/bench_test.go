package bench

import (
	"bufio"
	"bytes"
	"context"
	"net"
	"testing"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

func TestBoundsOfMemoryFollowTheNumberOfChunks(t *testing.T) {
	for chunks, want := range map[int]float64{1000: 300, 1_000_000: 300, 10_000_000: 1000} {
		if got := memoryBound(chunks); got != want {
			t.Errorf("%d chunks may take %v MB, want %v", chunks, got, want)
		}
	}
}

func TestAFigureOverItsBoundIsNotOK(t *testing.T) {
	var r Report
	r.add("within", 5, "ms", 5, "")
	r.add("over", 5.1, "ms", 5, "")
	r.unknown("not measured", "")
	r.tell("without a bound", 1e9, "s", "")
	for i, want := range []bool{true, false, true, true} {
		if f := r.Figures[i]; f.OK() != want {
			t.Errorf("%s: ok is %v", f.Name, f.OK())
		}
	}
}

func TestFramesOfEverySizeAreRead(t *testing.T) {
	for _, size := range []int{0, 125, 126, 5000} {
		payload := bytes.Repeat([]byte("x"), size)
		head := []byte{0x81, byte(size)}
		if size > 125 {
			head = []byte{0x81, 126, byte(size >> 8), byte(size)}
		}
		in := bufio.NewReaderSize(bytes.NewReader(append(head, payload...)), largestFrame)
		op, got, err := readFrame(in)
		if err != nil || op != 1 || !bytes.Equal(got, payload) {
			t.Errorf("a frame of %d bytes: op %d, %d bytes, %v", size, op, len(got), err)
		}
	}
}

func TestUpdatesOfABareLoopReachAllSockets(t *testing.T) {
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- ServeBare(ctx, l, 4000) }()
	done, open := make(chan struct{}), 0
	ready := func(n int) {
		open = n
		time.AfterFunc(2*bareEvery+bareEvery/2, func() { close(done) })
	}
	seen, err := Follow(ctx, SocketRun{Addr: l.Addr().String(), Topic: topic, Sockets: 20, Ready: ready, Done: done})
	cancel()
	if err != nil || open != 20 || seen.Open != 20 || seen.Lost != 0 || seen.Updates == 0 || seen.Bytes != 4000 {
		t.Errorf("%d open, %+v, %v", open, seen, err)
	}
	expect.NoError(t, <-served, "the end")
}

// Other programs read every chunk to count them, so their cost grows with the chunks.
func TestPeersExamineEveryChunk(t *testing.T) {
	const chunks = 2000
	var r Report
	must.Do(t, measurePeers(t.Context(), &r, 30, chunks))
	must.That(t, len(r.Figures) == 6, "%d figures: %+v", len(r.Figures), r.Figures)
	for i, least := range []float64{chunks, chunks, 4 * 3 * chunks} {
		if cost, ratio := *r.Figures[2*i].Value, *r.Figures[2*i+1].Value; cost < least || ratio != 1000*30/cost {
			t.Errorf("%s: %v, ratio %v; at least %v", r.Figures[2*i].Name, cost, ratio, least)
		}
	}
}
