package app

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"testing"
	"time"
)

// channelListener is a listener whose connections come from a channel.
type channelListener struct {
	net.Listener
	conns chan net.Conn
}

func (o channelListener) Accept() (net.Conn, error) {
	if c, ok := <-o.conns; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

type connFrom struct {
	net.Conn
	addr netip.Addr
}

func (f connFrom) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.AddrPortFrom(f.addr, 4000))
}

// Many people share the address of a proxy, so only the total limit applies to it.
func TestAKnownProxyHasNoLimitPerAddress(t *testing.T) {
	c := Config{Listen: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler),
		Auth: Auth{Mode: "local", ProxyCIDRs: []string{"192.0.2.0/28", "2001:db8::7"}}}
	a := &App{log: c.Log, cleanup: cleanup{log: c.Log}}
	defer func() {
		if err := a.cleanup.run(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	if err := a.checkAndBind(c); err != nil {
		t.Fatal(err)
	}
	if a.listener.Max() != 1024 || a.listener.PerSource() != 256 {
		t.Errorf("the limits are %d in total and %d per address, expected 1024 and 256", a.listener.Max(), a.listener.PerSource())
	}
	// No server handles the connections, so all are new and protected by their grace period.
	for address, want := range map[string]int{
		"192.0.2.7": 1024, "2001:db8::7": 1024, // known proxies
		"192.0.2.16": 256, "2001:db8:0:1::8": 256, // addresses next to them
	} {
		const ask = 1100
		o := channelListener{a.listener.Listener, make(chan net.Conn, ask)}
		a.listener.Listener = o
		for range ask {
			ours, theirs := net.Pipe()
			go func() { _, _ = io.Copy(io.Discard, ours); _ = ours.Close() }()
			o.conns <- connFrom{theirs, netip.MustParseAddr(address)}
		}
		close(o.conns)
		var got []net.Conn
		for conn, err := a.listener.Accept(); err == nil; conn, err = a.listener.Accept() {
			got = append(got, conn)
		}
		if n := a.listener.Stats().Open; n != want {
			t.Errorf("%d connections of %s, want %d", n, address, want)
		}
		for _, conn := range got {
			_ = conn.Close()
		}
		a.listener.Listener = o.Listener
	}
	if n := a.listener.Stats().Open; n != 0 {
		t.Errorf("%d connections are still open", n)
	}
}

// With TLS by a proxy on this machine, loopback counts as a proxy without an option,
// because all connections come through it and its idle ones must stay open.
func TestLoopbackIsAProxyWhenAProxyTerminatesTLS(t *testing.T) {
	for byProxy, want := range map[bool]int{true: 2, false: 0} {
		bounds, err := (Config{TLSByProxy: byProxy, MaxConnections: 100}).connectionBounds()
		if err != nil {
			t.Fatal(err)
		}
		if len(bounds.Proxies) != want || bounds.Max != 100 || bounds.PerSource != 25 || bounds.StrangerIdle != 10*time.Second {
			t.Errorf("TLS by a proxy %v: %+v", byProxy, bounds)
		}
	}
}
