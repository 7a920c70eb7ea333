package connlimit

import (
	"context"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"shardboard/internal/fixture/expect"
)

func TestTheLeastUsefulConnectionIsClosedFirst(t *testing.T) {
	inBubble(t, Options{Max: 8, PerSource: 8}, func(h *testServer) {
		signedIn := h.connect("192.0.2.1").get("/in")
		body := h.connect("192.0.2.2").startPost("/body") // the body never arrives
		half := h.connect("192.0.2.3").send("GET / HTTP/1.1\r\nHost: loc")
		nothing := h.connect("192.0.2.4")
		idle := h.connect("192.0.2.5").get("/")
		at := h.connect("192.0.2.6").get("/in/slow")
		posting := h.connect("192.0.2.7").startPost("/in/body")
		socket := h.connect("192.0.2.8").get("/in/socket")
		time.Sleep(6 * time.Second)
		order := []*testClient{idle, half, nothing, body, signedIn}
		var later []*testClient
		for i, next := range order {
			h.expect("connections of higher rank", true, order[i:]...)
			later = append(later, h.connect("192.0.2.9").get("/in/slow"))
			h.expect("the connection of the lowest rank", false, next)
		}
		h.expect("requests of signed-in people", true, append(later, at, posting, socket)...)
		refused := h.connect("192.0.2.9")
		h.expect("a new connection without a place", false, refused)
		h.expect("the other connections", true, append(later, at, posting, socket)...)
		if s := h.l.Stats(); s.Evicted != 5 || s.Refused != 1 || s.refused[byTotal] != 1 {
			t.Errorf("unexpected statistics: %+v", s)
		}
	})
}

func TestANewConnectionIsProtectedForASecond(t *testing.T) {
	inBubble(t, Options{Max: 16, PerSource: 16}, func(h *testServer) {
		var people []*testClient
		for i := range 13 {
			people = append(people, h.connect(fmt.Sprintf("192.0.2.%d", i)).get("/in"))
		}
		var honest []*testClient
		for range 3 { // during a slow handshake
			honest = append(honest, h.connect("198.51.100.1"))
		}
		time.Sleep(900 * time.Millisecond)
		next := h.connect("198.51.100.2")
		h.expect("new ones", true, append(honest, next)...)
		h.expect("who was idle for longest", false, people[0])
		time.Sleep(100 * time.Millisecond)
		h.connect("198.51.100.2")
		h.expect("a connection without a request for a second", false, honest[0])
		h.expect("the other connections", true, people[1:]...)
	})
}

// If each new connection kept a second of grace, a thousand a second would hold every
// place.
func TestNewConnectionsAreNotProtectedDuringAFlood(t *testing.T) {
	inBubble(t, Options{Max: 16, PerSource: 16}, func(h *testServer) {
		var people, flood []*testClient
		for i := range 8 {
			people = append(people, h.connect(fmt.Sprintf("192.0.2.%d", i)).get("/in"))
		}
		for i := range 200 {
			flood = append(flood, h.connect(fmt.Sprintf("198.51.100.%d", i)))
		}
		h.expect("people", true, people...)
		expect.Equal(t, h.connect("192.0.2.99").get("/in").answerCount(), 1,
			"a new connection of a person is not answered")
		h.expect("people", true, people...)
		for i := range 200 { // bodies that never arrive, from many addresses
			flood = append(flood, h.connect(fmt.Sprintf("203.0.113.%d", i)).startPost("/body"))
		}
		expect.Equal(t, h.connect("192.0.2.99").get("/in").answerCount(), 1,
			"a new connection of a person is not answered during slow bodies")
		h.expect("people", true, people...)
		if s := h.l.Stats(); s.Refused != 0 {
			t.Errorf("unexpected statistics: %+v", s)
		}
		_ = flood
	})
}

// A sign-in takes a second when many happen at once.
func TestAFloodFromFewAddressesDoesNotInterruptSignIn(t *testing.T) {
	inBubble(t, Options{Max: 64, PerSource: 32}, func(h *testServer) {
		signing := h.connect("192.0.2.2").startPost("/body")
		time.Sleep(900 * time.Millisecond)
		for i := range 300 {
			time.Sleep(time.Millisecond)
			h.connect(fmt.Sprintf("198.51.100.%d", i%3))
		}
		h.expect("a sign-in under way", true, signing)
		expect.Equal(t, signing.send("123456789").answerCount(), 1, "the sign-in was not answered")
		if s := h.l.Stats(); s.Refused != 0 || s.Open != 64 {
			t.Errorf("unexpected statistics: %+v", s)
		}
	})
}

func TestIdleAnonymousConnectionsAreClosedEarly(t *testing.T) {
	proxies := []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}
	inBubble(t, Options{Max: 16, PerSource: 16, StrangerIdle: 10 * time.Second, Proxies: proxies}, func(h *testServer) {
		anna := h.connect("192.0.2.1").get("/in")
		proxy := h.connect("10.1.2.3").get("/")
		first := h.connect("192.0.2.2").get("/")
		time.Sleep(4 * time.Second)
		second := h.connect("192.0.2.3").get("/")
		time.Sleep(6 * time.Second)
		h.expect("idle for ten seconds", false, first)
		h.expect("signed in, and idle for six", true, anna, second)
		second.send("GET / H") // does not restart the idle time
		time.Sleep(4 * time.Second)
		h.expect("idle for ten seconds", false, second)
		third := h.connect("192.0.2.4").get("/slow")
		time.Sleep(time.Minute) // active, not idle
		h.expect("just answered", true, third)
		time.Sleep(10 * time.Second)
		h.expect("idle again", false, third)
		time.Sleep(5 * time.Minute)
		h.expect("signed in, and a proxy's", true, anna, proxy)
		if s := h.l.Stats(); s.Evicted != 0 || s.Open != 2 {
			t.Errorf("unexpected statistics: %+v", s)
		}
	})
}

// Browsers open connections ahead of need; net/http alone waits five seconds for such a connection.
func TestAShutdownDoesNotWaitForConnectionsWithoutARequest(t *testing.T) {
	inBubble(t, Options{Max: 10, PerSource: 10}, func(h *testServer) {
		silent := h.connect("10.0.0.1")
		begin := time.Now()
		if err := h.http.Shutdown(context.Background()); err != nil || time.Since(begin) > time.Second {
			t.Errorf("the shutdown took %v, %v", time.Since(begin), err)
		}
		h.expect("after the shutdown", false, silent)
	})
}

func TestAShutdownWaitsForRequests(t *testing.T) {
	inBubble(t, Options{Max: 10, PerSource: 10}, func(h *testServer) {
		slow := h.connect("10.0.0.1").get("/slow")
		h.connect("10.0.0.2")
		begin := time.Now()
		if err := h.http.Shutdown(context.Background()); err != nil || time.Since(begin) < time.Minute {
			t.Errorf("the shutdown took %v, %v; the request takes a minute", time.Since(begin), err)
		}
		expect.Equal(t, slow.answerCount(), 1, "the request was not answered")
	})
}

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
