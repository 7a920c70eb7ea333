package simcluster

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/wire"
)

// dial opens a connection for raw wire protocol messages.
func dial(t *testing.T, c *Cluster) net.Conn {
	t.Helper()
	conn, err := c.DialContext(t.Context(), "tcp", "anywhere:27017")
	must.Do(t, err)
	t.Cleanup(func() { conn.Close() })
	must.Do(t, conn.SetDeadline(time.Now().Add(5*time.Second)))
	return conn
}

// exchange sends one OP_MSG and reads the reply's body.
func exchange(t *testing.T, conn net.Conn, cmd bson.D) bson.Raw {
	t.Helper()
	must.Do(t, must.Err(conn.Write(wire.AppendMsg(nil, 1, 0, encode(cmd)))))
	m, err := wire.Read(conn)
	must.Do(t, err)
	return m.Body
}

func TestUnreadableFramesEndTheConnection(t *testing.T) {
	ping := encode(d("ping", 1, "$db", "admin"))
	good := wire.AppendMsg(nil, 1, 0, ping)
	compressed := bytes.Clone(good)
	compressed[12], compressed[13] = 2012&0xff, 2012>>8
	negative := bytes.Clone(good)
	negative[3] = 0xff
	cyclic := bytes.Clone(good) // the document claims the length of the message
	copy(cyclic[21:], good[:4])
	for name, frame := range map[string][]byte{"compressed": compressed, "negative length": negative, "length beyond its section": cyclic} {
		t.Run(name, func(t *testing.T) {
			conn := dial(t, emptyCluster(t))
			go func() { _, _ = conn.Write(frame) }()
			for {
				m, err := wire.Read(conn)
				if err != nil {
					must.That(t, errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe), "connection ended with %v", err)
					return
				}
				must.That(t, !truthy(m.Body.Lookup("ok")), "answered %v", m.Body)
			}
		})
	}
}

func TestErrorsHaveTheServersTextAndCode(t *testing.T) {
	conn := dial(t, emptyCluster(t))
	for _, c := range []struct {
		cmd  bson.D
		code int32
		text string
	}{
		{d("foo", 1, "$db", "admin"), 59, "no such cmd: foo"},
		{d("listDatabases", 1, "$db", "db"), 13, "listDatabases may only be run against the admin database."},
		{d("split", "db.c", "$db", "db"), 13, "split may only be run against the admin database."},
		{d("ping", 1), 40571, "OP_MSG requests require a $db argument"},
		{d("listShards", 1, "$db", "admin", "apiVersion", "1", "apiStrict", true), 323,
			"Provided apiStrict:true, but the command listShards is not in API Version 1"},
		{d("find", "c", "$db", "db", "tailable", true), 2, "error processing query: ns=db.c tailable cursor requested on non capped collection"},
		{d("getMore", int64(5), "collection", "c", "$db", "db"), 43, "cursor id 5 not found"},
		{d("aggregate", "c", "pipeline", bson.A{}, "$db", "db"), 9,
			"The 'cursor' option is required, except for aggregate with the explain argument"},
		{d("commitTransaction", 1, "txnNumber", int64(3), "$db", "admin"), 251,
			"Given transaction number 3 does not match any in-progress transactions."},
	} {
		reply := exchange(t, conn, c.cmd)
		if got, _ := reply.Lookup("code").Int32OK(); got != c.code {
			t.Errorf("%v: code %d, want %d", c.cmd, got, c.code)
		}
		if got, _ := reply.Lookup("errmsg").StringValueOK(); got != c.text {
			t.Errorf("%v: %q, want %q", c.cmd, got, c.text)
		}
		if name, _ := reply.Lookup("codeName").StringValueOK(); name != status.Name(c.code) {
			t.Errorf("%v: code name %q", c.cmd, name)
		}
	}
	// A parameter of mongod, not of mongos; an error in the old style has no code.
	reply := exchange(t, conn, d("getParameter", 1, "orphanCleanupDelaySecs", 1, "$db", "admin"))
	if reply.Lookup("code").Type != 0 || reply.Lookup("errmsg").StringValue() != "no option found to get" {
		t.Errorf("getParameter: %v", reply)
	}
}

func TestVersionsAnnounceTheirWireVersion(t *testing.T) {
	for version, want := range map[string]int32{"4.4": 9, "5.0": 13, "6.0": 17, "7.0": 21, "8.0": 25} {
		c := emptyCluster(t, func(o *Options) { o.ServerVersion = version })
		hello := mustRun(t, c, "admin", d("hello", 1))
		expect.Equal(t, hello.Lookup("maxWireVersion").Int32(), want, "%s: wire version", version)
		expect.NoError(t, connect(t, c).Ping(t.Context(), nil), "%s", version)
	}
	if _, err := New(t.Context(), Options{Empty: true, ServerVersion: "5.1"}); err == nil {
		t.Error("version 5.1 was accepted")
	}
}

func TestUnacknowledgedWriteHasNoReply(t *testing.T) {
	c := emptyCluster(t)
	conn := dial(t, c)
	insert := encode(d("insert", "c", "documents", bson.A{d("_id", 1)}, "$db", "db", "writeConcern", d("w", 0)))
	frame := wire.AppendMsg(nil, 1, 0, insert)
	frame[16] = byte(wire.MoreToCome)
	must.Do(t, must.Err(conn.Write(frame)))
	if got := exchange(t, conn, d("count", "c", "$db", "db")).Lookup("n").Int32(); got != 1 {
		t.Fatalf("counted %d after the write, want 1", got)
	}
}

func TestMaxTimeEndsAScan(t *testing.T) {
	c := emptyCluster(t)
	var docs []bson.Raw
	for i := range 20_000 {
		docs = append(docs, encode(d("_id", i, "s", "some text to look at")))
	}
	must.Do(t, c.BulkInsert("db.c", docs))
	_, err := c.Command(t.Context(), "db", d("find", "c", "filter", d("s", d("$regex", "(a|b|c)*look")), "maxTimeMS", 1))
	var e *status.Error
	must.That(t, errors.As(err, &e) && e.Code == 50 && e.Message == "operation exceeded time limit", "got %v", err)
}

func TestCloseEndsEveryConnection(t *testing.T) {
	c := emptyCluster(t)
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))
	served := make(chan error, 1)
	go func() { served <- c.Serve(l) }()
	conn, err := net.Dial("tcp", l.Addr().String())
	must.Do(t, err)
	defer conn.Close()
	exchange(t, conn, d("hello", 1, "$db", "admin"))
	must.Do(t, c.Close())
	expect.NoError(t, <-served, "Serve returned")
	expect.That(t, must.Err(conn.Read(make([]byte, 1))) != nil, "the connection is still open")
	if _, err := c.DialContext(t.Context(), "", ""); !errors.Is(err, ErrClosed) {
		t.Errorf("dialing a closed cluster gave %v, want %v", err, ErrClosed)
	}
}

// A release has neither the commands nor the figures of a later one.
func TestVersionHasOnlyItsOwnCommandsAndFigures(t *testing.T) {
	first := map[string]string{
		"setAllowMigrations": "5.0", "reshardCollection": "5.0", "commitReshardCollection": "5.0",
		"moveRange": "6.0", "configureCollectionBalancing": "6.0",
		"mergeAllChunksOnShard": "7.0", "analyzeShardKey": "7.0", "checkMetadataConsistency": "7.0",
		"moveCollection": "8.0", "unshardCollection": "8.0", "abortMoveCollection": "8.0",
	}
	for _, v := range []string{"4.4", "5.0", "6.0", "6.0.2", "7.0", "8.0"} {
		c := emptyCluster(t, func(o *Options) { o.ServerVersion = v })
		shardIntoThree(t, c)
		mustRun(t, c, "db", d("insert", "coll", "documents", bson.A{d("_id", 1, "k", 5)}))
		for name, since := range first {
			_, err := c.Command(t.Context(), "admin", d(name, "d.none"))
			if unknown := err != nil && status.Of(err).Code == status.CommandNotFound; unknown != (v < since) {
				t.Errorf("%s on %s: %v", name, v, err)
			}
		}
		_, err := c.Command(t.Context(), "admin",
			d("aggregate", 1, "pipeline", bson.A{d("$shardedDataDistribution", bson.D{})}, "cursor", bson.D{}))
		if has := err == nil; has != (v >= "6.0" && v != "6.0.2") || !has && status.Of(err).Code != 40324 {
			t.Errorf("$shardedDataDistribution on %s: %v", v, err)
		}
		stats := mustRun(t, c, "db", d("collStats", "coll"))
		if has := stats.Lookup("shards", "shard-rs-1", "numOrphanDocs").Type != 0; has != (v >= "6.0") {
			t.Errorf("numOrphanDocs on %s: %s", v, stats)
		}
	}
}
