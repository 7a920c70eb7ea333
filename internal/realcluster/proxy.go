package realcluster

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Proxy stands between clients and a router. It passes everything on until it is told to cut or to
// hold. It reads the messages, so clients must use neither TLS nor compression.
type Proxy struct {
	listener net.Listener
	target   func() string
	done     sync.WaitGroup

	mu     sync.Mutex
	watch  func(command bson.Raw) // called for each command that goes through
	closed bool
	conns  map[net.Conn]struct{}
	cut    bool            // new connections are refused
	held   chan struct{}   // not nil: answers wait until it is closed
	frozen bool            // commands wait for held too
	stops  []*Interception // what waits for a command
}

// Interception holds one command on its way.
type Interception struct {
	command string
	reached chan struct{} // closed when the command, or its answer, is there
	release chan struct{} // closed by Release
	answer  bool          // hold its answer, not the command
	once    sync.Once
	dropped bool // the connection is closed instead
	taken   bool // guarded by Proxy.mu
}

// NewProxy listens on a free port. The target is asked for at each connection, because a restarted
// router may be somewhere else.
func NewProxy(target func() string) (*Proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: l, target: target, conns: make(map[net.Conn]struct{})}
	p.done.Go(p.accept)
	return p, nil
}

// Address is where clients connect.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Close ends the proxy and its connections.
func (p *Proxy) Close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	err := p.listener.Close()
	p.Restore()
	p.closeConns()
	p.done.Wait()
	return err
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.done.Go(func() { p.serve(client) })
	}
}

// serve connects a client with the target until either side closes.
func (p *Proxy) serve(client net.Conn) {
	defer client.Close()
	if !p.track(client) {
		return
	}
	defer p.untrack(client)
	server, err := net.DialTimeout("tcp", p.target(), 5*time.Second)
	if err != nil {
		return
	}
	defer server.Close()
	if !p.track(server) {
		return
	}
	defer p.untrack(server)
	answers := make(chan *Interception, 1024) // one for each request that expects an answer to be held
	both := make(chan struct{}, 2)
	go func() { p.forward(client, server, answers); both <- struct{}{} }()
	go func() { p.back(server, client, answers); both <- struct{}{} }()
	<-both
	_, _ = client.Close(), server.Close()
	<-both
}

// forward passes commands on.
func (p *Proxy) forward(client, server net.Conn, answers chan<- *Interception) {
	for {
		m, err := readMessage(client)
		if err != nil {
			return
		}
		stop := p.intercepted(nameOf(m))
		if stop != nil && !stop.answer {
			close(stop.reached)
			<-stop.release
			if stop.dropped {
				return
			}
		}
		if stop != nil && stop.answer {
			answers <- stop
		}
		if held := p.holding(true); held != nil {
			<-held
		}
		p.seen(m)
		if _, err := server.Write(m); err != nil {
			return
		}
	}
}

// Watch has a function called for each command that goes on to the router, at several connections at
// the same time.
func (p *Proxy) Watch(f func(command bson.Raw)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.watch = f
}

func (p *Proxy) seen(m []byte) {
	p.mu.Lock()
	f := p.watch
	p.mu.Unlock()
	if body := bodyOf(m); f != nil && body != nil {
		f(body)
	}
}

// back passes answers on. A connection has one command at a time, but a hello that streams its answers:
// the driver uses a connection of its own for that.
func (p *Proxy) back(server, client net.Conn, answers <-chan *Interception) {
	for {
		m, err := readMessage(server)
		if err != nil {
			return
		}
		select {
		case stop := <-answers:
			close(stop.reached)
			<-stop.release
			if stop.dropped {
				return
			}
		default:
		}
		if held := p.holding(false); held != nil {
			<-held
		}
		if _, err := client.Write(m); err != nil {
			return
		}
	}
}

func (p *Proxy) track(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.cut {
		return false
	}
	p.conns[c] = struct{}{}
	return true
}

func (p *Proxy) untrack(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
}

func (p *Proxy) closeConns() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.Close()
	}
}

// Cut closes all connections, with commands in flight on them, and refuses new ones until Restore.
func (p *Proxy) Cut() {
	p.mu.Lock()
	p.cut = true
	p.mu.Unlock()
	p.closeConns()
}

// Hold lets commands through and keeps all answers back until Restore.
func (p *Proxy) Hold() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held == nil {
		p.held = make(chan struct{})
	}
}

// Freeze keeps commands and answers back until Restore, as a router does that is stopped.
func (p *Proxy) Freeze() {
	p.Hold()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.frozen = true
}

// holding is closed when what goes one way may pass; nil if it may now.
func (p *Proxy) holding(commands bool) chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if commands && !p.frozen {
		return nil
	}
	return p.held
}

// Restore ends what Cut, Hold and the interceptions do.
func (p *Proxy) Restore() {
	p.mu.Lock()
	p.cut, p.frozen = false, false
	if p.held != nil {
		close(p.held)
		p.held = nil
	}
	stops := p.stops
	p.stops = nil
	p.mu.Unlock()
	for _, s := range stops {
		s.Release()
	}
}

// InterceptCommand holds the next command of this name before the router gets it.
func (p *Proxy) InterceptCommand(name string) *Interception { return p.intercept(name, false) }

// InterceptAnswer lets the next command of this name through and holds its answer.
func (p *Proxy) InterceptAnswer(name string) *Interception { return p.intercept(name, true) }

func (p *Proxy) intercept(name string, answer bool) *Interception {
	i := &Interception{command: name, answer: answer, reached: make(chan struct{}), release: make(chan struct{})}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stops = append(p.stops, i)
	return i
}

// intercepted takes the interception that waits for a command.
func (p *Proxy) intercepted(name string) *Interception {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := slices.IndexFunc(p.stops, func(i *Interception) bool { return i.command == name && !i.taken })
	if at < 0 || name == "" {
		return nil
	}
	p.stops[at].taken = true // stays in the list, so that Restore releases it
	return p.stops[at]
}

// Release lets the command or the answer go on.
func (i *Interception) Release() { i.once.Do(func() { close(i.release) }) }

// Drop closes the client's connection instead: the command, or the answer, never arrives.
func (i *Interception) Drop() {
	i.once.Do(func() {
		i.dropped = true
		close(i.release)
	})
}

// Wait waits until the command, or its answer, has arrived.
func (i *Interception) Wait(ctx context.Context) error {
	select {
	case <-i.reached:
		return nil
	case <-ctx.Done():
		return errors.New("the command " + i.command + " did not come")
	}
}
