package problems_test

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer/logbook"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster/replay"
	"shardboard/internal/topology"
	"shardboard/web/webtest"
)

func TestEventsTellFailuresFromRacesThatCostNothing(t *testing.T) {
	details := func(d bson.D) bson.Raw { return webtest.Must(bson.Marshal(d)) }
	v := webtest.NewStory().View()
	for _, c := range []struct {
		what   string
		d      bson.D
		failed bool
		want   string
	}{
		{"moveChunk.error", bson.D{{Key: "from", Value: "a"}, {Key: "to", Value: "b"}}, true, "Failed to move a chunk"},
		{"moveChunk.from", bson.D{{Key: "from", Value: "a"}, {Key: "to", Value: "b"}, {Key: "note", Value: "aborted"}}, true, "Donor gave up"},
		{"moveChunk.from", bson.D{{Key: "from", Value: "a"}, {Key: "to", Value: "a"}, {Key: "note", Value: "aborted"}}, false, "already has"},
		{"moveChunk.from", bson.D{{Key: "from", Value: "a"}, {Key: "to", Value: "b"}, {Key: "note", Value: "success"}}, false, "Donor finished"},
		{"split", bson.D{{Key: "before", Value: bson.D{}}, {Key: "owningShard", Value: "a"}}, false, "Split a chunk in two"},
		{"setPermitMigrations", bson.D{{Key: "permitMigrations", Value: false}}, false, "Blocked moves of"},
		{"setPermitMigrations", bson.D{{Key: "permitMigrations", Value: true}}, false, "Allowed moves of"},
		{"resharding.coordinator.transition", bson.D{{Key: "newState", Value: "cloning"}}, false, `the state "cloning"`},
		{"brand.new.entry", bson.D{}, false, "brand.new.entry"},
	} {
		row := logbook.EventOf(v, logbook.ReadEvent(topology.Event{What: c.what, Time: webtest.Epoch, Details: details(c.d)}))
		if row.Failed != c.failed || !strings.Contains(row.Text, c.want) || (row.Brief != "") != c.failed {
			t.Errorf("%s %v: %+v", c.what, c.d, row)
		}
	}
}

// Every kind of entry that a real 5.0.7 and 8.0.10 wrote is in words.
func TestRecordedEntriesAreInWords(t *testing.T) {
	var found func(bson.RawValue, map[string]bool)
	found = func(v bson.RawValue, whats map[string]bool) {
		if v.Type != bson.TypeEmbeddedDocument && v.Type != bson.TypeArray {
			return
		}
		if what, ok := bson.Raw(v.Value).Lookup("what").StringValueOK(); ok && v.Type == bson.TypeEmbeddedDocument {
			if ns, _ := bson.Raw(v.Value).Lookup("ns").StringValueOK(); ns == "renameCollection.metadata" {
				what = ns // 8.0.10 exchanges the two
			}
			whats[what] = true
			return
		}
		values, _ := bson.Raw(v.Value).Values()
		for _, e := range values {
			found(e, whats)
		}
	}
	for release, folder := range map[string]string{"5.0.7": "", "8.0.10": "8.0/"} {
		whats := map[string]bool{}
		for _, name := range []string{"transcript", "faults", "jumbo", "walk-1", "inflight"} {
			for line, err := range replay.Lines("../../simcluster/testdata/recordings/" + folder + name + ".jsonl.gz") {
				must.Do(t, err)
				if db, _ := line.Lookup("db").StringValueOK(); db == "config.changelog" {
					found(line.Lookup("reply"), whats)
				}
			}
		}
		for what := range whats {
			expect.That(t, logbook.ReadEvent(topology.Event{What: what}).Text() != what, "%s: %s has no words", release, what)
		}
		expect.That(t, len(whats) >= 15, "%s: only %d kinds of entries", release, len(whats))
	}
}
