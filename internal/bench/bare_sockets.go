package bench

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"time"
)

// ServeBare is the least that a server of live sockets can do: it takes each connection
// over and, twice a second, writes as many bytes to all in a bare loop. What its updates
// take from the first socket to the last is this machine's share, the browsers' included.
func ServeBare(ctx context.Context, l net.Listener, bytes int) error {
	b := bareServer{}
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	defer b.close()
	go b.writeAll(ctx, bytes)
	for {
		conn, err := l.Accept()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		go b.take(conn)
	}
}

const bareEvery = 500 * time.Millisecond

type bareServer struct {
	mu    sync.Mutex
	conns []net.Conn
}

// take answers a handshake. Nothing else is read: no one pings.
func (b *bareServer) take(conn net.Conn) {
	if _, err := http.ReadRequest(bufio.NewReader(conn)); err != nil {
		_ = conn.Close()
		return
	}
	if _, err := io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"); err != nil {
		_ = conn.Close()
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.conns = append(b.conns, conn)
}

func (b *bareServer) writeAll(ctx context.Context, bytes int) {
	for wait(ctx, bareEvery) == nil {
		frame := bareFrame(bytes)
		b.mu.Lock()
		all := slices.Clone(b.conns)
		b.mu.Unlock()
		var loops sync.WaitGroup
		for part := range slices.Chunk(all, len(all)/runtime.GOMAXPROCS(0)+1) {
			loops.Go(func() {
				for _, conn := range part {
					_, _ = conn.Write(frame) // one that is gone is seen by the browsers' side
				}
			})
		}
		loops.Wait()
	}
}

// bareFrame is a text frame that no frame before was like.
func bareFrame(size int) []byte {
	size = min(max(size, shortFrame+1), largestFrame)
	frame := make([]byte, 4+size)
	_, _ = rand.Read(frame[4:]) // never fails
	frame[0], frame[1] = 0x81, 126
	binary.BigEndian.PutUint16(frame[2:4], uint16(size))
	return frame
}

func (b *bareServer) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, conn := range b.conns {
		_ = conn.Close()
	}
}
