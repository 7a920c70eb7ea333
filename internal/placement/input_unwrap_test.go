package placement

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
)

// TestAProjectIsFoundAsSupportCopiesIt: in quotes, as shells and drivers print it, in lines of logs, from our own
// addresses, and half.
func TestAProjectIsFoundAsSupportCopiesIt(t *testing.T) {
	p := Project{DB: db, ID: bson.ObjectID{0x68, 0x79, 0x7c, 0x08, 0xe2, 11: 0x80}, Name: "atlas-board"}
	l := locator(t, &fakeSource{}, p, project(7, "other", ""))
	id, name := p.ID.Hex(), p.Name
	for _, text := range []string{
		`"` + id + `"`, "'" + id + "'", "`" + id + "`", "<" + id + ">", id + ",", " \n" + id + "\n", strings.ToUpper(id),
		`ObjectId("` + id + `")`, `ObjectId('` + id + `')`, `{"$oid":"` + id + `"}`, `{"_id": {"$oid": "` + id + `"}}`,
		`{"project_id":{"$oid":"` + id + `"}}`, `project_id: ObjectId("` + id + `")`, "id=" + id, "pin-" + id,
		"ERROR push failed project=" + id + " tries=3", "http://board.example/locate?q=" + id, "/locate?q=" + id + "&why=1",
		"http://board.example/projects/" + id, id[:10], `"` + name + `"`, "“" + name + "”", "project: " + name, "name=" + name,
		strings.ToUpper(name), name + " ",
	} {
		a, err := l.Ask(t.Context(), Query{Text: text, Near: true})
		if err != nil || len(a.Items) == 0 || a.Items[0].Project == nil || a.Items[0].Project.ID != p.ID {
			t.Errorf("%q: %v, %+v", text, err, a.Items)
		}
	}
}

func TestATextThatHoldsNothingSaysWhatToDo(t *testing.T) {
	l := locator(t, &fakeSource{}, project(7, "other", ""))
	for text, want := range map[string]string{
		"one\ntwo": "Many lines at once",
		"aaaaaaaaaaaaaaaaaaaaaaaa, bbbbbbbbbbbbbbbbbbbbbbbb": "several ids",
		"http://board.example/shards/one":                    "names no project",
		strings.Repeat("a", 64):                              "No project has this name",
		"2026-11-22T10:00:00Z":                               "No project has this name",
	} {
		a, err := l.Ask(t.Context(), Query{Text: text, Near: true})
		if fault.Of(err) != fault.NotFound || !strings.Contains(fault.Text(err), want) || len(a.Items) > 0 {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
