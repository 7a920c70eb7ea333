package cluster

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/fault"
)

// Options say how to connect. The zero value is right outside of tests.
type Options struct {
	Dialer  options.ContextDialer // nil: TCP
	Monitor *event.CommandMonitor // sees every command; nil: nobody
	Timeout time.Duration         // for finding a server, and for a read whose context has no deadline; 5 s
}

// Client is a connection pool to one cluster. Safe for concurrent use. It
// implements topology.Source and what placement reads.
type Client struct {
	uri     URI
	timeout time.Duration
	mongo   *mongo.Client

	load          load                       // commands sent lately
	version       atomic.Pointer[version]    // what buildInfo said
	legacy        atomic.Bool                // some collection has the chunk format of 4.4
	ids           atomic.Pointer[shardNames] // shards by uuid, for servers that refer to them so
	lastOperation operationClock             // when the newest of our commands took effect
}

// Connect opens a pool and makes sure that a mongos answers. The error is one
// clear sentence: fault.Invalid when something else answers, fault.Forbidden
// when the user is refused, fault.Unavailable when nobody answers.
func Connect(ctx context.Context, uri URI, o Options) (*Client, error) {
	if uri.IsZero() {
		_, err := ParseURI("")
		return nil, err
	}
	if o.Timeout <= 0 {
		o.Timeout = 5 * time.Second
	}
	c := &Client{uri: uri, timeout: o.Timeout}
	o.Monitor = c.counting(o.Monitor)
	opts := clientOptions(uri, o)
	if err := opts.Validate(); err != nil {
		// Only here a mongodb+srv address has asked DNS. The driver's text may quote
		// options: it stays out.
		if strings.Contains(err.Error(), "lookup") {
			return nil, fault.New(fault.Unavailable, "DNS knows no MongoDB servers of %s.", uri.Hosts())
		}
		return nil, fault.New(fault.Invalid, "The MongoDB address is not valid; check its options.")
	}
	var err error
	if c.mongo, err = mongo.Connect(opts); err != nil {
		return nil, c.classify(ctx, err, "connect", "")
	}
	if err := c.firstHello(ctx); err != nil {
		if fault.Of(err) == fault.Unavailable {
			err = withConnectAdvice(c.explainUnreachable(ctx, o, err), opts.TLSConfig != nil)
		}
		_ = c.Close(context.WithoutCancel(ctx))
		return nil, err
	}
	return c, nil
}

// clientOptions is what the address says, within our rules.
func clientOptions(uri URI, o Options) *options.ClientOptions {
	opts := options.Client().ApplyURI(uri.reveal())
	opts.Timeout = nil // would also cut long commands such as moveChunk: deadlines are per call
	if opts.AppName == nil {
		opts.SetAppName("shardboard")
	}
	if opts.ServerSelectionTimeout == nil {
		opts.SetServerSelectionTimeout(o.Timeout)
	}
	if opts.ConnectTimeout == nil {
		opts.SetConnectTimeout(o.Timeout)
	}
	if opts.MaxPoolSize == nil {
		opts.SetMaxPoolSize(20)
	}
	if o.Dialer != nil {
		opts.SetDialer(o.Dialer)
		// A streaming monitor keeps a read pending for ever, which no simulated
		// clock can get past.
		opts.SetServerMonitoringMode("poll")
	}
	opts.SetMonitor(noteSent(o.Monitor))
	// The driver would log commands, with what people look for in them, when an
	// environment variable says so (MONGODB_LOG_COMMAND, MONGODB_LOG_ALL).
	const never = options.LogLevel(0)
	opts.SetLoggerOptions(options.Logger().SetComponentLevel(options.LogComponentAll, never).
		SetComponentLevel(options.LogComponentCommand, never))
	// The driver would send again what an overloaded server turned away, commands
	// that change something too.
	opts.SetMaxAdaptiveRetries(0)
	return opts
}

// URI is the address, which shows no secret.
func (c *Client) URI() URI { return c.uri }

// closeTimeout bounds the good-bye: the driver would look for a server to end
// its sessions on for as long as it may, also when the cluster is gone.
const closeTimeout = time.Second

// Close ends all connections, also those in use: what waits on one fails. It takes
// at most twice closeTimeout. The driver is given no deadline: with one it would wait
// for connections in use, and ask after them without a pause. It may still wait for
// the answer to a hello, which takes a server up to 10 s and a dead network longer;
// that it does on its own.
func (c *Client) Close(ctx context.Context) error {
	bye, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer context.AfterFunc(ctx, cancel)()
	defer time.AfterFunc(closeTimeout, cancel).Stop()
	done := make(chan error, 1)
	go func() {
		defer cancel()
		done <- c.mongo.Disconnect(bye)
	}()
	select {
	case err := <-done:
		return err
	case <-time.After(2 * closeTimeout):
		return nil
	}
}

// firstHello asks who answers, and asks again when nobody does within a second: the
// driver misses that its server is there when it learns so in the moment in which the
// first operation begins to wait for it, and would let that wait in vain. The second
// finds the server at once.
func (c *Client) firstHello(ctx context.Context) error {
	soon, cancel := context.WithTimeout(ctx, min(time.Second, c.timeout/2))
	defer cancel()
	err := c.requireMongos(soon)
	if err == nil || soon.Err() == nil || ctx.Err() != nil {
		return err
	}
	return c.requireMongos(ctx)
}

// requireMongos asks who answers.
func (c *Client) requireMongos(ctx context.Context) error {
	reply, err := c.one(ctx, "admin", bson.D{{Key: "hello", Value: 1}}, readOp{what: "say hello"})
	if err != nil {
		return err
	}
	return c.checkHello(reply)
}

// checkHello accepts a mongos only.
func (c *Client) checkHello(reply bson.Raw) error {
	if msg, _ := reply.Lookup("msg").StringValueOK(); msg == "isdbgrid" {
		return nil
	}
	role := "standalone"
	if set, ok := reply.Lookup("setName").StringValueOK(); ok {
		role = "member of replica set " + quoted(set)
	}
	return fault.New(fault.Invalid, "%s is a mongod (%s), not a mongos; point --uri at a mongos.", c.uri.Hosts(), role)
}

// explainUnreachable finds a better reason than that no server fits: the
// members of a replica set often name themselves in a way that only they can
// resolve, so the driver finds none, while the address given does answer.
func (c *Client) explainUnreachable(ctx context.Context, o Options, err error) error {
	opts := clientOptions(c.uri, o)
	if opts.Direct != nil && *opts.Direct || len(opts.Hosts) == 0 {
		return err
	}
	opts.Hosts = opts.Hosts[:1]
	opts.ReplicaSet = nil
	opts.SetDirect(true).SetServerSelectionTimeout(min(2*time.Second, o.Timeout))
	direct, e := mongo.Connect(opts)
	if e != nil {
		return err
	}
	probe := &Client{uri: c.uri, timeout: o.Timeout, mongo: direct}
	defer func() { _ = probe.Close(context.WithoutCancel(ctx)) }()
	if e := probe.requireMongos(ctx); fault.Of(e) == fault.Invalid {
		return e
	}
	return err
}
