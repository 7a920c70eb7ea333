package cluster

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/refused"
	"shardboard/internal/topology"
)

var anyTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// stub answers commands with a function; it implements as much of the wire protocol as
// the driver needs.
type stub struct {
	answer func(db string, cmd bson.Raw) bson.D

	mu   sync.Mutex
	seen []string
}

func (s *stub) DialContext(context.Context, string, string) (net.Conn, error) {
	here, there := net.Pipe()
	go s.serve(there)
	return here, nil
}

func (s *stub) serve(c net.Conn) {
	defer func() { _ = c.Close() }()
	for {
		var header [16]byte
		if _, err := io.ReadFull(c, header[:]); err != nil {
			return
		}
		body := make([]byte, binary.LittleEndian.Uint32(header[:])-16)
		if _, err := io.ReadFull(c, body); err != nil {
			return
		}
		legacy := binary.LittleEndian.Uint32(header[12:]) == 2004
		var cmd bson.Raw
		if legacy { // OP_QUERY: flags, name, skip, limit, document
			rest := body[4:]
			rest = rest[strings.IndexByte(string(rest), 0)+1+8:]
			cmd = rest
		} else {
			cmd = body[5:]
		}
		first, err := cmd.IndexErr(0)
		if err != nil {
			return
		}
		db, _ := cmd.Lookup("$db").StringValueOK()
		s.mu.Lock()
		s.seen = append(s.seen, first.Key())
		s.mu.Unlock()
		reply, err := bson.Marshal(s.answer(db, cmd))
		if err != nil {
			return
		}
		id := header[4:8]
		var out []byte
		if legacy {
			out = append(make([]byte, 16), make([]byte, 20)...)
			out[32] = 1 // one document
			binary.LittleEndian.PutUint32(out[12:], 1)
		} else {
			out = make([]byte, 21)
			binary.LittleEndian.PutUint32(out[12:], 2013)
		}
		out = append(out, reply...)
		binary.LittleEndian.PutUint32(out, uint32(len(out)))
		copy(out[8:12], id)
		if _, err := c.Write(out); err != nil {
			return
		}
	}
}

func hello(extra ...bson.E) bson.D {
	return append(bson.D{
		{Key: "ok", Value: 1.0}, {Key: "isWritablePrimary", Value: true}, {Key: "ismaster", Value: true}, {Key: "helloOk", Value: true},
		{Key: "logicalSessionTimeoutMinutes", Value: int32(30)}, {Key: "minWireVersion", Value: int32(0)},
		{Key: "maxWireVersion", Value: int32(13)}, {Key: "maxBsonObjectSize", Value: int32(16 << 20)},
		{Key: "maxMessageSizeBytes", Value: int32(48_000_000)}, {Key: "maxWriteBatchSize", Value: int32(100_000)},
	}, extra...)
}

// member is the hello of the primary of a replica set.
func member(set string) bson.D {
	return hello(bson.E{Key: "setName", Value: set}, bson.E{Key: "hosts", Value: bson.A{"h:27017"}}, bson.E{Key: "me", Value: "h:27017"})
}

func isHello(cmd bson.Raw) bool {
	name := cmd.Index(0).Key()
	return name == "hello" || strings.EqualFold(name, "ismaster")
}

func connect(t *testing.T, uri string, s *stub) (*Client, error) {
	t.Helper()
	u := must.Get(ParseURI(uri))
	c, err := Connect(t.Context(), u, Options{Dialer: s, Timeout: 2 * time.Second})
	if c != nil {
		t.Cleanup(func() { _ = c.Close(context.Background()) })
	}
	return c, err
}

func TestConnectRefusesServersThatAreNotMongos(t *testing.T) {
	for name, c := range map[string]struct {
		uri   string
		reply bson.D
		want  string
	}{
		"standalone": {"mongodb://h:27017/", hello(), "h:27017 is a mongod (standalone), not a mongos; point --uri at a mongos."},
		"member, directly": {"mongodb://h:27017/?directConnection=true", hello(bson.E{Key: "setName", Value: "rs0"},
			bson.E{Key: "hosts", Value: bson.A{"inner:1"}}, bson.E{Key: "me", Value: "inner:1"}), `member of replica set "rs0"`},
		"secondary": {"mongodb://h:27017/?directConnection=true",
			append(hello(bson.E{Key: "setName", Value: "rs0"}, bson.E{Key: "secondary", Value: true}),
				bson.E{Key: "hosts", Value: bson.A{"inner:1"}}), `member of replica set "rs0"`},
		"user name in there": {"mongodb://h:27017/?appName=x", hello(bson.E{Key: "setName", Value: "<b>"},
			bson.E{Key: "hosts", Value: bson.A{"h:27017"}}, bson.E{Key: "me", Value: "h:27017"}), `member of replica set "<b>"`},
		"plain replica set": {"mongodb://h:27017/", member("rs0"), "If that set is a shard, its cluster has a mongos; if not, there is nothing"},
		"config server": {"mongodb://h:27017/?directConnection=true", append(member("cfg"), bson.E{Key: "configsvr", Value: int32(2)}),
			`(config server of replica set "cfg"), not a mongos; point --uri at a mongos. The mongos of its cluster are listed in config.mongos`},
		"shard member": {"mongodb://h:27017/?directConnection=true", member("shard-rs-1"),
			`(member of shard "shard-rs-1"), not a mongos; point --uri at a mongos. The mongos of its cluster are listed in config.mongos of ` +
				`the config servers, "cfg/h:1".`},
		"arbiter": {"mongodb://h:27017/?directConnection=true", hello(bson.E{Key: "setName", Value: "rs0"},
			bson.E{Key: "arbiterOnly", Value: true}, bson.E{Key: "hosts", Value: bson.A{"h:27017"}}), `arbiter of replica set "rs0"`},
		"not initiated": {"mongodb://h:27017/?directConnection=true", hello(bson.E{Key: "isreplicaset", Value: true}), "is not initiated"},
		"Atlas without shards": {"mongodb://x.ab12c.mongodb.net:27017/?directConnection=true", member("atlas-1"),
			"On Atlas, only clusters of type sharded have one"},
		"Percona": {"mongodb://h:27017/?directConnection=true", member("percona"), `member of replica set "percona"`},
	} {
		s := &stub{answer: func(_ string, cmd bson.Raw) bson.D {
			switch {
			case isHello(cmd):
				return c.reply
			case name == "shard member" && cmd.Index(0).Key() == "shardingState":
				return bson.D{{Key: "ok", Value: 1.0}, {Key: "enabled", Value: true}, {Key: "shardName", Value: "shard-rs-1"},
					{Key: "configServer", Value: "cfg/h:1"}}
			}
			return bson.D{{Key: "ok", Value: 1.0}}
		}}
		_, err := connect(t, c.uri, s)
		refused.With(t, err, fault.Invalid, c.want, "%s", name)
	}
}

func mongosStub(answer func(db string, cmd bson.Raw) bson.D) *stub {
	return &stub{answer: func(db string, cmd bson.Raw) bson.D {
		if isHello(cmd) {
			return hello(bson.E{Key: "msg", Value: "isdbgrid"})
		}
		return answer(db, cmd)
	}}
}

func firstBatch(docs ...any) bson.D {
	return bson.D{{Key: "ok", Value: 1.0}, {Key: "cursor", Value: bson.D{
		{Key: "id", Value: int64(0)}, {Key: "ns", Value: "config.x"}, {Key: "firstBatch", Value: append(bson.A{}, docs...)},
	}}}
}

func TestReadsAreMajorityReadsWithATimeLimit(t *testing.T) {
	var mu sync.Mutex
	var commands []bson.Raw
	c, err := connect(t, "mongodb://h:1/", mongosStub(func(_ string, cmd bson.Raw) bson.D {
		if _, err := cmd.LookupErr("buildInfo"); err == nil {
			return bson.D{{Key: "ok", Value: 1.0}, {Key: "version", Value: "8.0.4"}}
		}
		mu.Lock()
		defer mu.Unlock()
		commands = append(commands, append(bson.Raw(nil), cmd...))
		return firstBatch()
	}))
	must.Do(t, err)
	ctx := t.Context()
	_, _ = c.Heads(ctx, topology.Window{})
	_, _ = c.Shards(ctx)
	_, _ = c.Databases(ctx)
	_, _ = c.Zones(ctx)
	_, _ = c.Settings(ctx)
	_, _ = c.Routers(ctx)
	mu.Lock()
	defer mu.Unlock()
	must.That(t, len(commands) == 6, "%d commands", len(commands))
	for _, cmd := range commands {
		if level, _ := cmd.Lookup("readConcern", "level").StringValueOK(); level != "majority" {
			t.Errorf("%s: read concern %q", cmd.Index(0), level)
		}
		if ms, ok := cmd.Lookup("maxTimeMS").AsInt64OK(); !ok || ms <= 0 || ms > 10_000 {
			t.Errorf("%s: maxTimeMS %d", cmd.Index(0), ms)
		}
		names := map[string]bool{}
		elements, _ := cmd.Elements()
		for _, e := range elements {
			if names[e.Key()] {
				t.Errorf("%s is sent twice", e.Key())
			}
			names[e.Key()] = true
		}
	}
}

func TestOldChunkFormatIsDetectedAndRemembered(t *testing.T) {
	legacyRow := bson.D{{Key: "_id", Value: "a.b"}, {Key: "key", Value: bson.D{{Key: "x", Value: int32(1)}}}}
	withTop := append(legacyRow[:2:2], bson.E{Key: "top", Value: bson.A{bson.D{{Key: "lastmod", Value: bson.Timestamp{T: 4, I: 2}}}}})
	s := mongosStub(func(_ string, cmd bson.Raw) bson.D {
		if strings.Contains(cmd.String(), "$ns") {
			return firstBatch(withTop)
		}
		return firstBatch(legacyRow)
	})
	c, err := connect(t, "mongodb://h:1/", s)
	must.Do(t, err)
	for range 2 {
		heads, err := c.Heads(t.Context(), topology.Window{})
		if err != nil || len(heads) != 1 || !heads[0].LegacyChunks || heads[0].Highest != (topology.Version{Major: 4, Minor: 2}) {
			t.Fatalf("%+v, %v", heads, err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, name := range s.seen {
		if name == "aggregate" {
			n++
		}
	}
	must.That(t, n == 3, "%d aggregates for two polls, want two for the first and one from then on", n)
}

func TestMalformedDocumentsAreSkippedAndReported(t *testing.T) {
	c, err := connect(t, "mongodb://h:1/", mongosStub(func(string, bson.Raw) bson.D {
		return firstBatch(bson.D{{Key: "_id", Value: int32(5)}}, bson.D{{Key: "_id", Value: "s1"}, {Key: "host", Value: "rs/h:1"}})
	}))
	must.Do(t, err)
	shards, err := c.Shards(t.Context())
	must.That(t, len(shards) == 1 && partial(err) && err != nil, "%v, %v", shards, err)
}

// A mongod has collections of the same names in its own config database: reads from it
// would show a cluster without shards.
func TestNothingIsReadFromAMongod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mongos atomic.Bool
		var reads atomic.Int32
		s := &stub{answer: func(_ string, cmd bson.Raw) bson.D {
			switch {
			case isHello(cmd) && mongos.Load():
				return hello(bson.E{Key: "msg", Value: "isdbgrid"})
			case isHello(cmd):
				return hello()
			}
			reads.Add(1)
			return firstBatch()
		}}
		u := must.Get(ParseURI("mongodb://h:1/"))
		c, err := Open(u, Options{Dialer: s})
		must.Do(t, err)
		defer c.Close(t.Context()) //nolint:errcheck // the test is over
		for range 20 {
			if _, err := c.Shards(t.Context()); fault.Of(err) != fault.Invalid || !strings.Contains(fault.Text(err), "is a mongod (standalone)") {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		expect.Equal(t, reads.Load(), 0, "reads")
		mongos.Store(true)
		time.Sleep(30 * time.Second)
		expect.NoError(t, must.Err(c.Shards(t.Context())), "a mongos came up")
	})
}
