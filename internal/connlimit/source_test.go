package connlimit

import (
	"fmt"
	"net/netip"
	"testing"
	"time"
)

func TestConnectionsAreLimitedInTotalAndByAddress(t *testing.T) {
	inBubble(t, Options{Max: 8, PerSource: 2}, func(h *testServer) {
		one := []*testClient{h.connect("192.0.2.1").get("/in/slow"), h.connect("192.0.2.1").get("/in/slow")}
		other := h.connect("192.0.2.2").get("/")
		h.expect("a third connection of an address with two active ones", false, h.connect("192.0.2.1"))
		h.expect("the other connections", true, one[0], one[1], other)
		_ = one[0].conn.Close()
		h.expect("the closed connection", false, one[0])
		h.expect("a connection in the place of the closed one", true, h.connect("192.0.2.1").get("/in/slow"))
		for i := range 5 {
			h.connect(fmt.Sprintf("192.0.2.%d", 10+i)).get("/in/slow")
		}
		// The ninth connection replaces the idle one; the next finds no room.
		h.expect("the ninth connection", true, h.connect("192.0.2.20").get("/in/slow"))
		h.expect("the idle connection", false, other)
		h.expect("the tenth connection", false, h.connect("192.0.2.21"))
		if s := h.l.Stats(); s.refused != (counts{byTotal: 1, bySource: 1}) || s.evicted != (counts{byTotal: 1}) || s.Open != 8 {
			t.Errorf("unexpected statistics: %+v", s)
		}
	})
}

// Whoever has one IPv6 address usually has a whole /64 network.
func TestAnAddressAtItsLimitLosesItsOwnConnections(t *testing.T) {
	for name, address := range map[string]func(i int) string{
		"IPv4":        func(int) string { return "192.0.2.1" },
		"IPv6":        func(i int) string { return fmt.Sprintf("2001:db8:1:2:%x::%x", i, i+1) },
		"mapped IPv4": func(int) string { return "::ffff:192.0.2.1" },
		"a zone":      func(i int) string { return fmt.Sprintf("fe80::%x%%eth0", i+1) },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, Options{Max: 40, PerSource: 10}, func(h *testServer) {
				neighbour := h.connect("2001:db8:1:3::1").get("/")
				v4 := h.connect("192.0.2.2").get("/")
				var all []*testClient
				for i := range 100 {
					time.Sleep(time.Millisecond)
					all = append(all, h.connect(address(i)).get("/"))
				}
				h.expect("the oldest", false, all[:90]...)
				h.expect("the newest", true, all[90:]...)
				h.expect("other sources", true, neighbour, v4)
				if s := h.l.Stats(); s.evicted != (counts{bySource: 90}) || s.Refused != 0 {
					t.Errorf("unexpected statistics: %+v", s)
				}
			})
		})
	}
}

func TestProxiesAndLoopbackHaveNoLimitOfTheirOwnButMakeRoom(t *testing.T) {
	proxies := []netip.Prefix{netip.MustParsePrefix("10.1.0.7/32"), netip.MustParsePrefix("2001:db8::7/128")}
	for _, address := range []string{"10.1.0.7", "2001:db8::7", "127.0.0.1", "127.0.0.9", "::1", "::ffff:127.0.0.1"} {
		inBubble(t, Options{Max: 20, PerSource: 2, Proxies: proxies}, func(h *testServer) {
			anna := h.connect("192.0.2.1").get("/in")
			var all []*testClient
			for range 50 {
				time.Sleep(time.Millisecond)
				all = append(all, h.connect(address).get("/"))
			}
			h.expect(address+", newest", true, all[32:]...)
			h.expect(address+", oldest", false, all[:30]...)
			// Idle connections of a proxy can serve anybody, so they rank like those of
			// signed-in people.
			proxy := h.l.isProxy(netip.MustParseAddr(address).Unmap())
			h.expect("the signed-in person at "+address, !proxy, anna)
			if s := h.l.Stats(); s.evicted[bySource] != 0 || s.Refused != 0 {
				t.Errorf("unexpected statistics: %+v", s)
			}
		})
	}
	inBubble(t, Options{Max: 20, PerSource: 2, Proxies: proxies}, func(h *testServer) {
		for i := range 4 {
			h.connect(fmt.Sprintf("2001:db8::%x", 8+i)).get("/")
		}
		if s := h.l.Stats(); s.evicted != (counts{bySource: 2}) {
			t.Errorf("with a proxy: %+v", s)
		}
	})
}

// A connection of a proxy carries requests of many people, so one signed-in request says
// nothing about the next.
func TestAConnectionOfAProxyIsSignedInForOneRequest(t *testing.T) {
	inBubble(t, Options{Max: 2, PerSource: 2, Proxies: []netip.Prefix{netip.MustParsePrefix("10.1.0.7/32")}}, func(h *testServer) {
		one, two := h.connect("10.1.0.7").get("/in"), h.connect("10.1.0.7").get("/in")
		one.startPost("/body") // an anonymous body that never arrives
		two.get("/in/slow")
		time.Sleep(5 * time.Second)
		three := h.connect("10.1.0.7").get("/in")
		h.expect("a stranger's request", false, one)
		h.expect("requests of people who are signed in", true, two, three)
	})
}
