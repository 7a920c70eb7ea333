package app

import (
	"net"
	"net/netip"
	"slices"
	"sync"
)

// Bounds of open connections: of all browsers together, and of those that come
// from one address. A proxy in front has one address too, so the second bound
// spares the known proxies and loopback, where it would say nothing.
const (
	maxConnections = 1024
	maxFromOne     = 256
)

// bounded accepts at most so many connections at a time. One too many is closed
// at once instead of being left to wait: a queue that strangers have filled
// would keep everybody else out for as long as they like, and whoever is closed
// knows at once.
type bounded struct {
	net.Listener
	all, fromOne int
	proxies      []netip.Prefix

	mu     sync.Mutex
	open   int
	remote map[netip.Addr]int
	turned int64 // closed because there were too many
}

func bound(l net.Listener, all, fromOne int, proxies ...netip.Prefix) *bounded {
	return &bounded{Listener: l, all: all, fromOne: fromOne, proxies: proxies, remote: map[netip.Addr]int{}}
}

// shared tells whether an address is that of many people.
func (b *bounded) shared(from netip.Addr) bool {
	return !from.IsValid() || from.IsLoopback() ||
		slices.ContainsFunc(b.proxies, func(p netip.Prefix) bool { return p.Contains(from) })
}

// Accept gives the next connection that is within the bounds.
func (b *bounded) Accept() (net.Conn, error) {
	for {
		conn, err := b.Listener.Accept()
		if err != nil {
			return nil, err
		}
		from := remoteOf(conn)
		if b.admit(from) {
			return &counted{Conn: conn, leave: sync.OnceFunc(func() { b.leave(from) })}, nil
		}
		_ = conn.Close() // nothing was promised to whoever that is
	}
}

// Refused is how many connections were closed for being too many.
func (b *bounded) Refused() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.turned
}

// Open is how many connections are open.
func (b *bounded) Open() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.open
}

func (b *bounded) admit(from netip.Addr) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	shared := b.shared(from)
	if b.open >= b.all || !shared && b.remote[from] >= b.fromOne {
		b.turned++
		return false
	}
	b.open++
	if !shared {
		b.remote[from]++
	}
	return true
}

func (b *bounded) leave(from netip.Addr) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open--
	switch n := b.remote[from]; {
	case n > 1:
		b.remote[from] = n - 1
	case n == 1:
		delete(b.remote, from)
	}
}

func remoteOf(conn net.Conn) netip.Addr {
	tcp, ok := conn.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return tcp.AddrPort().Addr().Unmap().WithZone("") // no network has a zone
}

// counted gives its place back once, however often it is closed.
type counted struct {
	net.Conn
	leave func()
}

func (c *counted) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
