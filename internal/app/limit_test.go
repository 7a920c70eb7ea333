package app

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"testing"
)

// offered is a listener whose connections come from a channel.
type offered struct {
	conns chan net.Conn
}

func (o offered) Accept() (net.Conn, error) {
	c, ok := <-o.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}
func (o offered) Close() error   { return nil }
func (o offered) Addr() net.Addr { return &net.TCPAddr{} }

type from struct {
	net.Conn
	addr string
}

func (f from) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(f.addr), 4000))
}

// offer gives the listener a connection from an address.
func offer(t *testing.T, b *bounded, o offered, addr string) net.Conn {
	t.Helper()
	ours, _ := net.Pipe()
	o.conns <- from{ours, addr}
	conn, err := b.Accept()
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

func TestConnectionsAreBoundedInAllAndByAddress(t *testing.T) {
	o := offered{make(chan net.Conn, 1)}
	b := bound(o, 4, 2)
	var open []net.Conn
	for _, addr := range []string{"192.0.2.1", "192.0.2.1", "192.0.2.2"} {
		open = append(open, offer(t, b, o, addr))
	}
	if b.admit(netip.MustParseAddr("192.0.2.1")) {
		t.Error("a third connection of one address was let in")
	}
	for range 2 { // closing twice gives one place back
		if err := open[0].Close(); err != nil && err != io.ErrClosedPipe {
			t.Fatal(err)
		}
	}
	if b.Open() != 2 {
		t.Errorf("%d open", b.Open())
	}
	for range 2 { // loopback is bounded as a whole only
		if !b.admit(netip.MustParseAddr("127.0.0.1")) {
			t.Error("loopback is bounded by address")
		}
	}
	if b.admit(netip.MustParseAddr("192.0.2.9")) || b.Refused() != 2 {
		t.Errorf("a fifth connection was let in; %d refused", b.Refused())
	}
	refused, theirs := net.Pipe()
	o.conns <- from{refused, "192.0.2.9"}
	close(o.conns)
	if _, err := b.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("one too many was given out: %v", err)
	}
	if _, err := theirs.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("one too many is left open: %v", err)
	}
}
