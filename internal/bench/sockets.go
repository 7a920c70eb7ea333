package bench

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Spread is how long the updates of a live topic took to reach all sockets.
type Spread struct {
	Open    int         `json:"open"`    // sockets that were open at the end
	Lost    int         `json:"lost"`    // closed by the server, or never opened
	Reason  string      `json:"reason"`  // why the first of those
	Updates int         `json:"updates"` // that reached every socket
	Missed  int         `json:"missed"`  // updates that did not
	Millis  []float64   `json:"millis"`  // from the first socket to the last, one for each update
	P99     float64     `json:"p99"`     // milliseconds from the first socket of an update to 99 % of all arrivals; 0: none arrived
	Opened  float64     `json:"opened"`  // seconds from the first connection until all were open
	Bytes   int         `json:"bytes"`   // of an update
	Ends    []time.Time `json:"ends"`    // when the updates had reached all sockets, in order
}

// SocketRun is what Follow does.
type SocketRun struct {
	Addr    string // host:port of the server
	Topic   string
	Sockets int
	Stalled int             // further sockets that are opened before and never read
	Settle  time.Duration   // from when all are open until updates count: each gets the newest version at first
	Ready   func(open int)  // called when all are open
	Done    <-chan struct{} // follows until this is closed
}

// Settled is long enough for the first versions of thousands of sockets.
const Settled = 3 * time.Second

// Follow opens sockets, as so many browsers do, and notes when each of them has which update.
func Follow(ctx context.Context, run SocketRun) (Spread, error) {
	f := follower{arrivals: map[uint64]*arrival{}, seed: maphash.MakeSeed()}
	var all sync.WaitGroup
	opening := make(chan struct{}, 32)
	var open sync.WaitGroup
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for range run.Stalled {
		conn, _, err := upgrade(ctx, run)
		if err != nil {
			return Spread{}, err
		}
		defer conn.Close()
	}
	begun := time.Now()
	for range run.Sockets {
		opening <- struct{}{}
		open.Add(1)
		all.Go(func() {
			opened := sync.OnceFunc(func() {
				<-opening
				open.Done()
			})
			defer opened()
			err := f.follow(ctx, run, opened)
			if ctx.Err() == nil {
				f.lose(err)
			}
		})
	}
	open.Wait()
	f.spread.Opened = time.Since(begun).Seconds()
	if err := wait(ctx, run.Settle); err != nil {
		return Spread{}, err
	}
	f.begin()
	run.Ready(run.Sockets - f.spread.Lost)
	select {
	case <-run.Done:
	case <-ctx.Done():
	}
	out := f.result(run.Sockets)
	cancel()
	all.Wait()
	return out, nil
}

// follower notes when updates arrive.
type follower struct {
	mu       sync.Mutex
	seed     maphash.Seed
	arrivals map[uint64]*arrival // by the hash of an update, since all sockets are open
	begun    bool
	spread   Spread
}

type arrival struct {
	first, last time.Time
	sockets     int
	after       []float64 // milliseconds from the first to each
}

func (f *follower) begin() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.begun = true
}

func (f *follower) lose(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.spread.Lost++
	if f.spread.Reason == "" && err != nil {
		f.spread.Reason = err.Error()
	}
}

func (f *follower) note(update uint64, size int) {
	now := time.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.begun {
		return
	}
	a := f.arrivals[update]
	if a == nil {
		a = &arrival{first: now}
		f.arrivals[update] = a
	}
	a.last = now
	a.sockets++
	a.after = append(a.after, float64(now.Sub(a.first).Microseconds())/1000)
	f.spread.Bytes = size
}

func (f *follower) result(sockets int) Spread {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := f.spread
	out.Open = sockets - out.Lost
	var after []float64
	for v, a := range f.arrivals {
		switch {
		case a.sockets >= out.Open:
			out.Updates++
			out.Ends = append(out.Ends, a.last)
			out.Millis = append(out.Millis, float64(a.last.Sub(a.first).Microseconds())/1000)
		case time.Since(a.last) > time.Second:
			out.Missed++
		}
		after = append(after, a.after...)
		delete(f.arrivals, v)
	}
	if slices.Sort(after); len(after) > 0 {
		out.P99 = after[len(after)*99/100]
	}
	slices.Sort(out.Millis)
	slices.SortFunc(out.Ends, time.Time.Compare)
	return out
}

// upgrade opens a live socket.
func upgrade(ctx context.Context, run SocketRun) (conn net.Conn, in *bufio.Reader, err error) {
	if conn, err = (&net.Dialer{Timeout: time.Minute}).DialContext(ctx, "tcp", run.Addr); err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			_ = conn.Close()
		}
	}()
	in = bufio.NewReaderSize(conn, largestFrame)
	if _, err := fmt.Fprintf(conn, "GET /live?t=%s HTTP/1.1\r\nHost: %s\r\nOrigin: http://%[2]s\r\nConnection: Upgrade\r\n"+
		"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Extensions: permessage-deflate\r\n"+
		"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n", run.Topic, run.Addr); err != nil {
		return conn, in, err
	}
	res, err := http.ReadResponse(in, nil)
	if err == nil && res.StatusCode != http.StatusSwitchingProtocols {
		err = errors.New(res.Status)
	}
	return conn, in, err
}

// follow is one browser: it reads frames until the context ends.
func (f *follower) follow(ctx context.Context, run SocketRun, opened func()) error {
	conn, in, err := upgrade(ctx, run)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	opened()
	for {
		op, payload, err := readFrame(in)
		if err != nil {
			return err
		}
		switch op {
		case 8:
			return errors.New("closed by the server")
		case 9:
			if _, err := conn.Write([]byte{0x8a, 0x80, 0, 0, 0, 0}); err != nil { // an empty pong
				return err
			}
		case 1:
			if len(payload) > shortFrame {
				f.note(maphash.Bytes(f.seed, payload), len(payload))
			}
		}
		if _, err := in.Discard(len(payload)); err != nil {
			return err
		}
	}
}

// shortFrame is more than a frame about the age of the data takes. Longer ones are updates,
// which are the same bytes for all.
const shortFrame = 700

// largestFrame fits into the buffer of a socket.
const largestFrame = 32 << 10

// readFrame reads a frame of the server, which is not masked. The payload is still in the
// buffer: discard it.
func readFrame(in *bufio.Reader) (op byte, payload []byte, err error) {
	var h [10]byte
	if _, err := io.ReadFull(in, h[:2]); err != nil {
		return 0, nil, err
	}
	size := int(h[1] & 0x7f)
	switch size {
	case 126:
		_, err = io.ReadFull(in, h[2:4])
		size = int(binary.BigEndian.Uint16(h[2:4]))
	case 127:
		_, err = io.ReadFull(in, h[2:10])
		size = int(min(binary.BigEndian.Uint64(h[2:10]), largestFrame+1))
	}
	if err != nil {
		return 0, nil, err
	}
	payload, err = in.Peek(size)
	return h[0] & 0x0f, payload, err
}
