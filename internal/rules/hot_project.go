package rules

import (
	"slices"
	"time"

	"shardboard/internal/heat"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// From which part of a database's writes, at which rate, counted in how many
// rows and over how long, one project is called hot.
const (
	hotShare   = 0.5
	hotRate    = 5.0
	hotRows    = 50
	hotSeconds = 120
	// Above these it costs everybody on the shard.
	hotMuch     = 0.6
	hotMuchRate = 100.0
)

// Window is the time over which writes are judged.
const Window = 15 * time.Minute

// counting says why writes cannot be judged; true when they cannot.
func (l *look) counting() bool {
	switch {
	case l.Past:
		l.cannot("", "notKept")
	case !l.Counting:
		l.cannot("", "notCounting")
	case !slices.ContainsFunc(l.Writes, func(w Writes) bool { return w.Seconds > 0 }):
		l.cannot("", "countedNothing")
	default:
		return false
	}
	return true
}

// hotProject: most writes are one project's, and the key of its documents is the
// project alone, so that one shard takes them all.
func hotProject(l *look) {
	if l.Profile == nil {
		return
	}
	var keyed []*topology.Collection
	for _, c := range l.sharded() {
		if f, ok := l.projectField(c); ok && c.Key.Len() == 1 && c.Key.LeadsWith(f) {
			keyed = append(keyed, c)
		}
	}
	if len(keyed) == 0 || len(l.Table.Shards) < 2 || l.counting() {
		return
	}
	for _, c := range keyed {
		if c.NS.Collection() != l.Profile.Keys.Collection {
			continue // each edit writes the document's row; the others are written seldom
		}
		w, ok := l.writesOf(c.NS.Database())
		if !ok {
			continue
		}
		if w.Seconds < hotSeconds {
			l.cannot(string(c.NS), "tooShort", "seconds", itoa(int(w.Seconds)))
			continue
		}
		if len(w.Projects) == 0 {
			continue
		}
		if top := w.Projects[0]; top.Rate.Share >= hotShare && top.Rate.PerSecond >= hotRate && top.Rate.Rows >= hotRows && !top.Project.IsZero() {
			l.hot(c, w, top)
		}
	}
}

// writesOf is the busiest collection of a database: rates and shares are of it
// alone, and evidence names it. While one of the database's cannot be counted, it
// may be that one, and the others are no measure of it.
func (l *look) writesOf(db string) (best Writes, ok bool) {
	for _, w := range l.Writes {
		if w.NS.Database() != db {
			continue
		}
		if w.Failed && w.Seconds < hotSeconds {
			l.cannot(db, "countedPart", "ns", string(w.NS))
			return best, false
		}
		if !ok || w.Total.PerSecond > best.Total.PerSecond {
			best, ok = w, true
		}
	}
	if !ok {
		l.cannot(db, "countedNothing")
		return best, false
	}
	return best, true
}

func (l *look) hot(c *topology.Collection, w Writes, top heat.Line) {
	ns, id := string(c.NS), top.Project.Hex()
	p, known := l.Directory.In(c.NS.Database(), top.Project)
	name := p.Name
	if !known {
		name = id
	}
	r, err := c.Key.PrefixRange(placement.ObjectIDValue(top.Project))
	if err != nil {
		return
	}
	_, ch := c.Chunks.Find(r.Min)
	others := l.projectsIn(c, ch) - 1
	i := Problem{Subject: ns + " " + id, NS: c.NS, Project: id, Shard: ch.Shard, Severity: Info, Why: say("hot.some"), Weight: top.Rate.PerSecond,
		Text: say("hot", "name", name, "share", f64(top.Rate.Share), "ns", ns, "shard", ch.Shard),
		Evidence: []Evidence{
			rate(say("hot.rate", "name", name, "ns", string(w.NS)), top.Rate, w),
			part(say("hot.share", "ns", string(w.NS)), top.Rate.Share, w),
			l.text("hot.key", c.Key.String(), topology.PartRouting),
			l.text("hot.shard", ch.Shard, topology.PartRouting),
		}}
	if top.Rate.Share >= hotMuch && top.Rate.PerSecond >= hotMuchRate {
		i.Severity, i.Why = Warn, say("hot.much")
	}
	if others >= 0 {
		i.Evidence = append(i.Evidence, l.counted("hot.others", others))
	}
	if others > 0 {
		i.Remedy.Plans = append(i.Remedy.Plans, plan("split-project", say("split-project", "name", name), "project", id, "db", c.NS.Database(), "ns", ns))
	}
	if to := l.coolest(c.NS.Database(), ch.Shard); to != "" {
		i.Remedy.Plans = append(i.Remedy.Plans, plan("isolate", say("isolate", "name", name, "shard", to), "project", id, "db", c.NS.Database(), "shard", to))
	}
	l.refine(&i, c)
	l.add(i)
}

// refine is the lasting remedy, with what Yorkie's own commands need of it.
func (l *look) refine(i *Problem, c *topology.Collection) {
	key := keyText(c.Key, "_id")
	atomic := l.Profile.Name == profile.Yorkie().Name
	first := check("db.version()", "refine.version")
	if atomic {
		first = check("db.version()", "refine.yorkie")
	}
	switch {
	case !l.release().AtLeast(4, 4, 0):
		i.Remedy.WhyNot = say("refine.before44")
		return
	case atomic && !l.release().AtLeast(7, 0, 0):
		i.Remedy.WhyNot = say("refine.before70", "key", key, "version", l.Table.ServerInfo.Version)
		i.Remedy.Commands = []Command{first, check(collection(c.NS)+".getIndexes()", "refine.indexes")}
		return
	}
	i.Remedy.WhyNot = say("refine.noAction")
	i.Remedy.Commands = []Command{
		first,
		check(collection(c.NS)+".getIndexes()", "refine.indexes"),
		do(collection(c.NS)+".createIndex("+key+")", "refine.index"),
		do(admin("refineCollectionShardKey: %s, key: %s", sanitize.Quoted(string(c.NS)), key), "refine.refine"),
	}
}

// coolest is a shard other than one that holds least data of a database.
func (l *look) coolest(db, but string) string {
	best, bytes := "", int64(-1)
	for _, s := range l.Table.Shards {
		if s.Name == but || s.Draining {
			continue
		}
		total := int64(0)
		for _, c := range l.sharded() {
			if c.NS.Database() == db {
				total += l.Table.SizeOn(c.NS, s.Name).Bytes.Value
			}
		}
		if bytes < 0 || total < bytes {
			best, bytes = s.Name, total
		}
	}
	return best
}
