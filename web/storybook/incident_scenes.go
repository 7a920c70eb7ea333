package storybook

import (
	"context"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/answer"
	"shardboard/internal/answer/offering"
	"shardboard/internal/fault"
	"shardboard/internal/heat"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/rules"
	"shardboard/internal/shardkey"
	"shardboard/internal/store"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// incidentScenes are a project that makes most of the writes, on one shard: with what follows from it, taken by
// somebody, and with a remedy that is blocked.
func incidentScenes(v answer.View) []webtest.Scene {
	counted := webtest.CountedHeat(v, writesOnOneShard(v), 2*time.Hour, nil)
	incident := func(taken bool, block offering.Trier) func(*site.Deps) {
		return func(d *site.Deps) {
			counted(d)
			from := rules.Sources{Tables: still{v.Table}, Directories: stillProjects{v.Dir}, Profile: profile.Yorkie(), Heat: d.Measured.Heat,
				Now: func() time.Time { return v.Now }}
			if taken {
				found, _ := rules.NewAdvisor(from).View(context.Background())
				from.Notices = takenBy{all: found}
			}
			d.Problems.Advice, d.Changes.PlanForms, d.Changes.Trier = rules.NewAdvisor(from), true, block
		}
	}
	var out []webtest.Scene
	for _, p := range []page{{"overview-incident", "/"}, {"advice-incident", "/advice"}} {
		out = append(out, webtest.Scene{Name: p.name, Path: p.path, View: v, Change: incident(false, nil)},
			webtest.Scene{Name: p.name + "-taken", Path: p.path, View: v, Change: incident(true, nil)},
			webtest.Scene{Name: p.name + "-blocked", Path: p.path, View: v, Change: incident(false, blocked{})})
	}
	project, shard := whereWritten(v)
	for _, p := range []page{{"heat-incident", "/heat"}, {"project-incident", "/projects/" + project},
		{"shard-incident", "/shards/" + shard}} {
		out = append(out, webtest.Scene{Name: p.name, Path: p.path, View: v, Change: incident(false, nil)})
	}
	return out
}

// whereWritten is the project that makes most of the writes, and the shard that takes them.
func whereWritten(v answer.View) (project, shard string) {
	_, ch := v.Table.Collection("yorkie-meta.changes").Chunks.Find(shardkey.HashKey(shardkey.HashObjectID(webtest.ProjectID(1000))))
	return v.Dir.All()[0].ID.Hex(), ch.Shard
}

// writesOnOneShard are those of one project's documents, whose rows of changes are on one shard by chance, and some of
// others.
func writesOnOneShard(v answer.View) *webtest.Writes {
	c := v.Table.Collection("yorkie-meta.changes")
	all, out, on := v.Dir.All(), &webtest.Writes{}, ""
	for i := range 200 {
		id := webtest.ProjectID(1000 + i)
		_, ch := c.Chunks.Find(shardkey.HashKey(shardkey.HashObjectID(id)))
		if on == "" {
			on = ch.Shard
		}
		if ch.Shard == on {
			out.Rows = append(out.Rows, heat.Count{Project: all[0].ID, Document: id, Rows: 12})
		} else if i%10 == 0 {
			out.Rows = append(out.Rows, heat.Count{Project: all[1+i%5].ID, Document: id, Rows: 4})
		}
	}
	return out
}

// still and stillProjects never change.
type still struct{ table *topology.Table }

func (s still) Table() *topology.Table { return s.table }

type stillProjects struct{ dir *placement.Directory }

func (s stillProjects) Directory() *placement.Directory { return s.dir }

// blocked lets no plan pass.
type blocked struct{}

func (blocked) Try(*topology.Table, *placement.Directory, actions.Kind, actions.Args) (actions.Draft, error) {
	return actions.Draft{}, fault.New(fault.Conflict, "A run moves a chunk from this shard; it can be made when that has ended.")
}

// takenBy is a store in which anna has taken every problem.
type takenBy struct {
	store.Notices
	all rules.View
}

func (takenBy) Dismissals(context.Context, string) ([]store.Dismissal, error) { return nil, nil }

func (t takenBy) Takes(context.Context, string) (out []store.Take, err error) {
	for _, p := range t.all.Items {
		out = append(out, store.Take{ID: p.ID, By: "user:anna", Note: "splitting it", At: t.all.At.Add(-6 * time.Minute)})
	}
	return out, nil
}
