package shards_test

import (
	"fmt"
	"math"
	"net/url"
	"strings"
	"testing"

	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// estimated is a site whose list has the projects of the estimates.
func estimated(t *testing.T, change ...func(*site.Deps)) *webtest.Server {
	t.Helper()
	v := webtest.NewStory().View()
	var list []placement.Project
	for i := range 7 {
		list = append(list, placement.Project{DB: "yorkie-meta", ID: webtest.ProjectID(i), Name: fmt.Sprint("project-", i)})
	}
	s := webtest.New(t, change...)
	s.Watcher.Value = v.Table
	s.Keeper.Value = placement.NewDirectory(1, []string{"yorkie-meta"}, list, topology.Health{At: v.Now})
	return s
}

func TestProjectsOfACollectionAreThoseOfTheEstimates(t *testing.T) {
	s := estimated(t)
	listed := 0
	for _, shard := range webtest.Decode[api.List[api.Shard]](t, s.Do("GET", "/api/v1/shards")).Items {
		name := url.PathEscape(shard.Name)
		for _, ns := range []string{"yorkie-meta.changes", "yorkie-meta.documents"} {
			for _, by := range []string{"bytes", "documents"} {
				of := name + "/why?ns=" + ns + "&by=" + by
				all := of
				if ns == "yorkie-meta.changes" {
					chunks := why(t, s, of)
					expect.That(t, chunks.Level == "chunks", "%s: level %s, though only chunks can be moved", of, chunks.Level)
					all += "&project=all"
				}
				a := why(t, s, all)
				addsUp(t, a)
				must.That(t, a.Level == "projects", "%s: level %s", of, a.Level)
				for _, p := range a.Items {
					if p.Kind != "project" {
						continue
					}
					listed++
					expect.That(t, p.ReadAt != nil && (p.Exact || p.Low != nil && *p.Low <= *p.Here+1 && *p.High >= *p.Here-1), "%s: %+v", of, p)
					if inside := why(t, s, of+"&project="+p.Project); ns == "yorkie-meta.documents" {
						addsUp(t, inside)
						if math.Abs(*inside.Here-*p.Here) > float64(len(a.Items)) {
							t.Errorf("%s: %s has %v here, and its chunks %v", of, p.Text, *p.Here, *inside.Here)
						}
					}
				}
			}
		}
	}
	must.That(t, listed != 0, "no project is listed")
}

func TestEstimatedPartsSayHowFarTheyCanBeOffAndWhenTheyWereRead(t *testing.T) {
	s := estimated(t)
	shard := url.PathEscape(webtest.Decode[api.List[api.Shard]](t, s.Do("GET", "/api/v1/shards")).Items[0].Name)
	doc := s.Page(t, "/shards/"+shard+"/why?ns=yorkie-meta.changes&project=all")
	row := doc.Find(".waterfall tr.is-project").First()
	expect.Contains(t, row.Find(`[data-label="Here"]`).Text(), "±", "the estimate")
	note := doc.Find("#live-why .under").Text()
	expect.Contains(t, note, "is estimated from 400 rows read", "the note")
	if href := row.Find("th a").AttrOr("href", ""); !strings.HasPrefix(href, "/projects/") || !strings.Contains(href, "?shard=") {
		t.Errorf("a project without chunks of its own leads to %q", href)
	}
	chunks := why(t, s, shard+"/why?ns=yorkie-meta.changes&project=several")
	expect.That(t, chunks.Level == "chunks" && len(chunks.Items) != 0, "by chunk: %+v", chunks)
}

func TestWithoutEstimatesProjectsAreThoseWithChunksOfTheirOwn(t *testing.T) {
	s := estimated(t, func(d *site.Deps) { d.Measured.Holdings = nil })
	shard := url.PathEscape(webtest.Decode[api.List[api.Shard]](t, s.Do("GET", "/api/v1/shards")).Items[0].Name)
	a := why(t, s, shard+"/why?ns=yorkie-meta.changes")
	addsUp(t, a)
	expect.Equal(t, a.Level, "chunks", "level")
	for _, p := range why(t, s, shard+"/why?ns=yorkie-meta.documents").Items {
		expect.That(t, p.ReadAt == nil, "%+v", p)
	}
}
