package history

import (
	"bufio"
	"compress/gzip"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// recordedFailures are the texts of failed moves that real servers gave, by release: replies to moveChunk and
// moveRange, and the entries of the changelog.
func recordedFailures(t *testing.T) map[string]map[string]string {
	t.Helper()
	texts := map[string]map[string]string{"5.0.7": {}, "8.0.10": {}}
	root := filepath.Join("..", "simcluster", "testdata", "recordings")
	for folder, release := range map[string]string{".": "5.0.7", "8.0": "8.0.10"} {
		files, err := filepath.Glob(filepath.Join(root, folder, "*.jsonl.gz"))
		must.That(t, err == nil && len(files) >= 10, "%d recordings of %s, %v", len(files), release, err)
		for _, name := range files {
			for _, text := range failuresIn(t, name) {
				texts[release][text] = filepath.Base(name)
			}
		}
	}
	return texts
}

func failuresIn(t *testing.T, name string) (texts []string) {
	t.Helper()
	file := must.Get(os.Open(name))
	defer func() { _ = file.Close() }()
	plain := must.Get(gzip.NewReader(file))
	lines := bufio.NewScanner(plain)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		if !strings.Contains(lines.Text(), `"errmsg"`) {
			continue
		}
		var step struct {
			Cmd   bson.Raw
			Error *struct{ Codename, Errmsg string }
			Reply bson.RawValue
		}
		if err := bson.UnmarshalExtJSON(lines.Bytes(), false, &step); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		command := ""
		if elements, _ := step.Cmd.Elements(); len(elements) > 0 {
			command = elements[0].Key()
		}
		if step.Error != nil && (command == "moveChunk" || command == "moveRange") {
			texts = append(texts, step.Error.Errmsg)
		}
		texts = append(texts, entriesIn(step.Reply)...)
	}
	must.Do(t, lines.Err())
	return texts
}

// entriesIn are the reasons of all changelog entries in a value, however deep.
func entriesIn(v bson.RawValue) (texts []string) {
	var inside bson.Raw
	if doc, ok := v.DocumentOK(); ok {
		inside = doc
		if what, _ := doc.Lookup("what").StringValueOK(); strings.HasPrefix(what, "moveChunk") {
			if text, ok := doc.Lookup("details", "errmsg").StringValueOK(); ok {
				return []string{text}
			}
		}
	} else if list, ok := v.ArrayOK(); ok {
		inside = bson.Raw(list)
	}
	values, _ := inside.Values()
	for _, one := range values {
		texts = append(texts, entriesIn(one)...)
	}
	return texts
}

// Which release showed which phrase. Phrases that are not listed are from the server's source: no recording has them.
var recordedPhrases = map[string]string{
	"Failed to delete orphaned":                                          "5.0.7",
	"the orphans cleanup routine":                                        "8.0.10",
	"Unable to start new balancer operation":                             "5.0.7 8.0.10",
	"undergoing changes and chunks cannot be moved":                      "5.0.7 8.0.10",
	"the maximum number of documents for a chunk":                        "5.0.7 8.0.10",
	"Location51008":                                                      "5.0.7",
	"InterruptedDueToReplStateChange":                                    "5.0.7",
	"NotWritablePrimary":                                                 "5.0.7",
	"not authorized":                                                     "5.0.7 8.0.10",
	"requires authentication":                                            "5.0.7 8.0.10",
	"is not in the correct zone":                                         "5.0.7",
	"is currently draining":                                              "5.0.7 8.0.10",
	"no chunk found with the shard key bounds":                           "5.0.7 8.0.10",
	"destination shard does not exist":                                   "5.0.7 8.0.10",
	"Could not find destination shard":                                   "8.0.10",
	"to monitor data transfer :: caused by :: operation was interrupted": "8.0.10",
	"Location6718402":                                                    "8.0.10",
	"exceeded time limit":                                                "5.0.7 8.0.10",
	"timed out":                                                          "8.0.10",
	"operation was interrupted":                                          "8.0.10",
}

// Refusals of commands that no plan sends: they stay in the server's words.
var recordedOthers = []string{
	"Expected collection eight.plain to be sharded",
	"cannot specify bounds and query at the same time",
	"collection eight.plain not found",
	"need to specify either a find query, or both lower and upper bounds.",
	"no such cmd: moveRange",
}

func TestReasonsAreHeldToTheRecordingsOfBothReleases(t *testing.T) {
	texts := recordedFailures(t)
	got, others := map[string]string{}, []string{}
	for _, release := range []string{"5.0.7", "8.0.10"} {
		for text, recording := range texts[release] {
			code, phrase := phraseOf(text)
			switch {
			case code == OtherReason:
				others = append(others, text)
			case phrase == "":
				t.Errorf("%s, %s: %q is %s", release, recording, text, code)
			case !strings.Contains(got[phrase], release):
				got[phrase] = strings.TrimSpace(got[phrase] + " " + release)
			}
		}
	}
	expect.That(t, maps.Equal(got, recordedPhrases), "recorded phrases: %q", got)
	slices.Sort(others)
	if others = slices.Compact(others); !slices.Equal(others, recordedOthers) {
		t.Errorf("recorded texts without a phrase: %q", others)
	}
}
