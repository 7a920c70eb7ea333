package simcluster

import (
	"context"
	"errors"
	"net"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/wire"
)

// serve answers the messages of one connection in order, until either side closes it or
// a message cannot be parsed.
func (c *Cluster) serve(conn net.Conn) {
	defer c.untrack(conn)
	defer conn.Close()
	peer := &engine.Conn{ID: c.stats.connected(), Remote: conn.RemoteAddr().String()}
	defer c.stats.disconnected()
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
	for c.life.Err() == nil {
		next := <-in.messages
		if next.err != nil {
			c.refuse(conn, next.err)
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

// refuse answers an unreadable message if it can. The connection is closed in any case,
// because the start of the next message is unknown.
func (c *Cluster) refuse(conn net.Conn, err error) {
	var bad *wire.ProtocolError
	if !errors.As(err, &bad) || !bad.Answerable {
		return
	}
	body := c.failure(status.Errorf(bad.Code, "%s", bad.Reason))
	// A client that does not read must not block the goroutine.
	_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
	_, _ = conn.Write(wire.AppendMsg(nil, c.stats.nextReply(), bad.RequestID, 0, body))
}

// reply runs the command of a message and encodes the answer; nil means that the client
// wants no answer. cut means that the connection is to be closed instead.
func (c *Cluster) reply(peer *engine.Conn, m *wire.Message) (reply []byte, cut bool) {
	ctx := c.life
	if m.OpCode == wire.OpQuery {
		body := c.legacy(ctx, peer, m)
		return wire.AppendReply(nil, c.stats.nextReply(), m.RequestID, body), body == nil
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
	return wire.AppendMsg(make([]byte, 0, len(body)+32), c.stats.nextReply(), m.RequestID, m.Flags&wire.ChecksumPresent, body), false
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
