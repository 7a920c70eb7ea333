package storybook

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/answer"
	"shardboard/internal/fault"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// state is one condition of the whole cluster and what is known of it.
type state struct {
	name string
	view answer.View
}

// StateScenes are all pages in all states: name "zones-stale" is the page of zones while the cluster does
// not answer.
func StateScenes() (out []webtest.Scene) {
	operator := webtest.WithAuth(webtest.StubAuth{SignInMode: "local", Me: webtest.Anna})
	for _, s := range states() {
		for _, p := range statePages(s.view) {
			sc := webtest.Scene{Name: p.name + "-" + s.name, Path: p.path, View: s.view, Change: func(d *site.Deps) { operator(d) }}
			if p.name == "locate" && len(s.view.Dir.All()) > 1 {
				sc.Found = webtest.FoundDocument(s.view)
			}
			out = append(out, sc)
		}
	}
	return out
}

func states() []state {
	story := func(f ...func(*topology.Table)) answer.View {
		s := webtest.NewStory()
		for _, change := range f {
			s = s.With(change)
		}
		return s.View()
	}
	noProjects := func(v answer.View, h topology.Health) answer.View {
		v.Dir = placement.NewDirectory(1, []string{"yorkie-meta"}, nil, h)
		return v
	}
	hundred := webtest.NewStory()
	hundred.Shards, hundred.Chunks = 100, 400
	unread := topology.Health{Err: fault.New(fault.Unavailable, "The cluster does not answer.")}
	return []state{
		{"empty", noProjects(story(nothingStored), topology.Health{At: webtest.Epoch})},
		{"silent", story(silentShard)},
		{"loading", answer.View{Now: webtest.Epoch, Table: &topology.Table{}, Dir: placement.NewDirectory(0, nil, nil, topology.Health{})}},
		{"never", webtest.Unreached(webtest.NeverReached)},
		{"norights", webtest.Unreached(webtest.ReachedWithoutRights)},
		{"stale", story(everyPart(topology.Health{At: webtest.Epoch.Add(-7 * time.Minute), Err: unread.Err}))},
		{"partial", story(webtest.Troubled, partlyRead)},
		{"denied", noProjects(story(allDenied), topology.Health{Err: errors.New("code 13"), Denied: true,
			Privilege: "find on yorkie-meta.projects"})},
		{"failed", noProjects(story(nothingStored, everyPart(unread)), unread)},
		{"hundred", hundred.View()},
		{"longnames", renamed(longName)},
		{"hostile", renamed(hostileName)},
	}
}

// page is a page that is drawn in every state.
type page struct{ name, path string }

func statePages(v answer.View) []page {
	const none = "000000000000000000000000"
	first, chunk, project := "shard-rs-1", goneChunk(webtest.NewStory().View()), none
	if len(v.Table.Shards) > 0 {
		first = v.Table.Shards[0].Name
	}
	if all := v.Dir.All(); len(all) > 0 {
		project = all[0].ID.Hex()
	}
	ns := topology.Namespace("yorkie-meta.changes")
	if c := v.Table.Collection(ns); c != nil {
		chunk = webtest.ChunkPath(v, ns, 0)
	}
	return []page{
		{"overview", "/"}, {"map", "/map"}, {"matrix", "/matrix"}, {"collections", "/collections"},
		{"collection", "/collections/" + string(ns)}, {"owners", "/collections/" + string(ns) + "/owners"}, {"chunk", chunk},
		{"projects", "/projects"}, {"project", "/projects/" + project},
		{"shards", "/shards"}, {"shard", answer.ShardURL(first)}, {"why", answer.ShardURL(first) + "/why"},
		{"locate", "/locate?q=wiki/handbook"}, {"bulk", "/locate/bulk"}, {"duplicates", "/checks/duplicates"},
		{"metadata", "/checks/metadata"},
		{"layout", "/layout"}, {"zones", "/zones"}, {"activity", "/activity"}, {"heat", "/heat"},
		{"growth", "/lab/growth?growth=1.5"},
		{"surveys", "/surveys"}, {"survey", "/surveys/" + webtest.EndedSurvey}, {"watch", "/watch?watch=project:" + project},
		{"compare", "/compare?from=" + answer.AtText(webtest.Epoch.Add(-time.Hour)) + "&to=" + answer.AtText(webtest.Epoch)},
		{"advice", "/advice"}, {"pastproblems", "/advice/past"},
		{"postmortem", "/postmortem?from=" + answer.AtText(webtest.Epoch.Add(-time.Hour))}, {"alerts", "/alerts"}, {"audit", "/audit"},
		{"newplan", "/plans/new"}, {"newsplit", answer.PlanURL(actions.Split, "ns", string(ns), "chunk", path.Base(chunk))},
		{"lab", "/lab"}, {"labgame", "/lab/game"}, {"labkeys", "/lab/keys"}, {"labids", "/lab/ids"},
		{"tour", "/tour"}, {"plan", "/plans/" + webtest.RecordID("move")}, {"runs", "/runs"}, {"run", "/runs/" + webtest.RecordID("unknown")},
	}
}

func nothingStored(t *topology.Table) {
	t.Collections, t.Unsharded, t.Events, t.Zones = nil, []topology.Namespace{}, nil, nil
	t.Sizes = map[topology.Namespace]topology.Sizes{}
}

func everyPart(h topology.Health) func(*topology.Table) {
	return func(t *topology.Table) {
		for _, p := range webtest.EveryPart() {
			t.Health[p] = h
		}
	}
}

// allDenied leaves only what shardboard cannot work without.
func allDenied(t *topology.Table) {
	for _, p := range webtest.EveryPart() {
		if p != topology.PartRouting && p != topology.PartShards && p != topology.PartDatabases {
			t.Health[p] = topology.Health{Err: errors.New("code 13"), Denied: true, Privilege: "find on config." + string(p)}
		}
	}
	t.Events, t.Zones, t.Sizes, t.Unsharded, t.Routers, t.Balancer = nil, nil, nil, nil, nil, topology.Balancer{}
}

// partlyRead has sizes of two shards of three, and of half of the collections.
func partlyRead(t *topology.Table) {
	for i, c := range t.Collections {
		sizes := t.Sizes[c.NS]
		if i%2 == 0 {
			delete(t.Sizes, c.NS)
			continue
		}
		known := map[string]topology.Size{}
		for name, size := range sizes.Shards {
			known[name] = size
		}
		for _, f := range []string{"shard-rs-3"} {
			known[f] = topology.Size{Bytes: topology.Figure{Reason: "shardUnreachable"}, Documents: topology.Figure{Reason: "shardUnreachable"}}
		}
		sizes.Shards = known
		t.Sizes[c.NS] = sizes
	}
}

func longName(i int) string {
	return fmt.Sprintf("shard-%d-", i) + strings.Repeat("of-the-tenant-with-a-very-long-name-", 5) + "end"
}

func hostileName(i int) string { return fmt.Sprintf("%s%d", webtest.HostileName, i) }

// renamed gives shards, their hosts and zones, the routers and the projects other names.
func renamed(name func(int) string) answer.View {
	s := webtest.NewStory()
	as := map[string]string{}
	for i := range s.Shards {
		as[s.Shard(i)] = name(i)
	}
	v := s.With(func(t *topology.Table) {
		for i := range t.Shards {
			sh := &t.Shards[i]
			t.Disks[as[sh.Name]] = t.Disks[sh.Name]
			sh.Name, sh.ReplSet, sh.Zones, sh.Hosts = as[sh.Name], as[sh.Name], []string{name(70 + i)}, []string{name(80+i) + ":27018"}
		}
		for i := range t.Databases {
			t.Databases[i].Primary = as[t.Databases[i].Primary]
		}
		for i, c := range t.Collections {
			renamedChunks := *c
			var rows []topology.Chunk
			for _, ch := range c.Chunks.All() {
				ch.Shard = as[ch.Shard]
				rows = append(rows, ch)
			}
			renamedChunks.Chunks = webtest.Must(topology.BuildChunks(c.Key, rows))
			t.Collections[i] = &renamedChunks
		}
		for ns, sizes := range t.Sizes {
			shards := map[string]topology.Size{}
			for shard, size := range sizes.Shards {
				shards[as[shard]] = size
			}
			sizes.Shards = shards
			t.Sizes[ns] = sizes
		}
		for i := range t.Routers {
			t.Routers[i].Host = name(90 + i)
		}
	}).View()
	projects := v.Dir.All()
	for i := range projects {
		projects[i].Name = name(100 + i)
	}
	v.Dir = placement.NewDirectory(9, []string{"yorkie-meta"}, projects, topology.Health{At: webtest.Epoch})
	return v
}

// silentShard has the first shard give no answer.
func silentShard(t *topology.Table) {
	since := webtest.Epoch.Add(-40 * time.Second)
	t.Answering = topology.Answering{At: webtest.Epoch, Config: topology.Answer{State: topology.Answers, Last: webtest.Epoch},
		Shards: map[string]topology.Answer{}}
	for i, s := range t.Shards {
		a := topology.Answer{State: topology.Answers, Last: webtest.Epoch}
		m := topology.Member{Address: s.Name + ":27018", Reached: true, Primary: true, Ping: 800 * time.Microsecond}
		if i == 0 {
			a = topology.Answer{State: topology.Silent, Since: since, Last: since, Said: "Couldn't get a connection within the time limit"}
			m = topology.Member{Address: m.Address, Away: since}
		}
		t.Answering.Shards[s.Name] = a
		t.Answering.Sets = append(t.Answering.Sets, topology.ReplicaSet{Name: s.ReplSet, Members: []topology.Member{m}})
	}
}
