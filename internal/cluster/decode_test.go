package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"pgregory.net/rapid"

	"shardboard/internal/balance"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/profile"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// doc parses canonical Extended JSON.
func doc(t testing.TB, text string) bson.Raw {
	t.Helper()
	var d bson.D
	must.Do(t, bson.UnmarshalExtJSON([]byte(text), true, &d))
	return must.Get(bson.Marshal(d))
}

const chunk50 = `{"_id":{"$oid":"6b01b7482b3f21e86666bad5"},"uuid":{"$binary":{"base64":"437qTOWYQT+fO/TuVENVIg==","subType":"04"}},
 "min":{"doc_id":{"$numberLong":"1234567890123456789"}},"max":{"doc_id":{"$numberLong":"3074457345618258602"}},"shard":"shard-rs-1",
 "lastmod":{"$timestamp":{"t":2,"i":7}},"history":[{"validAfter":{"$timestamp":{"t":1795274569,"i":260}},"shard":"shard-rs-1"},
 {"validAfter":{"$timestamp":{"t":1795274564,"i":86}},"shard":"shard-rs-2"}]}`

func decoder(t testing.TB) *chunkDecoder {
	t.Helper()
	p := must.Get(shardkey.ParsePattern(doc(t, `{"doc_id":"hashed"}`)))
	return &chunkDecoder{pattern: p, names: map[string]string{}, resolve: func([16]byte) string { return "by-uuid" }}
}

func decodeChunk(t testing.TB, raw bson.Raw) (topology.Chunk, error) {
	var row topology.ChunkRow
	err := decoder(t).decode(raw, &row)
	return row.Chunk(), err
}

func TestChunksOfOtherVersionsAreDecoded(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want func(topology.Chunk) bool
	}{
		"4.4, keyed by namespace": {`{"_id":{"$oid":"6b01b7482b3f21e86666bad5"},"ns":"a.b","lastmodEpoch":{"$oid":"6b01b7482b3f21e86666bad5"},"min":{"doc_id":{"$minKey":1}},
			"max":{"doc_id":{"$maxKey":1}},"shard":"s","lastmod":{"$timestamp":{"t":1,"i":0}},"jumbo":true}`,
			func(c topology.Chunk) bool { return c.Jumbo && c.Since.IsZero() }},
		"7.0, with onCurrentShardSince only": {`{"min":{"doc_id":{"$minKey":1}},"max":{"doc_id":{"$maxKey":1}},"shard":"s","lastmod":{"$timestamp":{"t":1,"i":0}},
			"onCurrentShardSince":{"$timestamp":{"t":5,"i":6}},"history":[]}`,
			func(c topology.Chunk) bool { return c.Since == bson.Timestamp{T: 5, I: 6} }},
		"9.x, shard by uuid": {`{"min":{"doc_id":{"$minKey":1}},"max":{"doc_id":{"$maxKey":1}},"shard":{"$binary":{"base64":"437qTOWYQT+fO/TuVENVIg==","subType":"04"}},
			"lastmod":{"$timestamp":{"t":1,"i":0}},"unknown":{"deep":[1,2,{"x":null}]}}`,
			func(c topology.Chunk) bool { return c.Shard == "by-uuid" }},
	} {
		got, err := decodeChunk(t, doc(t, c.text))
		expect.That(t, err == nil && c.want(got), "%s: %+v, %v", name, got, err)
	}
}

func TestMalformedChunksAreRefused(t *testing.T) {
	for _, text := range []string{
		`{}`,
		`{"min":1,"max":2,"shard":"s","lastmod":{"$timestamp":{"t":1,"i":0}}}`,
		`{"min":{"doc_id":{"$minKey":1}},"max":{"doc_id":{"$maxKey":1}},"shard":5,"lastmod":{"$timestamp":{"t":1,"i":0}}}`,
		`{"min":{"doc_id":{"$minKey":1}},"max":{"doc_id":{"$maxKey":1}},"shard":"s","lastmod":7}`,
		`{"min":{"doc_id":{"$minKey":1},"more":1},"max":{"doc_id":{"$maxKey":1}},"shard":"s","lastmod":{"$timestamp":{"t":1,"i":0}}}`,
		`{"min":{"other":{"$minKey":1}},"max":{"doc_id":{"$maxKey":1}},"shard":"s","lastmod":{"$timestamp":{"t":1,"i":0}}}`,
	} {
		if c, err := decodeChunk(t, doc(t, text)); err == nil {
			t.Errorf("%s became %+v", text, c)
		}
	}
}

func TestHeadsAreDecodedAcrossVersions(t *testing.T) {
	h, err := decodeHead(doc(t, `{"_id":"yorkie-meta.schemas","lastmodEpoch":{"$oid":"6b01b744771af06a2848c039"},"timestamp":{"$timestamp":{"t":1795274564,"i":61}},
		"uuid":{"$binary":{"base64":"3hMQOUlPQFaQiCp14FI1GQ==","subType":"04"}},"key":{"project_id":{"$numberInt":"1"}},"noBalance":true,"permitMigrations":false,
		"maxChunkSizeBytes":{"$numberLong":"1048576"},"enableAutoMerge":false,"defragmentCollection":true,
		"defragmentationPhase":"moveAndMergeChunks","top":[{"lastmod":{"$timestamp":{"t":3,"i":4}}}]}`))
	if err != nil || h.NS != "yorkie-meta.schemas" || !h.NoBalance || !h.MigrationsBlocked || h.LegacyChunks ||
		h.Highest != (topology.Version{Major: 3, Minor: 4}) ||
		h.Incarnation.UUID[0] != 0xde || h.Incarnation.Timestamp.I != 61 || h.MaxChunkBytes != 1<<20 || h.Unsplittable ||
		h.Upkeep != (topology.Upkeep{AutoMergeOff: true, Defragmenting: true, Phase: topology.PhaseMoveAndMerge}) {
		t.Errorf("%+v, %v", h, err)
	}
	h, err = decodeHead(doc(t, `{"_id":"a.b","lastmodEpoch":{"$oid":"6b01b744771af06a2848c039"},"uuid":{"$binary":{"base64":"3hMQOUlPQFaQiCp14FI1GQ==","subType":"04"}},
		"key":{"x":{"$numberDouble":"1.0"}},"unique":true,"top":[]}`))
	if err != nil || !h.LegacyChunks || !h.Unique || !h.Highest.IsZero() || h.Upkeep != (topology.Upkeep{}) {
		t.Errorf("without timestamp the chunks are by namespace: %+v, %v", h, err)
	}
	h, err = decodeHead(doc(t, `{"_id":"a.system.resharding.df24b196","timestamp":{"$timestamp":{"t":1,"i":1}},"key":{"_id":1},"unsplittable":true,"reshardingFields":{"uuid":1}}`))
	expect.That(t, err == nil && h.Temporary && h.Unsplittable && h.Resharding, "%+v, %v", h, err)
	for _, bad := range []string{`{}`, `{"_id":5}`, `{"_id":"a.b"}`, `{"_id":"a.b","key":{}}`, `{"_id":"a.b","key":7}`} {
		if h, err := decodeHead(doc(t, bad)); err == nil {
			t.Errorf("%s became %+v", bad, h)
		}
	}
}

func TestShardsAreDecoded(t *testing.T) {
	s, _, err := decodeShard(doc(t, `{"_id":"shard-rs-1","host":"rs/h1:1,h2:2","state":1,"tags":["z","a",7],"draining":true}`))
	if err != nil || s.ReplSet != "rs" || len(s.Hosts) != 2 || !s.Draining || fmt.Sprint(s.Zones) != "[a z]" {
		t.Fatalf("%+v, %v", s, err)
	}
	if _, _, err := decodeShard(doc(t, `{"_id":9,"host":5}`)); err == nil {
		t.Fatal("a shard without a name was taken")
	}
}

func TestFailuresAreClassified(t *testing.T) {
	u := must.Get(ParseURI("mongodb://u:s3cret@h:1/"))
	c := &Client{address: u}
	for _, e := range []struct {
		err  error
		kind fault.Kind
	}{
		{mongo.CommandError{Code: 13, Message: "not authorized on config to execute command"}, fault.Forbidden},
		{mongo.CommandError{Code: 13, Message: "command find requires authentication"}, fault.Forbidden},
		{mongo.CommandError{Code: 18, Message: "Authentication failed."}, fault.Forbidden},
		{mongo.CommandError{Code: 50}, fault.Unavailable},
		{mongo.CommandError{Code: 202}, fault.Unavailable},
		{mongo.CommandError{Code: 133}, fault.Unavailable},
		{mongo.CommandError{Code: 10107}, fault.Unavailable},
		{mongo.CommandError{Code: 26}, fault.NotFound},
		{mongo.CommandError{Code: 40324}, fault.NotFound},
		{mongo.CommandError{Code: 117}, fault.Conflict},
		{mongo.CommandError{Code: 0, Message: "no option found to get"}, fault.Internal},
		{mongo.CommandError{Code: 303, Message: "Feature not supported: aggregate"}, fault.Internal},
		{context.DeadlineExceeded, fault.Unavailable},
		{context.Canceled, fault.Unavailable}, // from the driver: the caller's context is not done
		{fmt.Errorf("dial: %w", io.EOF), fault.Unavailable},
		{errors.New("connection pool for sim:27017 was cleared because another operation failed with: read tcp: reset"), fault.Unavailable},
		{errors.New("connection(sim:27017[-5]) error occurred during connection handshake: bad"), fault.Unavailable},
		{mongo.CommandError{Code: 11601}, fault.Unavailable},
		{mongo.CommandError{Code: 13388}, fault.Unavailable},
		{errors.New("server selection error: context deadline exceeded, current topology: { Type: Unknown }"), fault.Unavailable},
		{errors.New(`connection() error occurred during connection handshake: auth error: sasl conversation error`), fault.Forbidden},
		{errors.New("something else"), fault.Internal},
	} {
		got := c.classify(t.Context(), e.err, "read the zones", "find on config.tags")
		var command mongo.CommandError // not comparable, so errors.Is has no use here
		if kept := errors.As(got, &command) || errors.Is(got, e.err); fault.Of(got) != e.kind || !kept {
			t.Errorf("%v became %v (%s)", e.err, got, fault.Of(got))
		}
		if command.Code == 303 && !strings.Contains(fault.Text(got), `"Feature not supported: aggregate"`) {
			t.Errorf("the server's words are missing in %q", fault.Text(got))
		}
		if silent := fault.Title(got) == fault.NoAnswerTitle; silent != (e.kind == fault.Unavailable) {
			t.Errorf("%v has the title %q", e.err, fault.Title(got))
		}
		if strings.Contains(fault.Text(got), "topology") || strings.Contains(fault.Text(got), "s3cret") {
			t.Errorf("the sentence %q shows too much", fault.Text(got))
		}
	}
	var denied *topology.DeniedError
	if !errors.As(c.classify(t.Context(), mongo.CommandError{Code: 13}, "x", "find on config.tags"), &denied) ||
		denied.Privilege != "find on config.tags" {
		t.Error("the privilege is not named")
	}
	told, stop := context.WithCancel(t.Context())
	stop()
	for _, cause := range []error{context.Canceled, errors.New("connection() incomplete read of message header: EOF")} {
		if err := c.classify(told, cause, "x", ""); !errors.Is(err, context.Canceled) || fault.Of(err) != fault.Internal {
			t.Errorf("being told to stop is no failure of the cluster: %v", err)
		}
	}
}

func TestStatisticsSubtractOrphansWhereTheServerCountsThem(t *testing.T) {
	old := decodeStats(doc(t, `{"size":{"$numberInt":"96048"},"count":{"$numberInt":"667"},"avgObjSize":{"$numberInt":"144"},"storageSize":{"$numberInt":"4096"},"totalIndexSize":{"$numberDouble":"8192.0"}}`), anyTime)
	if old.Bytes.Value != 96048 || old.Bytes.Exact || old.Orphans.Known || old.Orphans.Reason == "" || old.Indexes.Value != 8192 {
		t.Errorf("%+v", old)
	}
	newer := decodeStats(doc(t, `{"size":{"$numberLong":"1000"},"count":{"$numberLong":"10"},"avgObjSize":{"$numberInt":"100"},"numOrphanDocs":{"$numberLong":"3"}}`), anyTime)
	if newer.Bytes.Value != 700 || newer.Documents.Value != 7 || !newer.Documents.Exact || newer.Bytes.Exact {
		t.Errorf("%+v", newer)
	}
}

// Iterating over damaged documents ends without a panic.
func TestDamagedDocumentsAreHarmless(t *testing.T) {
	whole := doc(t, chunk50)
	rapid.Check(t, func(rt *rapid.T) {
		raw := append([]byte(nil), whole...)
		for range rapid.IntRange(1, 6).Draw(rt, "edits") {
			raw[rapid.IntRange(0, len(raw)-1).Draw(rt, "at")] = rapid.Byte().Draw(rt, "byte")
		}
		raw = raw[:rapid.IntRange(0, len(raw)).Draw(rt, "length")]
		_, _ = decodeChunk(t, raw)
		_, _ = decodeHead(raw)
		_, _, _ = decodeShard(raw)
		_ = decodeStats(raw, anyTime)
		_, _ = decodeProject(profile.Yorkie().Names, raw)
		_ = decodeDocument(profile.Yorkie().Keys, raw)
		_ = decodeEvent(raw)
		_ = balance.ReadSettings([]bson.Raw{raw}, balance.Release{8, 3, 0})
	})
}

// 8.0.10 writes what and ns of this entry in each other's place.
func TestEntriesOfARenameHaveTheSameFormInEveryRelease(t *testing.T) {
	const text = "db.a to db.b : dropped target collection."
	for _, raw := range []string{
		`{"what":"renameCollection.metadata","ns":"` + text + `"}`, `{"what":"` + text + `","ns":"renameCollection.metadata"}`,
	} {
		if e := decodeEvent(doc(t, raw)); e.What != "renameCollection.metadata" || e.NS != text {
			t.Errorf("%s was read as %+v", raw, e)
		}
	}
}

func TestShardIsFoundByItsReplicaSetOrElseByAHost(t *testing.T) {
	shards := []topology.Shard{
		{Name: "first", ReplSet: "rs-a", Hosts: []string{"a1:1", "a2:1"}},
		{Name: "rs-a", ReplSet: "rs-b", Hosts: []string{"b1:1"}}, // a name that is another's replica set
		{Name: "alone", Hosts: []string{"c1:1"}},
	}
	for address, want := range map[string]string{
		"rs-a/a1:1,a2:1": "first", "rs-a/a9:1": "first", "rs-b/b1:1": "rs-a", "renamed/a2:1,a3:1": "first",
		"c1:1": "alone", "cfg/x:1": "", "": "", "/": "", "first/z:1": "",
	} {
		expect.Equal(t, ownerOf(address, shards), want, "%q", address)
	}
}

func TestDiskIsKnownOnlyWhenItsShardReportsIt(t *testing.T) {
	at := time.Unix(1000, 0)
	for name, x := range map[string]struct {
		answer string
		reason string // "" = known
		good   bool
	}{
		"recorded":               {`{"db":"d","fsUsedSize":{"$numberDouble":"1.91566036992E+11"},"fsTotalSize":{"$numberDouble":"2.70553174016E+11"},"ok":{"$numberDouble":"1.0"}}`, "", true},
		"whole numbers":          {`{"fsUsedSize":{"$numberLong":"191566036992"},"fsTotalSize":{"$numberLong":"270553174016"}}`, "", true},
		"no such database there": {`{"collections":0,"fsUsedSize":{"$numberInt":"0"},"fsTotalSize":{"$numberInt":"0"},"ok":1}`, "noDisk", true},
		"not told":               {`{"fsUsedSize":{"$numberInt":"-1"},"fsTotalSize":{"$numberInt":"-1"},"ok":1}`, "noDisk", true},
		"nothing of a disk":      {`{"ok":1}`, "noDisk", true},
		"no numbers":             {`{"fsUsedSize":"12","fsTotalSize":"13","ok":1}`, "noDisk", true},
		"infinite":               {`{"fsUsedSize":{"$numberDouble":"Infinity"},"fsTotalSize":{"$numberDouble":"NaN"},"ok":1}`, "noDisk", true},
		"more than there is":     {`{"fsUsedSize":7,"fsTotalSize":6,"ok":1}`, "noDisk", true},
		"a failure":              {`{"ok":{"$numberDouble":"0.0"},"code":6,"errmsg":"no","fsUsedSize":1,"fsTotalSize":2}`, "unreachable", false},
	} {
		d, good := decodeDisk(doc(t, x.answer), at)
		if good != x.good || d.Known() != (x.reason == "") || d.Used.Reason != x.reason || d.Total.Reason != x.reason {
			t.Errorf("%s: %v %+v", name, good, d)
		}
		if d.Known() && (d.Used.Value != 191566036992 || d.Total.Value != 270553174016 || !d.Used.At.Equal(at) || d.Total.Method != "dbStats") {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

func TestVersionThatCannotBeReadIsNoRelease(t *testing.T) {
	for text, want := range map[string]version{
		"4.4.29": {4, 4, 29}, "8.0.0-rc1": {8, 0, 0}, "9.0": {9, 0, 0}, "7.1.0-alpha.3": {7, 1, 0}, "5.0.x": {5, 0, 0},
	} {
		if v, ok := parseVersion(text); !ok || v != want {
			t.Errorf("%q: got %v, %t, want %v", text, v, ok, want)
		}
	}
	for _, text := range []string{"", "none", "x.0.1", "8.y.0", "0.0.0", "-8.0.1", " 8.0.1", "8."} {
		if v, ok := parseVersion(text); ok || v != (version{}) {
			t.Errorf("%q: got %v, %t, want no release", text, v, ok)
		}
	}
}

// Every number of a server passes one door.
func TestNumbersOfServersPassOneDoor(t *testing.T) {
	files := must.Get(filepath.Glob("*.go"))
	for _, name := range files {
		text := must.Get(os.ReadFile(name))
		if name != "numbers.go" && !strings.HasSuffix(name, "_test.go") && strings.Contains(string(text), "AsInt64OK") {
			t.Errorf("%s reads a number without amount, float or duration", name)
		}
	}
}

// What cannot be an amount is not known, with the reason, and no other figure is lost for it.
func TestNumbersOutOfTheirRangeAreNotKnown(t *testing.T) {
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	bad := []any{int32(-1), int64(-20), int64(math.MinInt64), int64(math.MaxInt64), math.NaN(), math.Inf(1), math.Inf(-1), -0.5, 1e300}
	names := []string{"size", "count", "avgObjSize", "storageSize", "totalIndexSize", "numOrphanDocs"}
	for _, v := range bad {
		for _, of := range names {
			var stats bson.D
			for _, name := range names {
				stats = append(stats, bson.E{Key: name, Value: int64(10)})
				if name == of {
					stats[len(stats)-1].Value = v
				}
			}
			raw := must.Get(bson.Marshal(stats))
			s := decodeStats(raw, at)
			known := 0
			for _, f := range []topology.Figure{s.Bytes, s.Documents, s.Orphans, s.Storage, s.Indexes} {
				switch {
				case f.Known && (f.Value < 0 || f.Value > 10), !f.Known && f.Reason != "outOfRange":
					t.Errorf("%s %v: %+v", of, v, s)
				case f.Known:
					known++
				}
			}
			expect.That(t, known == 4, "%s %v: %d figures are known, expected 4", of, v, known)
		}
		owned := must.Get(bson.Marshal(bson.D{{Key: "shardName", Value: "a"}, {Key: "numOwnedDocuments", Value: v},
			{Key: "ownedSizeBytes", Value: 7}}))
		_, s := decodeOwned(owned, at)
		if s.Documents.Known || s.Documents.Exact || s.Documents.Reason != "outOfRange" || s.Bytes.Value != 7 {
			t.Errorf("%v: %+v", v, s)
		}
		raw := must.Get(bson.Marshal(bson.D{{Key: "v", Value: v}}))
		if d, ok := duration(bson.Raw(raw).Lookup("v"), time.Second); ok {
			t.Errorf("%v lasts %v", v, d)
		}
	}
	for v, want := range map[any]string{int32(3): "3", 3.9: "3", int64(1) << 52: "4503599627370496"} {
		raw, err := bson.Marshal(bson.D{{Key: "v", Value: v}})
		if n, ok := topology.Amount(bson.Raw(raw).Lookup("v")); err != nil || !ok || fmt.Sprint(n) != want {
			t.Errorf("%v: %d %t %v", v, n, ok, err)
		}
	}
}
