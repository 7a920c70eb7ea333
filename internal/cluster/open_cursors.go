package cluster

import (
	"context"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/topology"
)

const (
	// cursorLookPause is the shortest time between two looks at the open cursors of all shards.
	cursorLookPause = 10 * time.Second
	// cursorsDenied is how long a look that is not permitted is not tried again.
	cursorsDenied = time.Minute
	// maxOpenCursors bounds what one look keeps.
	maxOpenCursors = 10_000
)

// openCursor is a cursor that stands on a shard, with the mark of a read of shardboard.
type openCursor struct {
	topology.OpenCursor
	reader Reader // zero: not a read of shardboard
}

// cursorLooks is the only reader of open cursors. Safe for concurrent use.
type cursorLooks struct {
	mu   sync.Mutex // held while one looks
	at   time.Time  // when the last look began; zero: there was none
	rows []openCursor
	err  error
}

// look returns the open cursors of all shards and when it was asked for them, at most once in cursorLookPause. Needs
// inprog on the cluster.
func (c *Client) look(ctx context.Context) (rows []openCursor, at time.Time, err error) {
	l := &c.looks
	l.mu.Lock()
	defer l.mu.Unlock()
	pause := cursorLookPause
	if fault.Of(l.err) == fault.Forbidden {
		pause = cursorsDenied
	}
	if now := time.Now(); l.at.IsZero() || now.Sub(l.at) >= pause {
		l.at = now
		l.rows, l.err = c.readCursors(ctx)
	}
	return l.rows, l.at, l.err
}

// cursorStages select idle cursors and those that an operation is reading. What a query asks for is left out: it may be
// large, and nobody needs it here. Only exclusion can do that, because the client's name is in a field called $client.
var cursorStages = func() bson.A {
	out := bson.D{}
	for _, name := range []string{"command", "originatingCommand", "clientMetadata", "planSummary"} {
		out = append(out, bson.E{Key: name, Value: 0})
	}
	for _, name := range []string{"filter", "pipeline", "let", "min", "max", "sort", "projection", "hint"} {
		out = append(out, bson.E{Key: "cursor.originatingCommand." + name, Value: 0})
	}
	return bson.A{
		bson.D{{Key: "$currentOp", Value: bson.D{{Key: "allUsers", Value: true}, {Key: "idleCursors", Value: true}}}},
		bson.D{{Key: "$match", Value: bson.D{{Key: "cursor.createdDate", Value: bson.D{{Key: "$exists", Value: true}}}}}},
		bson.D{{Key: "$project", Value: out}},
	}
}()

func (c *Client) readCursors(ctx context.Context) (rows []openCursor, err error) {
	cmd := bson.D{{Key: "aggregate", Value: 1}, {Key: "pipeline", Value: cursorStages}, {Key: "cursor", Value: bson.D{}}}
	r := readOp{what: "ask the shards for open cursors", privilege: "inprog on the cluster"}
	err = c.each(ctx, "admin", cmd, r, func(doc bson.Raw) error {
		if k, ok := decodeCursor(doc); ok && len(rows) < maxOpenCursors {
			rows = append(rows, k)
		}
		return nil
	})
	return rows, err
}

// OpenCursors reads which cursors stand open on the shards, idle or being read, and when they were asked. The answer
// can be ten seconds old, and a refusal a minute. Needs inprog on the cluster.
func (c *Client) OpenCursors(ctx context.Context) ([]topology.OpenCursor, time.Time, error) {
	rows, at, err := c.look(ctx)
	if err != nil {
		return nil, at, err
	}
	out := make([]topology.OpenCursor, 0, len(rows))
	for _, k := range rows {
		out = append(out, k.OpenCursor)
	}
	return out, at, nil
}

// decodeCursor decodes a row of $currentOp. The program and its host are in what mongos passes on to a shard.
func decodeCursor(doc bson.Raw) (k openCursor, ok bool) {
	cursor, _ := doc.Lookup("cursor").DocumentOK()
	k.Shard, _ = doc.Lookup("shard").StringValueOK()
	ns, _ := doc.Lookup("ns").StringValueOK()
	k.NS = topology.Namespace(ns)
	k.ID, _ = cursor.Lookup("cursorId").Int64OK()
	opened, dated := cursor.Lookup("createdDate").TimeOK()
	if k.Shard == "" || ns == "" || !dated {
		return k, false
	}
	k.Opened = opened.UTC()
	if used, has := cursor.Lookup("lastAccessDate").TimeOK(); has {
		k.Used = used.UTC()
	}
	if _, id, isBinary := doc.Lookup("lsid", "id").BinaryOK(); isBinary {
		_, user, _ := doc.Lookup("lsid", "uid").BinaryOK()
		k.Session = topology.SessionID{ID: string(id), User: string(user)}
	}
	command, _ := cursor.Lookup("originatingCommand").DocumentOK()
	client, _ := command.Lookup("$client").DocumentOK()
	k.App, _ = client.Lookup("application", "name").StringValueOK()
	address, _ := client.Lookup("mongos", "client").StringValueOK()
	if k.Client = address; address != "" {
		if host, _, err := net.SplitHostPort(address); err == nil {
			k.Client = host
		}
	}
	comment, _ := command.Lookup("comment").StringValueOK()
	k.reader, _ = parseReader(comment)
	return k, true
}

// Reader is what the reads of a process are marked with, in their comment, so that their cursors can be told from those
// of others.
type Reader struct {
	// Installation is the same for all processes that share a store, and for no others; "" for a process without one.
	Installation string
	Process      string // of this process alone
}

const readerMark = "shardboard reads "

// comment is what a read carries.
func (r Reader) comment() string { return readerMark + r.Installation + "/" + r.Process }

// parseReader is the reader of a comment.
func parseReader(comment string) (r Reader, ok bool) {
	ids, ok := strings.CutPrefix(comment, readerMark)
	if !ok {
		return r, false
	}
	r.Installation, r.Process, ok = strings.Cut(ids, "/")
	if !ok || r.Process == "" {
		return Reader{}, false
	}
	return r, true
}

// marked is a read with the mark of this process.
func (p *pool) marked(cmd bson.D) bson.D {
	return append(slices.Clip(cmd), bson.E{Key: "comment", Value: p.reader.comment()})
}
