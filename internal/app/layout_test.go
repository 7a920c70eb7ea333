package app

import (
	"net/url"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/only"
	"shardboard/internal/profile"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// Each simulated layout is recognised. For 200 documents and every collection with rows
// of a document, the located shard agrees with the cluster's explain.
func TestEveryLayoutIsRecognisedAndLocateAgreesWithExplain(t *testing.T) {
	only.Long(t, "starts a whole demo per layout")
	for _, layout := range profile.Yorkie().Layouts {
		t.Run(layout.Name, func(t *testing.T) {
			d := startDemo(t, simcluster.Options{Layout: layout.Name, Projects: 10, Documents: 260, Still: true}, topology.Options{})
			var found struct{ Items []layoutItem }
			d.getJSON(t, "api/v1/layout", &found)
			must.That(t, len(found.Items) == 1 && found.Items[0].Nearest == layout.Name && found.Items[0].Looks == 0,
				"recognised as %+v", found.Items)
			for _, f := range found.Items[0].Findings {
				expect.Equal(t, f.Code, "documented", "the finding of %s", f.NS)
			}
			d.checkLocate(t, layout, 200)
		})
	}
}

type layoutItem struct {
	DB, Profile, Nearest, Compared string
	Looks                          int
	Findings                       []struct{ Code, NS, Means, Todo string }
}

// checkLocate compares n located documents with explain.
func (d *demo) checkLocate(t *testing.T, layout profile.Layout, n int) {
	t.Helper()
	cursor, err := d.driver.Database("yorkie-meta").Collection("documents").Find(t.Context(), bson.D{})
	must.Do(t, err)
	var docs []struct {
		ID      bson.ObjectID `bson:"_id"`
		Project bson.ObjectID `bson:"project_id"`
		Key     string        `bson:"key"`
	}
	must.Do(t, cursor.All(t.Context(), &docs))
	compared := map[string]int{}
	for _, doc := range docs[:n] {
		var answer struct {
			Items []struct {
				ID     string
				Places []struct {
					NS, Shard, State string
					Exact            bool
				}
			}
		}
		d.getJSON(t, "api/v1/locate?q="+url.QueryEscape(doc.Project.Hex()+"/"+doc.Key), &answer)
		for _, item := range answer.Items {
			if item.ID != doc.ID.Hex() {
				continue // a removed document with the same key
			}
			for _, p := range item.Places {
				_, name, _ := strings.Cut(p.NS, ".")
				c, ok := layout.Collection(name)
				must.That(t, ok, "%s does not belong to the layout %s", p.NS, layout.Name)
				filter := bson.D{{Key: c.ProjectField, Value: doc.Project}, {Key: c.DocumentField, Value: doc.ID}}
				got := d.explain(t, p.NS, filter)
				expect.That(t, p.Exact && len(got) == 1 && got[0] == p.Shard, "%s %s: located on %s, explain says %v", p.NS, item.ID, p.Shard, got)
				compared[name]++
			}
		}
	}
	for _, c := range layout.Collections {
		expect.That(t, c.DocumentField == "" || compared[c.Name] == n, "%s: %d of %d documents compared", c.Name, compared[c.Name], n)
	}
}
