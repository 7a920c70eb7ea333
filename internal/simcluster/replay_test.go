package simcluster

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/value"
)

// step is one line of a recording of a real 5.0.7: a command with its reply or
// error, or a dump of a config collection.
type step struct {
	N     int
	Kind  string
	Note  string
	DB    string
	Cmd   bson.Raw
	Reply bson.RawValue
	Error bson.Raw
}

// answer is the recorded reply, or the server's own words inside an error.
func (s step) answer() (reply bson.RawValue, failed bool) {
	if s.Error == nil {
		return s.Reply, false
	}
	if raw, ok := s.Error.Lookup("raw").DocumentOK(); ok {
		return value.Doc(raw), true
	}
	return value.Doc(s.Error), true
}

func recording(t testing.TB, name string) []step {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name+".jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 64<<20)
	var steps []step
	for lines.Scan() {
		var raw bson.Raw
		if err := bson.UnmarshalExtJSON(lines.Bytes(), true, &raw); err != nil {
			t.Fatalf("%s line %d: %v", name, len(steps)+1, err)
		}
		var s step
		if err := bson.Unmarshal(raw, &s); err != nil {
			t.Fatalf("%s line %d: %v", name, len(steps)+1, err)
		}
		steps = append(steps, s)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return steps
}

// owned are the commands whose replies are this package's doing.
var owned = map[string]bool{
	"hello": true, "isMaster": true, "buildInfo": true, "getParameter": true, "connectionStatus": true,
	"listIndexes": true, "insert": true, "update": true, "delete": true, "find": true, "aggregate": true,
	"count": true, "distinct": true, "explain": true, "collStats": true, "dataSize": true, "dbStats": true,
	"listCollections": true, "findAndModify": true, "createIndexes": true, "drop": true, "dropDatabase": true,
	"noSuchCommand": true, "moveRange": true, "analyzeShardKey": true, "checkMetadataConsistency": true,
}

// byChance are steps whose reply can't be foretold.
var byChance = map[string]string{
	"transcript 60": "which documents $sample draws",
	"transcript 69": "which of two indexes that are equally good wins the trial run",
}

func TestWalksReplay(t *testing.T) {
	for _, name := range []string{"walk-1", "walk-2", "walk-3"} {
		t.Run(name, func(t *testing.T) { replay(t, name, math.MaxInt) })
	}
}

// The balancer starts at step 131; from there on the outcome is its choice.
func TestTranscriptReplays(t *testing.T) { replay(t, "transcript", 130) }

// What mongosh sends for its helpers works, or fails with the same code. Its
// replies are full of uuids, so nothing more is compared.
func TestMongoshIsAnswered(t *testing.T) {
	c := empty(t)
	for _, s := range recording(t, "mongosh") {
		if s.Kind != "command" {
			continue
		}
		want, _ := s.answer()
		reply, _ := c.Command(t.Context(), s.DB, s.Cmd)
		for _, k := range []string{"ok", "code", "codeName", "errmsg"} {
			if w, g := value.Field(want.Value, k), value.Field(reply, k); !value.Identical(w, g) {
				t.Errorf("%d %s: %s is %s, want %s", s.N, shellText(s.Cmd), k, shellValue(g), shellValue(w))
			}
		}
	}
}

func replay(t *testing.T, name string, last int) {
	c := empty(t)
	checked := 0
	for _, s := range recording(t, name) {
		if s.Kind != "command" || s.N > last {
			continue
		}
		want, isError := s.answer()
		reply, err := c.Command(t.Context(), s.DB, s.Cmd)
		if reply == nil {
			t.Fatalf("%d %s: %v", s.N, s.Note, err)
		}
		if !owned[commandName(s.Cmd)] {
			if isError == truthy(reply.Lookup("ok")) {
				t.Logf("%d %s: %s answered %s", s.N, s.Note, shellText(s.Cmd), shellText(reply))
			}
			continue
		}
		if reason := byChance[fmt.Sprint(name, " ", s.N)]; reason != "" {
			continue
		}
		checked++
		for _, diff := range differences(commandName(s.Cmd), want, value.Doc(reply)) {
			t.Errorf("%d %s: %s", s.N, s.Note, diff)
		}
	}
	t.Logf("%d replies checked", checked)
}

// Every shape of request that Yorkie sends works on the layout that Yorkie has.
// The recording is not a whole conversation, so what is found is not compared.
func TestYorkieIsAnswered(t *testing.T) {
	c, err := New(t.Context(), Options{Projects: 2, Documents: 5, Still: true, Epoch: fixedEpoch()})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, coll := range []string{"clusternodes", "projects", "users"} {
		must(t, c, "yorkie-meta", d("delete", coll, "deletes", bson.A{d("q", bson.D{}, "limit", 0)}))
	}
	for _, s := range recording(t, "yorkie") {
		reply, err := c.Command(t.Context(), s.DB, s.Cmd)
		if err != nil && strings.Contains(err.Error(), "index: secret_key_1") {
			continue // the recording has the same text for every secret
		}
		if err != nil {
			t.Errorf("%d %s: %v", s.N, shellText(s.Cmd), err)
		}
		for k := range value.Elements(s.Reply.Value) {
			// An update that finds nothing upserts or not, as its document is there.
			if k != "upserted" && value.Field(reply, k).Type == 0 {
				t.Errorf("%d %s: the reply has no %s", s.N, commandName(s.Cmd), k)
			}
		}
	}
}
