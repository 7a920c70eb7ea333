package rules

import (
	"slices"

	"shardboard/internal/heat"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// HotProject finds projects that make most of the writes, where the shard key is the project
// alone, so that one shard takes them all.
const HotProject Rule = "hot-project"

var hotProject = rule{id: HotProject, name: "Hot project", page: PageHeat, ofWrites: true, find: findHotProject,
	playbooks: []Playbook{PlaybookHotProject}}

func findHotProject(ev *evaluation) {
	if ev.Profile == nil {
		return
	}
	var keyed []*topology.Collection
	for _, c := range ev.sharded() {
		if f, ok := ev.projectField(c); ok && c.Key.Len() == 1 && c.Key.LeadsWith(f) {
			keyed = append(keyed, c)
		}
	}
	if len(keyed) == 0 || len(ev.Table.Shards) < 2 || ev.uncounted() {
		return
	}
	for _, c := range keyed {
		if c.NS.Collection() != ev.Profile.Keys.Collection {
			continue // each edit writes the document's row; the others are written seldom
		}
		w, ok := ev.writesOf(c.NS.Database())
		if !ok {
			continue
		}
		if w.Seconds < ev.neededSeconds() {
			ev.cannot(string(c.NS), countedBriefly(w))
			continue
		}
		if len(w.Projects) == 0 {
			continue
		}
		top := w.Projects[0]
		if r := top.Rate; r.Share >= hotShare && r.PerSecond >= ev.bound(BoundHotRate) && r.Rows >= hotRows && !top.Project.IsZero() {
			ev.hot(c, w, top)
		}
	}
}

func (ev *evaluation) hot(c *topology.Collection, w Writes, top heat.Line) {
	ns, id := string(c.NS), top.Project.Hex()
	p, known := ev.Directory.In(c.NS.Database(), top.Project)
	name := p.Name
	if !known {
		name = id
	}
	r, err := c.Key.PrefixRange(ev.Directory.Value(c.NS.Database(), top.Project))
	if err != nil {
		return
	}
	_, ch := c.Chunks.Find(r.Min)
	others := ev.projectsIn(c, ch) - 1
	problem := Problem{
		Subject:   ns + " " + id,
		NS:        c.NS,
		Project:   id,
		Shard:     ch.Shard,
		Severity:  Info,
		Why:       moderateLoad(),
		Weight:    top.Rate.PerSecond,
		PerSecond: top.Rate.PerSecond,
		Text: message.New("hot",
			"The project {name} makes {share} of the writes in the last {window}. All its rows in {ns} are on {shard}.",
			message.Project("name", id, name), message.Share("share", top.Rate.Share), message.Last("window", w.Over),
			message.Namespace("ns", ns), message.Shard("shard", ch.Shard)),
		Evidence: []Evidence{
			rate(message.New("hot.rate",
				"Writes of {name} to {ns}",
				message.Project("name", id, name), message.Namespace("ns", w.NS)), top.Rate, w),
			shareOf(message.New("hot.share", "Share of the writes to {ns}", message.Namespace("ns", w.NS)), top.Rate.Share, w),
			ev.shardKey(c),
			ev.text(message.New("hot.home", "Shard of its rows in {ns}", message.Namespace("ns", ns)), message.Shard("value", ch.Shard),
				topology.PartRouting),
		},
	}
	ev.whereItWrites(&problem, w, top)
	if top.Rate.Share >= hotMuch && top.Rate.PerSecond >= ev.bound(BoundWarnRate) {
		problem.Severity, problem.Why = Warn, heavyLoad()
	}
	if others >= 0 {
		problem.Evidence = append(problem.Evidence, ev.counted(message.New("hot.others", "Other projects in its chunk"), others))
	}
	if busy := ev.busiestOn(problem.Shard); len(busy) > 0 {
		problem.Remedy.Plans = ev.relieveAll(busy).Plans
	}
	if others > 0 {
		problem.Remedy.Plans = append(problem.Remedy.Plans, plan("split-project", message.New("split-project",
			"Split off the chunk of the project {name}, so that it can be moved without its neighbours.",
			message.Project("name", id, name)), "project", id, "db", c.NS.Database(), "ns", ns))
	}
	if to := ev.emptiest(c.NS.Database(), ch.Shard); to != "" {
		problem.Remedy.Plans = append(problem.Remedy.Plans, plan("isolate", message.New("isolate",
			"Isolate the project {name} on the shard {shard}.",
			message.Project("name", id, name),
			message.Shard("shard", to)), "project", id, "db", c.NS.Database(), "shard", to))
	}
	problem.Remedy.Plans = append(problem.Remedy.Plans, plan("spread", message.New("spread", "Spread the project {name} over the shards.",
		message.Project("name", id, name)), "project", id, "db", c.NS.Database()))
	if w.NS == c.NS {
		ev.refine(&problem, c)
	} else if longer, ok := ev.Profile.LongerKey(c); ok { // named, and why it does not help: these writes are elsewhere
		problem.Remedy.Plans = append(problem.Remedy.Plans, refinePlan(c.NS, longer))
	}
	ev.add(problem)
}

// whereItWrites leads to the shard that takes most of the project's writes, which need not be the one with its
// documents: the rows of changes are spread by another key.
func (ev *evaluation) whereItWrites(p *Problem, w Writes, top heat.Line) {
	if len(w.ProjectShards) == 0 || w.ProjectShards[0].Project != top.Project || top.Rate.PerSecond <= 0 {
		return
	}
	most := w.ProjectShards[0]
	share := most.Rate.PerSecond / top.Rate.PerSecond
	on := message.Shard("shard", most.Shard)
	facts := append(slices.DeleteFunc(slices.Clone(p.Text.Facts), func(f message.Fact) bool { return f.Name == "shard" }),
		on, message.Namespace("written", w.NS), message.Share("shareOn", share))
	if share < hotShare {
		p.Text = message.New("hot.spread",
			"The project {name} makes {share} of the writes in the last {window}. They are spread: {shard} takes most of them, {shareOn}.",
			facts...)
	} else {
		p.Text = message.New("hot.on", "The project {name} makes {share} of the writes in the last {window}, {shareOn} of them on {shard}, "+
			"in {written}.", facts...)
	}
	p.Evidence = append(p.Evidence, rate(message.New("hot.onShard", "Its writes on {shard}", on), most.Rate, w))
	p.Shard, p.PerSecond = most.Shard, most.Rate.PerSecond
}
