package live

import (
	"errors"
	"net"
	"sync"
	"syscall"
	"time"
)

// directConn is a connection whose Write never waits: what the kernel does not take at
// once is kept, and flush sends it. So one goroutine can write to thousands of browsers,
// and none of them needs a goroutine or a buffer of its own for it.
type directConn struct {
	net.Conn
	raw syscall.RawConn

	mu       sync.Mutex
	rest     []byte // not taken by the kernel
	flushing bool   // flush is sending
}

// maxRest bounds what is kept besides one frame: answers to pings of a browser that does
// not read.
const maxRest = 64 << 10

var errTooFarBehind = errors.New("the browser does not read")

// newDirectConn is nil for a connection that is not the kernel's own, such as TLS, which
// cannot be written to without waiting.
func newDirectConn(conn net.Conn) *directConn {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return nil
	}
	return &directConn{Conn: conn, raw: raw}
}

// SetWriteDeadline does nothing: no write waits, and flush has a deadline of its own.
func (c *directConn) SetWriteDeadline(time.Time) error { return nil }

func (c *directConn) Write(p []byte) (n int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.rest) == 0 && !c.flushing {
		if n, err = c.writeNow(p); err != nil {
			return n, err
		}
	} else if len(c.rest) > maxRest {
		return 0, errTooFarBehind
	}
	c.rest = append(c.rest, p[n:]...)
	return len(p), nil
}

// writeNow writes what the kernel takes.
func (c *directConn) writeNow(p []byte) (n int, err error) {
	closed := c.raw.Write(func(fd uintptr) bool {
		for n < len(p) && err == nil {
			var wrote int
			wrote, err = syscall.Write(int(fd), p[n:])
			n += max(0, wrote)
			if err == syscall.EINTR {
				err = nil
			}
		}
		return true // never wait
	})
	if err == syscall.EAGAIN {
		err = nil
	}
	return n, errors.Join(closed, err)
}

// behind tells whether something waits for flush.
func (c *directConn) behind() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.rest) > 0
}

// flush sends what the kernel did not take, and waits for it. One goroutine at a time.
func (c *directConn) flush(atMost time.Duration) error {
	for {
		p := c.takeRest()
		if len(p) == 0 {
			return nil
		}
		_ = c.Conn.SetWriteDeadline(time.Now().Add(atMost))
		if _, err := c.Conn.Write(p); err != nil {
			return err
		}
		_ = c.Conn.SetWriteDeadline(time.Time{})
	}
}

func (c *directConn) takeRest() (p []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, c.rest = c.rest, nil
	c.flushing = len(p) > 0
	return p
}
