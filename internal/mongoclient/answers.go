package mongoclient

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"sync/atomic"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// inOrder makes connections that end at an answer to another request than the last one. The driver takes
// whatever arrives next for the answer to what it has just sent. After an answer that a proxy repeats, each
// command would get the answer of the one before: a commit would count as done before it is.
type inOrder struct{ options.ContextDialer }

func (d inOrder) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := d.ContextDialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c}, nil
}

// Header of a message: its length, its number, the number of the request that it answers, its kind; then, in
// the kind that servers answer with, flags.
const (
	headerSize = 20
	kindMsg    = 2013
	moreToCome = 2 // a flag: another answer follows, which answers this one
)

var errOtherAnswer = errors.New("the server answered another request than the last one; the connection is closed")

// conn is a connection without TLS: the driver writes a whole message at a time.
type conn struct {
	net.Conn
	asked  atomic.Uint32 // number of the request whose answer comes next
	header [headerSize]byte
	got    int // bytes of header
	left   int // bytes of the current answer after its header
}

func (c *conn) Write(p []byte) (int, error) {
	if len(p) >= headerSize {
		c.asked.Store(binary.LittleEndian.Uint32(p[4:]))
	}
	return c.Conn.Write(p)
}

func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if !c.follow(p[:n]) {
		_ = c.Close()
		return 0, errOtherAnswer
	}
	return n, err
}

// follow reads headers in what arrives. It reports false at an answer to another request.
func (c *conn) follow(p []byte) bool {
	for len(p) > 0 {
		if c.left > 0 {
			n := min(c.left, len(p))
			c.left, p = c.left-n, p[n:]
			continue
		}
		n := copy(c.header[c.got:], p)
		c.got, p = c.got+n, p[n:]
		if c.got < headerSize {
			return true
		}
		number := func(at int) uint32 { return binary.LittleEndian.Uint32(c.header[at:]) }
		if number(8) != c.asked.Load() {
			return false
		}
		if number(12) == kindMsg && number(16)&moreToCome != 0 {
			c.asked.Store(number(4))
		}
		c.got, c.left = 0, int(number(0))-headerSize
	}
	return true
}
