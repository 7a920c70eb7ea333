package app

import (
	"context"
	"log/slog"
	"net/netip"
	"testing"
)

// TestAKnownProxysConnectionsAreThoseOfManyPeople: from one address like those
// of a stranger, and bounded as a whole only.
func TestAKnownProxysConnectionsAreThoseOfManyPeople(t *testing.T) {
	c := Config{Listen: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler),
		Auth: Auth{Mode: "local", ProxyCIDRs: []string{"192.0.2.0/28", "2001:db8::7"}}}
	a := &App{log: c.Log, ends: cleanup{log: c.Log}}
	defer func() {
		if err := a.ends.run(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	if err := a.open(c); err != nil {
		t.Fatal(err)
	}
	listener, ok := a.listener.(*bounded)
	if !ok {
		t.Fatalf("connections are not bounded by %T", a.listener)
	}
	admitted := func(from string, ask int) (n int) {
		addr := netip.MustParseAddr(from)
		for range ask {
			if listener.admit(addr) {
				n++
			}
		}
		for range n {
			listener.leave(addr)
		}
		return n
	}
	for from, want := range map[string]int{
		"192.0.2.7": maxConnections, "2001:db8::7": maxConnections, // known
		"192.0.2.16": maxFromOne, "2001:db8::8": maxFromOne, // beside it
	} {
		if n := admitted(from, 2*maxConnections); n != want {
			t.Errorf("%d connections of %s, want %d", n, from, want)
		}
	}
	if n := listener.Open(); n != 0 {
		t.Errorf("%d are open", n)
	}
}
