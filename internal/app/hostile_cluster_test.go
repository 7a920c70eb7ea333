package app

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"shardboard/internal/fixture/must"
)

// hostilePayloads reads the names that an attacker would choose.
func hostilePayloads(t testing.TB) []string {
	t.Helper()
	text := must.Get(os.ReadFile("../../web/testdata/hostile.txt"))
	var out []string
	for line := range strings.Lines(string(text)) {
		if p, err := strconv.Unquote(strings.TrimSpace(line)); err == nil {
			out = append(out, p)
		}
	}
	must.That(t, len(out) >= 150, "only %d payloads", len(out))
	return out
}

// hostileCluster uses payloads as names of everything in a cluster that has a name. It
// writes to config directly, as a privileged attacker could, so that names exist that
// the commands would refuse.
type hostileCluster struct {
	payloads []string
	projects []bson.ObjectID
}

func newHostileCluster(payloads []string) *hostileCluster {
	e := &hostileCluster{payloads: payloads}
	for range payloads {
		e.projects = append(e.projects, bson.NewObjectID())
	}
	return e
}

func (e *hostileCluster) name(i int, sink string) string {
	return e.payloads[i] + fmt.Sprintf("~%s%03d", sink, i)
}

// field returns a valid name for a BSON field.
func (e *hostileCluster) field(i int) string {
	return strings.NewReplacer("\x00", "x", "$", "x", ".", "x").Replace(e.name(i, "field"))
}

func (e *hostileCluster) db(i int) string { return strings.ReplaceAll(e.name(i, "db"), ".", "x") }
func (e *hostileCluster) ns(i int) string { return "yorkie-meta." + e.name(i, "coll") }

// writeNames writes all names into the cluster.
func (e *hostileCluster) writeNames(t testing.TB, driver *mongo.Client) {
	t.Helper()
	rows := map[string][]any{}
	add := func(coll string, fields ...any) {
		var doc bson.D
		for i := 0; i < len(fields); i += 2 {
			doc = append(doc, bson.E{Key: fields[i].(string), Value: fields[i+1]})
		}
		rows[coll] = append(rows[coll], doc)
	}
	now, n := time.Now(), e.name
	for i := range e.payloads {
		uuid := bson.Binary{Subtype: 4, Data: fmt.Appendf(nil, "hostile-%08d", i)}
		add("shards", "_id", n(i, "shard"), "host", n(i, "set")+"/"+n(i, "host")+","+n(i, "second"), "state", 1, "tags", bson.A{n(i, "zone")})
		if strings.ContainsAny(e.db(i), "/\\ \"$\x00") || i%4 > 0 {
			add("databases", "_id", e.db(i), "primary", n(i, "shard"), "partitioned", true)
		}
		add("collections", "_id", e.ns(i), "uuid", uuid, "lastmodEpoch", bson.NewObjectID(), "lastmod", now,
			"timestamp", bson.Timestamp{T: 1, I: 1}, "key", bson.D{{Key: e.field(i), Value: int32(1)}}, "unique", false)
		bounds := []any{bson.MinKey{}, n(i, "lower"), n(i, "upper"), bson.MaxKey{}}
		at := func(k int) bson.D { return bson.D{{Key: e.field(i), Value: bounds[k]}} }
		for k := range 3 {
			shard := n((i+k)%len(e.payloads), "shard")
			add("chunks", "_id", bson.NewObjectID(), "uuid", uuid, "min", at(k), "max", at(k+1), "shard", shard,
				"lastmod", bson.Timestamp{T: uint32(k + 1)}, "jumbo", k == 1,
				"history", bson.A{bson.D{{Key: "validAfter", Value: bson.Timestamp{T: 5, I: 1}}, {Key: "shard", Value: shard}}})
		}
		add("tags", "_id", bson.NewObjectID(), "ns", e.ns(i), "min", at(1), "max", at(2), "tag", n(i, "zone"))
		add("mongos", "_id", n(i, "router"), "ping", now, "up", int64(3), "waiting", true, "mongoVersion", n(i, "release"))
		for k, what := range []string{"moveChunk.commit", "moveChunk.error", n(i, "what")} {
			add("changelog", "_id", n(i, "id")+what, "server", n(i, "server"), "shard", n(i, "wrote"), "clientAddr", "",
				"time", now.Add(time.Duration(3*i+k)*time.Millisecond), "what", what, "ns", e.ns(i), "details", bson.D{
					{Key: "min", Value: bson.D{{Key: "other", Value: n(i, "min")}}}, {Key: "max", Value: bson.D{{Key: "other", Value: n(i, "max")}}},
					{Key: "from", Value: n(i, "from")}, {Key: "to", Value: n(i, "to")},
					{Key: "errmsg", Value: n(i, "errmsg")}, {Key: "note", Value: n(i, "note")}})
		}
	}
	for i := 0; i < len(e.payloads); i += 4 { // only one in four, because each database is listed
		_, err := driver.Database(e.db(i)).Collection(strings.ReplaceAll(n(i, "loose"), "$", "x")).
			InsertOne(t.Context(), bson.D{{Key: "a", Value: 1}})
		var refused mongo.ServerError
		must.That(t, err == nil || errors.As(err, &refused) || strings.Contains(err.Error(), "name"), "%v", err)
	}
	// Chunks are written before their collections, so that no poll sees a gap.
	for _, coll := range []string{"shards", "databases", "chunks", "collections", "tags", "mongos", "changelog"} {
		_, err := driver.Database("config").Collection(coll).InsertMany(t.Context(), rows[coll])
		must.That(t, err == nil, "%s: unexpected error: %v", coll, err)
	}
}

// writeProjects writes projects with one document each.
func (e *hostileCluster) writeProjects(t testing.TB, driver *mongo.Client) {
	t.Helper()
	var projects, documents []any
	for i, id := range e.projects {
		projects = append(projects, bson.D{{Key: "_id", Value: id}, {Key: "name", Value: e.name(i, "project")},
			{Key: "owner", Value: bson.NewObjectID()}, {Key: "public_key", Value: e.name(i, "public")},
			{Key: "secret_key", Value: e.name(i, "never")}, {Key: "created_at", Value: time.Now()}})
		documents = append(documents, bson.D{{Key: "_id", Value: bson.NewObjectID()}, {Key: "project_id", Value: id},
			{Key: "key", Value: e.name(i, "document")}, {Key: "server_seq", Value: int64(1)}, {Key: "created_at", Value: time.Now()}})
	}
	for coll, rows := range map[string][]any{"projects": projects, "documents": documents} {
		_, err := driver.Database("yorkie-meta").Collection(coll).InsertMany(t.Context(), rows)
		must.That(t, err == nil, "%s: unexpected error: %v", coll, err)
	}
}

// shownAt is an address and the text that its page must show.
type shownAt struct{ path, shows string }

// pages returns the addresses about the i-th name of each kind.
func (e *hostileCluster) pages(i int) []shownAt {
	ns, shard := e.ns(i), e.name(i, "shard")
	return []shownAt{
		{"projects/" + e.projects[i].Hex(), e.name(i, "public")},
		{"locate?q=" + url.QueryEscape(e.projects[i].Hex()+"/"+e.name(i, "document")), e.name(i, "document")},
		{"collections/" + url.PathEscape(ns), ns},
		{"shards/" + url.PathEscape(shard), shard},
		{"locate?q=" + url.QueryEscape(e.name(i, "nobody")), e.name(i, "nobody")},
		{"projects?q=" + url.QueryEscape(e.name(i, "public")), e.name(i, "public")},
		{"nothing/" + url.PathEscape(e.name(i, "nowhere")), ""},
	}
}
