package simcluster

import (
	"bufio"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/value"
)

// step is one line of a recording of a real 5.0.7 cluster: a command with its reply or
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

// answer returns the recorded reply, or the server's reply inside an error.
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
	f, err := os.Open(filepath.Join("testdata", "recordings", name+".jsonl.gz"))
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
