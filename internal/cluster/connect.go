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

// Options configure the connection. The zero value is for production.
type Options struct {
	Dialer  options.ContextDialer // nil: TCP
	Monitor *event.CommandMonitor // called for every command; may be nil
	Timeout time.Duration         // for finding a server, and for a read whose context has no deadline; 5 s
}

// Client is a connection pool to one cluster. Safe for concurrent use. It
// implements topology.Source and what placement reads.
type Client struct {
	uri     URI
	timeout time.Duration
	mongo   *mongo.Client

	load          load                       // commands sent lately
	version       atomic.Pointer[version]    // from buildInfo
	legacy        atomic.Bool                // a collection uses the chunk format of 4.4
	ids           atomic.Pointer[shardNames] // shard names by uuid, for servers that use uuids
	lastOperation operationClock             // operationTime of our newest command
}

// Connect opens a pool and checks that a mongos answers. The error is one sentence for
// the user: fault.Invalid when another kind of server answers, fault.Forbidden when the
// credentials are refused, fault.Unavailable when there is no answer.
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
		// mongodb+srv addresses are resolved here. The driver's text may quote options, so it
		// is not included.
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

// clientOptions are the driver options of the address, with our overrides.
func clientOptions(uri URI, o Options) *options.ClientOptions {
	opts := options.Client().ApplyURI(uri.reveal())
	opts.Timeout = nil // deadlines are set per call; a global one would cut long commands such as moveChunk
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
		// A streaming monitor always has a pending read, which prevents a synctest clock from
		// advancing.
		opts.SetServerMonitoringMode("poll")
	}
	opts.SetMonitor(noteSent(o.Monitor))
	// Environment variables (MONGODB_LOG_COMMAND, MONGODB_LOG_ALL) could make the driver
	// log commands with user data.
	const never = options.LogLevel(0)
	opts.SetLoggerOptions(options.Logger().SetComponentLevel(options.LogComponentAll, never).
		SetComponentLevel(options.LogComponentCommand, never))
	// The driver would retry any command that an overloaded server rejected, including
	// changing ones.
	opts.SetMaxAdaptiveRetries(0)
	return opts
}

// URI is the address; printing it shows no secrets.
func (c *Client) URI() URI { return c.uri }

// closeTimeout limits the ending of sessions, for which the driver would wait even when
// the cluster is gone.
const closeTimeout = time.Second

// Close closes all connections, including those in use, and takes at most twice
// closeTimeout. The driver gets no deadline: with one it would poll for connections in
// use until it is over. It may still wait for the answer to a hello, up to 10 s or
// longer on a dead network, in a goroutine of its own.
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

// firstHello sends hello and, without an answer within a second, a second one. The
// driver can miss that its server is available if it learns so exactly when the first
// operation begins to wait; the second operation finds the server at once.
func (c *Client) firstHello(ctx context.Context) error {
	soon, cancel := context.WithTimeout(ctx, min(time.Second, c.timeout/2))
	defer cancel()
	err := c.requireMongos(soon)
	if err == nil || soon.Err() == nil || ctx.Err() != nil {
		return err
	}
	return c.requireMongos(ctx)
}

// requireMongos sends hello and checks that a mongos answers.
func (c *Client) requireMongos(ctx context.Context) error {
	reply, err := c.one(ctx, "admin", bson.D{{Key: "hello", Value: 1}}, readOp{what: "say hello"})
	if err != nil {
		return err
	}
	return c.checkHello(reply)
}

// checkHello returns an error unless the reply is from a mongos.
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

// explainUnreachable looks for a more specific error than a failed server selection.
// Members of a replica set often have host names that only they can resolve, so the
// driver finds none of them although the given address answers.
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
