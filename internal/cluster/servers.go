package cluster

import (
	"slices"
	"strings"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"

	"shardboard/internal/natural"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// servers is what the driver's monitors know of the servers of an address.
type servers struct {
	mu    sync.Mutex
	list  map[string]*server // by host:port
	other *mongod            // a server that is not a mongos; nil while none answered as such
}

// server is one address that the driver looks at.
type server struct {
	up      bool
	since   time.Time // of up, or of the first failure after it; zero: not asked yet
	failure string    // the driver's text
}

// kinds of servers in the driver's events.
const (
	kindMongos       = "Mongos"
	kindLoadBalancer = "LoadBalancer"
	kindArbiter      = "RSArbiter"
	kindGhost        = "RSGhost"
	kindUnknown      = "Unknown"
)

// monitor keeps the list and reports when the first server is up and when all are lost.
// The driver calls it while it holds its own locks.
func (s *servers) monitor(found, lost func()) *event.ServerMonitor {
	return &event.ServerMonitor{
		ServerDescriptionChanged: func(e *event.ServerDescriptionChangedEvent) { s.describe(e.NewDescription) },
		TopologyDescriptionChanged: func(e *event.TopologyDescriptionChangedEvent) {
			switch was, is := s.set(e.NewDescription.Servers); {
			case is == 0:
				lost()
			case was == 0:
				found()
			}
		},
		ServerHeartbeatFailed: func(e *event.ServerHeartbeatFailedEvent) {
			addr, _, _ := strings.Cut(e.ConnectionID, "[")
			s.fail(addr, e.Failure)
		},
	}
}

// describe notes servers that are no mongos: of a replica set the driver forgets the
// address that it was given, for those that the members tell.
func (s *servers) describe(d event.ServerDescription) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch d.Kind {
	case kindMongos, kindLoadBalancer:
		s.other = nil
	case kindUnknown, "":
	default:
		s.other = &mongod{set: d.SetName, arbiter: d.Kind == kindArbiter, uninitiated: d.Kind == kindGhost}
	}
}

// set takes the list over and counts the servers that were and are up.
func (s *servers) set(all []event.ServerDescription) (was, up int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.list {
		if x.up {
			was++
		}
	}
	next := make(map[string]*server, len(all))
	for _, d := range all {
		addr := string(d.Addr)
		x := s.list[addr]
		if x == nil {
			x = &server{}
		}
		is := d.Kind != kindUnknown && d.Kind != ""
		if is {
			up++
		}
		if is != x.up {
			x.up, x.since, x.failure = is, time.Now(), ""
		}
		next[addr] = x
	}
	s.list = next
	return was, up
}

func (s *servers) fail(addr string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.list[addr]
	if x == nil || err == nil {
		return
	}
	if x.since.IsZero() {
		x.since = time.Now()
	}
	x.failure = err.Error()
}

func (s *servers) otherKind() *mongod {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.other
}

// endpoints are the servers by name.
func (s *servers) endpoints(tls bool) []topology.Endpoint {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]topology.Endpoint, 0, len(s.list))
	for addr, x := range s.list {
		e := topology.Endpoint{Address: sanitize.Line(addr), Up: x.up, Since: x.since}
		if !x.up && x.failure != "" {
			e.Reason = connectAdvice(x.failure, tls)
		}
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b topology.Endpoint) int { return natural.Compare(a.Address, b.Address) })
	return out
}

// Connection tells which servers of the address answer, and whether a changed file with
// the address is in use. It sends nothing.
func (c *Client) Connection() topology.Connection {
	c.mu.Lock()
	p := c.pool
	out := topology.Connection{Address: c.address.Hosts()}
	c.mu.Unlock()
	out.FileError, out.Replaced = c.rotation.report()
	if p != nil {
		out.Endpoints = p.servers.endpoints(p.tls)
	}
	return out
}
