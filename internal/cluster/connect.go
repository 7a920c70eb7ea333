package cluster

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	mathrand "math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"golang.org/x/sync/singleflight"

	"shardboard/internal/fault"
)

// Options configure the connection. The zero value is for production.
type Options struct {
	Dialer  options.ContextDialer // nil: TCP
	Monitor *event.CommandMonitor // called for every command; may be nil
	Timeout time.Duration         // for finding a server, and for a read whose context has no deadline; 5 s
	File    string                // the file that the address was read from, which Watch reads again; "" for none
	Log     *slog.Logger          // nil: nowhere
	Reader  Reader                // marks the reads; without a process, they get a random one of no installation
}

// Client is a connection to one cluster, which need not be reachable: every command first
// makes sure that a mongos answers. Safe for concurrent use. It implements topology.Source
// and what placement reads.
type Client struct {
	o       Options
	timeout time.Duration
	log     *slog.Logger

	mu      sync.Mutex
	address URI
	pool    *pool              // nil until the name of a mongodb+srv address was resolved
	retired map[*pool]struct{} // replaced, and still in use
	closed  bool
	opening attempts // of resolving the name
	flight  singleflight.Group

	rotation  rotation
	clusterID atomic.Pointer[string] // of the cluster that answered first; "" while it may not be read

	refusedByAtlas atomic.Bool // MongoDB Atlas refused a command

	looks         cursorLooks                // at open cursors
	load          load                       // commands sent lately
	costs         costs                      // of all commands since the start
	version       atomic.Pointer[version]    // from buildInfo
	legacy        atomic.Bool                // a collection uses the chunk format of 4.4
	ids           atomic.Pointer[shardNames] // shard names by uuid, for servers that use uuids
	lastOperation operationClock             // operationTime of our newest command
}

// Open makes a client without waiting for the cluster. It fails, with fault.Invalid, only
// for an address that can never work: an option that is not known, or a file that cannot
// be used.
func Open(uri URI, o Options) (*Client, error) {
	if uri.IsZero() {
		_, err := ParseURI("")
		return nil, err
	}
	if o.Timeout <= 0 {
		o.Timeout = 5 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Reader.Process == "" {
		o.Reader = Reader{Process: rand.Text()}
	}
	c := &Client{timeout: o.Timeout, log: o.Log, address: uri, retired: map[*pool]struct{}{}}
	o.Monitor = noteSent(c.counting(o.Monitor))
	c.o = o
	c.rotation.init(o.File, uri)
	if uri.scheme == schemeSRV { // resolving the name takes its time, and may fail
		return c, nil
	}
	p, err := c.newPool(uri)
	if err != nil {
		return nil, err
	}
	c.pool = p
	return c, nil
}

// Connect opens a client and waits until a mongos answers, for commands that end with
// their question. The error is one sentence for the user: fault.Invalid when another kind
// of server answers, fault.Forbidden when the credentials are refused, fault.Unavailable
// when there is no answer.
func Connect(ctx context.Context, uri URI, o Options) (*Client, error) {
	c, err := Open(uri, o)
	if err != nil {
		return nil, err
	}
	p, err := c.take(ctx)
	if err == nil {
		err = c.firstHello(ctx, p)
		p.release()
	}
	if err != nil {
		_ = c.Close(context.WithoutCancel(ctx))
		return nil, err
	}
	return c, nil
}

// newPool makes a driver client, which begins to look for servers and waits for none.
func (c *Client) newPool(uri URI) (*pool, error) {
	p := &pool{uri: uri, reader: c.o.Reader, look: c.look, idle: make(chan struct{})}
	p.life, p.end = context.WithCancel(context.Background())
	opts := clientOptions(uri, c.o)
	// Another kind of server may come up where a mongos was.
	opts.SetServerMonitor(p.servers.monitor(p.hello.forget, func() { p.verified.Store(false) }))
	p.tls = opts.TLSConfig != nil
	err := opts.Validate()
	if err == nil {
		p.mongo, err = mongo.Connect(opts)
	}
	switch {
	case err == nil:
		return p, nil
	// The driver's text may quote options, so it is not included. Names of mongodb+srv
	// addresses are resolved here.
	case uri.scheme == schemeSRV && strings.Contains(err.Error(), "lookup"):
		return nil, fault.NoAnswer(errors.New("lookup of the SRV record failed"), "DNS knows no MongoDB servers of %s. Correct the "+
			"host in the address, or look at the DNS of this machine.", uri.Hosts())
	}
	return nil, fault.New(fault.Invalid, "The MongoDB address is not valid; check its options.")
}

// take is the pool to use, which the caller releases. The name of a mongodb+srv address is
// resolved here for as long as that fails; from then on the driver does so.
func (c *Client) take(ctx context.Context) (*pool, error) {
	if p, err := c.current(); p != nil || err != nil {
		return p, err
	}
	done := c.flight.DoChan("open", func() (any, error) { return nil, c.resolve() })
	select {
	case r := <-done:
		if r.Err != nil {
			return nil, r.Err
		}
	case <-ctx.Done():
		return nil, c.classify(ctx, ctx.Err(), "connect", "")
	}
	return c.current()
}

func (c *Client) current() (*pool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, fault.NoAnswer(mongo.ErrClientDisconnected, "The connection to the cluster at %s is closed.", c.address.Hosts())
	}
	if c.pool != nil {
		c.pool.enter()
	}
	return c.pool, nil
}

func (c *Client) resolve() error {
	if err := c.opening.pausing(time.Now()); err != nil {
		return err
	}
	began, uri := time.Now(), c.URI()
	p, err := c.newPool(uri)
	c.opening.note(began, err)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.pool != nil { // a changed file was faster
		go p.disconnect()
		return nil
	}
	c.pool = p
	return nil
}

// use is the pool to send a command to, once its mongos was seen to be one. The caller
// releases it.
func (c *Client) use(ctx context.Context) (*pool, error) {
	p, err := c.take(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.verify(ctx, p); err != nil {
		p.release()
		return nil, err
	}
	return p, nil
}

// URI is the address; printing it shows no secrets.
func (c *Client) URI() URI {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.address
}

// hosts are those of the address, for sentences.
func (c *Client) hosts() string { return c.URI().Hosts() }

// closeTimeout limits the ending of sessions, for which the driver would wait even when
// the cluster is gone.
const closeTimeout = time.Second

// Close closes all connections, including those in use, and takes at most twice
// closeTimeout.
func (c *Client) Close(ctx context.Context) error {
	c.mu.Lock()
	var all []*pool
	if !c.closed && c.pool != nil {
		all = append(all, c.pool)
	}
	for p := range c.retired {
		all = append(all, p)
	}
	c.closed, c.retired = true, nil
	c.mu.Unlock()
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for i, p := range all {
		wg.Go(func() { errs[i] = p.close(ctx) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// maxPause is the longest pause between two attempts to reach a cluster.
const maxPause = 10 * time.Second

// attempts counts failures in a row. In the pause that follows one, its error is given at
// once: pages need not wait for what has just failed.
type attempts struct {
	mu     sync.Mutex
	failed int
	err    error
	next   time.Time
}

// pausing is the last error until the next attempt is due.
func (a *attempts) pausing(now time.Time) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if now.Before(a.next) {
		return a.err
	}
	return nil
}

// note sets the pause after an attempt: from half a second to maxPause since it began,
// with up to a quarter less, so that several shardboards do not ask at the same moment.
func (a *attempts) note(began time.Time, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.err = err; err == nil {
		a.failed, a.next = 0, time.Time{}
		return
	}
	pause := min(time.Second/2<<min(a.failed, 10), maxPause)
	a.failed++
	a.next = began.Add(pause - time.Duration(mathrand.Int64N(int64(pause/4))))
}

// forget ends the pause.
func (a *attempts) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.failed, a.next = 0, time.Time{}
}
