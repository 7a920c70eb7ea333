package simcluster

import (
	"path/filepath"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/value"
	"shardboard/internal/simcluster/replay"
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

func recording(t testing.TB, name string) (steps []step) {
	t.Helper()
	for line, err := range replay.Lines(filepath.Join("testdata", "recordings", name+".jsonl.gz")) {
		var s step
		if err == nil {
			err = bson.Unmarshal(line, &s)
		}
		must(t, err)
		steps = append(steps, s)
	}
	return steps
}
