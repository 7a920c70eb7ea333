package simcluster

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"fmt"
	"net"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/wire"
)

// URI is the connection string for use with DialContext. Its host does not exist, so a
// driver without the dialer fails at once instead of reaching another server.
func URI() string { return "mongodb://sim.invalid:27017/?directConnection=true" }

// ErrClosed is returned by a closed cluster.
var ErrClosed = errors.New("simulated cluster is closed")

// DialContext connects in process: it returns one end of a pipe whose other end the
// cluster serves. Network and address are ignored. It implements the driver's
// options.ContextDialer.
func (c *Cluster) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	client, server := net.Pipe()
	if !c.serveConn(server) {
		return nil, errors.Join(ErrClosed, client.Close(), server.Close())
	}
	return client, nil
}

// Serve accepts connections from l until the cluster is closed or l fails. It
// closes l. After Close it returns nil.
func (c *Cluster) Serve(l net.Listener) error {
	if !c.life.track(l) {
		return errors.Join(ErrClosed, l.Close())
	}
	defer c.life.untrack(l)
	for {
		conn, err := l.Accept()
		if err != nil {
			if c.life.ctx.Err() != nil {
				return nil
			}
			return errors.Join(err, l.Close())
		}
		if !c.serveConn(conn) {
			return conn.Close()
		}
	}
}

// serveConn starts serving a connection. It reports false after Close; the caller must
// then close the connection.
func (c *Cluster) serveConn(conn net.Conn) bool {
	if !c.life.track(conn) {
		return false
	}
	go c.serve(conn)
	return true
}

// serve answers the messages of one connection in order, until either side closes it or
// a message cannot be parsed.
func (c *Cluster) serve(conn net.Conn) {
	defer c.life.untrack(conn)
	defer conn.Close()
	peer := &engine.Conn{ID: c.stats.connected(), Remote: conn.RemoteAddr().String()}
	defer c.stats.connections.Add(-1)
	conn, err := c.secure(conn, peer)
	if err != nil {
		c.log.Debug("TLS handshake failed", "client", peer.Remote, "err", err)
		return
	}
	in := readFrom(conn)
	defer func() {
		_ = conn.Close()
		in.close()
	}()
	peer.Gone = in.gone
	for c.life.ctx.Err() == nil {
		next := <-in.messages
		if next.err != nil {
			return
		}
		reply, cut := c.reply(peer, next.message)
		if cut {
			return
		}
		if reply == nil {
			continue
		}
		if _, err := conn.Write(reply); err != nil {
			return
		}
	}
}

// reply runs the command of a message and encodes the answer; nil means that the client
// wants no answer. cut means that the connection is to be closed instead.
func (c *Cluster) reply(peer *engine.Conn, m *wire.Message) (reply []byte, cut bool) {
	ctx := c.life.ctx
	if m.OpCode == wire.OpQuery {
		body := c.legacy(ctx, peer, m)
		return wire.AppendReply(nil, c.stats.replies.Add(1), m.RequestID, body), body == nil
	}
	db, err := databaseOf(m.Body)
	var body bson.Raw
	if err != nil {
		body = c.failure(err)
	} else {
		body = c.answer(ctx, &engine.Request{DB: db, Body: m.Body, Docs: m.Sequences, Conn: peer})
	}
	if body == nil || m.Flags&wire.MoreToCome != 0 {
		return nil, body == nil
	}
	return wire.AppendMsg(make([]byte, 0, len(body)+32), c.stats.replies.Add(1), m.RequestID, body), false
}

// legacy answers an OP_QUERY. Drivers send their first hello that way; any other
// command has to come as OP_MSG.
func (c *Cluster) legacy(ctx context.Context, peer *engine.Conn, m *wire.Message) bson.Raw {
	db, rest, _ := cut(m.Collection)
	body := m.Body
	if q, ok := body.Lookup("$query").DocumentOK(); ok {
		body = q
	}
	name := commandName(body)
	if rest != "$cmd" || !isHello(name) {
		return c.failure(status.Errorf(352, "Unsupported OP_QUERY command: %s. The client driver may require an upgrade. "+
			"For more details see https://dochub.mongodb.org/core/legacy-opcode-removal", name))
	}
	return c.answer(ctx, &engine.Request{DB: db, Body: body, Conn: peer})
}

// incoming reads the messages of a connection ahead of their execution, so that a
// command that waits notices when its client is gone.
type incoming struct {
	messages chan incomingMessage
	gone     chan struct{} // closed when nothing more can be read
	stop     chan struct{} // closed when nobody receives any more
	ended    chan struct{}
}

type incomingMessage struct {
	message *wire.Message
	err     error // the last one has an error instead
}

func readFrom(conn net.Conn) *incoming {
	in := &incoming{messages: make(chan incomingMessage), gone: make(chan struct{}), stop: make(chan struct{}), ended: make(chan struct{})}
	go in.run(bufio.NewReaderSize(conn, 16<<10))
	return in
}

func (in *incoming) run(from *bufio.Reader) {
	defer close(in.ended)
	for {
		m, err := wire.Read(from)
		if err != nil {
			close(in.gone)
		}
		select {
		case in.messages <- incomingMessage{m, err}:
		case <-in.stop:
			return
		}
		if err != nil {
			return
		}
	}
}

// close ends the reading. The connection is closed already.
func (in *incoming) close() {
	close(in.stop)
	<-in.ended
}

// Certificates are the PEM texts of which [TLSConfig] makes the TLS settings of a
// cluster.
type Certificates struct {
	Server, Key []byte
	// ClientCA verifies the certificates of clients, which have to present one.
	ClientCA []byte
	// OptionalForClients accepts clients without certificate too
	// (tlsAllowConnectionsWithoutCertificates).
	OptionalForClients bool
}

// TLSConfig makes the settings for Options.TLS. Like a mongos it accepts TLS 1.2 and 1.3.
func TLSConfig(c Certificates) (*tls.Config, error) {
	pair, err := tls.X509KeyPair(c.Server, c.Key)
	if err != nil {
		return nil, fmt.Errorf("read server certificate: %w", err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	if c.ClientCA == nil {
		if c.OptionalForClients {
			return nil, errors.New("client certificates can only be optional with a CA that verifies them")
		}
		return config, nil
	}
	config.ClientCAs = x509.NewCertPool()
	if !config.ClientCAs.AppendCertsFromPEM(c.ClientCA) {
		return nil, errors.New("read CA of clients: no certificate in it")
	}
	config.ClientAuth = tls.RequireAndVerifyClientCert
	if c.OptionalForClients {
		config.ClientAuth = tls.VerifyClientCertIfGiven
	}
	return config, nil
}

// handshakeTime is how long a client may take for the TLS handshake.
const handshakeTime = 10 * time.Second

// secure makes the TLS handshake, if the cluster needs TLS, and notes the client's
// certificate.
func (c *Cluster) secure(conn net.Conn, peer *engine.Conn) (net.Conn, error) {
	if c.opts.TLS == nil {
		return conn, nil
	}
	secured := tls.Server(conn, c.opts.TLS)
	ctx, cancel := context.WithTimeout(c.life.ctx, handshakeTime)
	defer cancel()
	if err := secured.HandshakeContext(ctx); err != nil {
		return nil, err
	}
	if chains := secured.ConnectionState().VerifiedChains; len(chains) > 0 {
		name, err := subjectOf(chains[0][0])
		if err != nil {
			return nil, err
		}
		peer.Certificate = name
	}
	return secured, nil
}

// subjectOf is the subject of a certificate by RFC 2253, in the order of the
// certificate, as the server writes it.
func subjectOf(cert *x509.Certificate) (string, error) {
	var name pkix.RDNSequence
	if _, err := asn1.Unmarshal(cert.RawSubject, &name); err != nil {
		return "", fmt.Errorf("read subject of client certificate: %w", err)
	}
	return name.String(), nil
}
