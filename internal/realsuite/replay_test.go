package realsuite_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/must"
)

// replayVariable names a recording of a walk, such as make record writes.
const replayVariable = "SHARDBOARD_REPLAY_FROM"

// TestRecordingIsAnsweredAlike sends a recorded walk to the newest release that is there, or to a
// simulated one (SHARDBOARD_REPLAY_ON), and compares every reply with the recorded one.
func TestRecordingIsAnsweredAlike(t *testing.T) {
	path := os.Getenv(replayVariable)
	if path == "" {
		t.Skipf("%s names no recording", replayVariable)
	}
	all := targets(t)
	g := all[len(all)-1]
	if release := os.Getenv("SHARDBOARD_REPLAY_ON"); release != "" {
		g = target{release: release, simulated: true}
	}
	w := newWorld(t, g, form{}, wanted{orphanDelay: shortOrphans})
	compare := newComparison(t, releaseBeside(w))
	r := &recorded{db: strings.ReplaceAll(strings.TrimSuffix(filepath.Base(path), ".jsonl"), "-", "")}
	own := side{g.name(), w.connect(w.cluster.URI()), r.db}
	lines, different := readLines(t, path), 0
	for _, l := range lines {
		s := walkStep{note: l.Note, db: l.DB}
		if l.Cmd != nil {
			w.must(bson.UnmarshalExtJSON(l.Cmd, true, &s.cmd))
		}
		want, err := r.reply(s, l)
		w.must(err)
		got, err := own.do(w.Context(), s)
		w.must(err)
		found := compare.compare(nameOfStep(s), want, got.reply)
		if len(found) > 0 {
			different++
		}
		for _, d := range found[:min(len(found), 6)] {
			t.Errorf("%d %s: %s", l.N, l.Note, d)
		}
	}
	t.Logf("%d of %d steps differ", different, len(lines))
}

// recorded reads the replies of a recording.
type recorded struct {
	db    string
	names map[string]string // of collections, by uuid, as last seen
}

// reply is the recorded reply; a dump is reduced to the walk's database and put into the order in which
// dump reads, because recordings have chunks in the order of uuids.
func (r *recorded) reply(s walkStep, l line) (bson.RawValue, error) {
	text := l.Reply
	if l.Error != nil {
		text = l.Error.Raw
	}
	var holder struct{ V bson.RawValue }
	if err := bson.UnmarshalExtJSON([]byte(`{"v":`+string(text)+`}`), true, &holder); err != nil || s.cmd != nil {
		return holder.V, err
	}
	rows, err := holder.V.Array().Values()
	if err != nil {
		return holder.V, err
	}
	var kept []bson.Raw
	for _, row := range rows {
		d := row.Document()
		uuid := fmt.Sprint(d.Lookup("uuid"))
		ns, _ := d.Lookup("ns").StringValueOK()
		id, _ := d.Lookup("_id").StringValueOK()
		switch nameOfStep(s) {
		case "collections":
			if r.names == nil {
				r.names = make(map[string]string)
			}
			r.names[uuid] = id
			ns = id
		case "databases":
			ns = id
		case "chunks":
			ns = r.names[uuid]
		case "shards":
			ns = r.db
		}
		if ns == r.db || strings.HasPrefix(ns, r.db+".") {
			kept = append(kept, d)
		}
	}
	if nameOfStep(s) == "chunks" {
		slices.SortStableFunc(kept, func(a, b bson.Raw) int {
			return strings.Compare(r.names[fmt.Sprint(a.Lookup("uuid"))], r.names[fmt.Sprint(b.Lookup("uuid"))])
		})
	}
	a, err := asArray(kept)
	return a.reply, err
}

func readLines(t *testing.T, path string) (lines []line) {
	t.Helper()
	f := must.Get(os.Open(path))
	defer f.Close()
	in := bufio.NewScanner(f)
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		var l line
		must.Do(t, json.Unmarshal(in.Bytes(), &l))
		lines = append(lines, l)
	}
	return lines
}
