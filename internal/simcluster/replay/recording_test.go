package replay

import (
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/must"
)

// step is one line of a recording: a command with its reply or error, or a dump of
// all documents of a config collection.
type step struct {
	N     int
	Kind  string
	Note  string
	DB    string
	Cmd   bson.Raw
	Reply bson.RawValue
	Error bson.Raw
}

// name is the command's name; for a dump, or a read of a config collection, that of
// the collection.
func (s step) name() string {
	if s.Kind == "dump" {
		return strings.TrimPrefix(s.DB, "config.")
	}
	name := firstKey(s.Cmd)
	if s.DB == "config" && (name == "find" || name == "aggregate") {
		return s.Cmd.Lookup(name).StringValue()
	}
	return name
}

func firstKey(d bson.Raw) string {
	e, err := d.IndexErr(0)
	if err != nil {
		return ""
	}
	return e.Key()
}

// answer is the whole document that the server sent, be it a reply or an error. Of
// some errors only the parts that a driver shows are recorded.
func (s step) answer() (answer bson.Raw, whole bool) {
	if s.Error == nil {
		d, _ := s.Reply.DocumentOK()
		return d, true
	}
	if raw, ok := s.Error.Lookup("raw").DocumentOK(); ok {
		return raw, true
	}
	return s.Error, false
}

// recordings are the files by name, read once.
var recordings sync.Map

func recording(t testing.TB, name string) []step {
	t.Helper()
	read, _ := recordings.LoadOrStore(name, sync.OnceValues(func() ([]step, error) { return readRecording(name) }))
	steps, err := read.(func() ([]step, error))()
	must.That(t, err == nil, "read %s: %v", name, err)
	return steps
}

func readRecording(name string) (steps []step, err error) {
	for line, err := range Lines(filepath.Join("..", "testdata", "recordings", name+".jsonl.gz")) {
		var s step
		if err == nil {
			err = bson.Unmarshal(line, &s)
		}
		if err != nil {
			return nil, err
		}
		steps = append(steps, s)
	}
	return steps, nil
}
