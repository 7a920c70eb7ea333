package webtest

import (
	"fmt"
	"strings"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
	"shardboard/web"
	"shardboard/web/site"
)

// StubClusters are the clusters of a server of several, which stand still.
type StubClusters struct {
	List   []*site.Cluster
	Config site.Configuration
}

// All are the clusters.
func (c StubClusters) All() []*site.Cluster { return c.List }

// Subscribe never has news.
func (c StubClusters) Subscribe() (<-chan struct{}, func()) { return nil, func() {} }

// Configuration is what was given.
func (c StubClusters) Configuration() site.Configuration { return c.Config }

// OfServer makes a site that of a server of several clusters.
func OfServer(c StubClusters) func(*site.Deps) {
	return func(d *site.Deps) {
		d.Place.Clusters, d.Demo, d.Changes.Actions, d.Past.History = c, false, nil, nil
		d.Cluster.Watcher, d.Cluster.Keeper = standing(&topology.Table{}, placement.NewDirectory(0, nil, nil, topology.Health{}))
	}
}

func standing(t *topology.Table, d *placement.Directory) (*StubWatcher, *StubKeeper) {
	w, k := &StubWatcher{}, &StubKeeper{}
	w.Value, k.Value = t, d
	return w, k
}

// ClusterWith is a cluster that shows a view and has one document, handbook. role is that of everybody; ""
// hides it.
func ClusterWith(name, title string, v answer.View, role auth.Role) *site.Cluster {
	d := site.Deps{
		Now:     func() time.Time { return v.Now },
		Cluster: site.ClusterDeps{Profile: profile.Yorkie()},
		Place:   site.PlaceDeps{Name: name, Title: title},
	}
	d.Cluster.Watcher, d.Cluster.Keeper = standing(v.Table, v.Dir)
	d.Place.Base.Prefix = site.ClusterBase(name)
	d.Locate.Locator = &StubLocator{Answer: func(q placement.Query) ([]placement.Item, error) {
		switch {
		case !v.Table.Loaded:
			return nil, v.Table.NotLoaded()
		case strings.HasSuffix(q.Text, "handbook"):
			return FoundDocument(v), nil
		}
		return nil, fault.New(fault.NotFound, "No project is called %q.", q.Text)
	}}
	c := clusterOf(name, title, role)
	c.Site = web.New(d).Site
	c.Reach = site.Reach{Known: true, Yes: v.Table.Health[topology.PartRouting].Err == nil, Since: v.Now.Add(-3 * time.Hour)}
	return c
}

func clusterOf(name, title string, role auth.Role) *site.Cluster {
	return &site.Cluster{Name: name, Title: title, Target: "mongodb://" + name + ".example:27017", Since: Epoch.Add(-time.Hour),
		Role: func(auth.Principal) (auth.Role, bool) { return role, role != "" }}
}

// Clusters are one of each state: live, in trouble, not answering, never reached, just started, and one that is hidden.
func Clusters() StubClusters {
	lost := NewStory().With(func(t *topology.Table) {
		t.Health[topology.PartRouting] = topology.Health{At: Epoch.Add(-7 * time.Minute), Err: fault.New(fault.Unavailable,
			"The cluster does not answer.")}
	}).View()
	never := clusterOf("archive", "Archive", auth.Viewer)
	never.Failure = fault.New(fault.Unavailable, "The cluster at archive.example:27017 cannot be reached. Nothing listens there.")
	twin := clusterOf("twin", "Twin", auth.Viewer)
	twin.Failure = fault.New(fault.Conflict, "This is the same cluster as prod: remove one of the two from the configuration.")
	return StubClusters{Config: site.Configuration{File: "shardboard.yaml", Loaded: Epoch.Add(-2 * time.Hour)}, List: []*site.Cluster{
		ClusterWith("fine", "Fine", NewStory().View(), auth.Operator),
		ClusterWith("prod", "Production", NewStory().With(Troubled).View(), auth.Viewer),
		ClusterWith("lost", "Lost", lost, auth.Viewer), never, twin, clusterOf("new", "New", auth.Viewer),
		ClusterWith("secret", "Secret", NewStory().View(), ""),
	}}
}

// ManyClusters are as many as one server watches.
func ManyClusters() (out StubClusters) {
	v := NewStory().View()
	for i := range 50 {
		out.List = append(out.List, ClusterWith(fmt.Sprintf("region-%d", i+1), fmt.Sprintf("Region %d", i+1), v, auth.Viewer))
	}
	return out
}
