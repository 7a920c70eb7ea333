package web_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/must"
	"shardboard/internal/natural"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// payloads reads testdata/hostile.txt.
func payloads(t testing.TB) []string {
	t.Helper()
	text := must.Get(os.ReadFile("testdata/hostile.txt"))
	var out []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, `"`) {
			p, err := strconv.Unquote(line)
			must.That(t, err == nil, "%s: %v", line, err)
			out = append(out, p)
		}
	}
	must.That(t, len(out) >= 150, "only %d payloads", len(out))
	return out
}

// enemy is a cluster in which everything that has a name is called by payloads,
// each followed by what it is the name of. With harmless set, every character of
// a payload is an x: a page of the one must have the very elements and
// attributes of the other. Harmless shards keep the order of the hostile ones by
// their first letter, because neighbours are shown in groups.
type enemy struct {
	payloads []string
	harmless bool
}

func (e enemy) name(i int, sink string) string {
	text := e.text(i)
	if e.harmless && sink == "shard" {
		_, first := utf8.DecodeRuneInString(text)
		text = e.letter(i) + text[first:]
	}
	return text + fmt.Sprintf("~%s%02d", sink, i)
}

// letter has the place of the hostile shard among the others and among the story's own, whose names begin with an s.
func (e enemy) letter(i int) string {
	hostile := enemy{payloads: e.payloads}
	name, first := hostile.name(i, "shard"), 'A'
	if natural.Compare(name, "shard-rs-1") > 0 {
		first = 'À'
	}
	for j := range e.payloads {
		if natural.Compare(hostile.name(j, "shard"), name) < 0 {
			first++
		}
	}
	return string(first)
}

func (e enemy) text(i int) string {
	p := e.payloads[i%len(e.payloads)]
	if !e.harmless {
		return p
	}
	return strings.Map(func(r rune) rune {
		if r == '.' { // parts a database from a collection
			return r
		}
		return 'x'
	}, p)
}

// without takes out what BSON or MongoDB does not let a name have.
func without(s, chars string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(chars, r) {
			return 'x'
		}
		return r
	}, s)
}

func (e enemy) ns(i int) topology.Namespace {
	return topology.Namespace("yorkie-meta." + e.name(i, "coll"))
}

func (e enemy) db(i int) string { return without(e.name(i, "db"), ".") }

func (e enemy) View() answer.View {
	v := webtest.NewStory().View()
	t := v.Table
	for i := range e.payloads {
		t.Shards = append(t.Shards, topology.Shard{Name: e.name(i, "shard"), ReplSet: e.name(i, "set"),
			Hosts: []string{e.name(i, "host"), e.name(i, "second")}, Zones: []string{e.name(i, "zone")},
			Draining: i%5 == 4})
		t.Databases = append(t.Databases, topology.Database{Name: e.db(i), Primary: e.name(i, "shard")})
		t.Unsharded = append(t.Unsharded, topology.Namespace(e.db(i)+"."+e.name(i, "loose")))
		t.Routers = append(t.Routers,
			topology.Router{Host: e.name(i, "router"), Version: e.name(i, "release"), Ping: webtest.Epoch.Add(-time.Hour)})
		e.addCollection(t, i)
	}
	slices.SortFunc(t.Shards, func(a, b topology.Shard) int { return natural.Compare(a.Name, b.Name) })
	slices.SortFunc(t.Collections, func(a, b *topology.Collection) int { return webtest.CompareText(string(a.NS), string(b.NS)) })
	slices.SortFunc(t.Databases, func(a, b topology.Database) int { return webtest.CompareText(a.Name, b.Name) })
	slices.Sort(t.Unsharded)
	slices.SortStableFunc(t.Zones, func(a, b topology.ZoneRange) int { return webtest.CompareText(string(a.NS), string(b.NS)) })
	e.addEvents(t)
	for i := range e.payloads {
		x := webtest.FlightOfChunk(t, e.ns(i), 0, e.name((i+1)%len(e.payloads), "shard"))
		x.App = e.name(i, "app")
		t.Moves.List = append(t.Moves.List, x)
	}
	t.ServerInfo.Version = "5.0.7-" + e.name(0, "server") // a release that is known, whatever the name is
	t.Balancer.WindowStart, t.Balancer.WindowStop = e.name(1, "opens"), e.name(2, "closes")
	for i, p := range webtest.EveryPart() {
		i %= len(e.payloads)
		h := topology.Health{At: webtest.Epoch.Add(-2 * time.Second), Note: e.name(i, "note")}
		if p == topology.PartSizes || p == topology.PartSettings {
			h.Err = fault.New(fault.Unavailable, "The cluster said %q (%s).", e.name(i, "quoted"), e.name(i, "said"))
		}
		t.Health[p] = h
	}
	var projects []placement.Project
	for i, id := range e.ids() {
		projects = append(projects,
			placement.Project{DB: "yorkie-meta", ID: id, Name: e.name(i, "project"), PublicKey: e.name(i, "public"), CreatedAt: id.Timestamp()})
	}
	v.Dir = placement.NewDirectory(9, []string{"yorkie-meta"}, projects, topology.Health{At: webtest.Epoch, Note: e.name(3, "keeper")})
	v.Profile = e.profile()
	return v
}

func (e enemy) ids() []bson.ObjectID { return webtest.NewStory().ProjectIDs()[:len(e.payloads)] }

func (e enemy) addCollection(t *topology.Table, i int) {
	field := without(e.name(i, "field"), "\x00$.")
	p := webtest.Must(shardkey.ParsePattern(webtest.Must(bson.Marshal(bson.D{{Key: field, Value: int32(1)}}))))
	keys := []shardkey.Key{p.Min()}
	var raw []bson.Raw
	for _, side := range []string{"lower", "upper"} { // in this order: what precedes is equal
		raw = append(raw, webtest.Must(bson.Marshal(bson.D{{Key: field, Value: e.text(i) + "~" + side}})))
		keys = append(keys, webtest.Must(p.Bound(raw[len(raw)-1])))
	}
	slices.SortFunc(keys, shardkey.Key.Compare)
	keys = append(keys, p.Max())
	rows := make([]topology.Chunk, 3)
	for n := range rows {
		rows[n] = topology.Chunk{
			Min:     keys[n],
			Max:     keys[n+1],
			Shard:   e.name((i+n)%len(e.payloads), "shard"),
			Version: topology.Version{Major: uint32(n + 1)},
			Jumbo:   n == 1,
			Since:   bson.Timestamp{T: uint32(webtest.Epoch.Unix()) - 60},
		}
	}
	m := webtest.Must(topology.BuildChunks(p, rows))
	ns := e.ns(i)
	t.Collections = append(
		t.Collections,
		&topology.Collection{
			Meta:    topology.Meta{NS: ns, Key: p, Incarnation: topology.Incarnation{UUID: [16]byte{9, byte(i)}}},
			Highest: m.Highest(),
			Chunks:  m,
		},
	)
	t.Sizes[ns] = topology.Sizes{
		NS:      ns,
		At:      webtest.Epoch,
		Sharded: true,
		Reason:  "unreachable",
		Shards:  map[string]topology.Size{e.name(i, "shard"): webtest.Size(1000, 10)},
	}
	t.Zones = append(t.Zones, topology.ZoneRange{NS: ns, Zone: e.name(i, "zone"), Min: keys[1], Max: keys[2], RawMin: raw[0], RawMax: raw[1]},
		topology.ZoneRange{NS: topology.Namespace(e.db(i) + "." + e.name(i, "future")), Zone: e.name(i, "zone"), RawMin: raw[0], RawMax: raw[1]})
}

// addEvents puts three entries of each payload on top of the changelog: a move,
// a failed one and one of a kind that no server has.
func (e enemy) addEvents(t *topology.Table) {
	var events []topology.Event
	at := webtest.Epoch
	add := func(i int, what string, details bson.D) {
		at = at.Add(-time.Second)
		events = append(events, topology.Event{ID: e.name(i, "id") + what, Time: at, What: what, NS: string(e.ns(i)),
			Shard: e.name(i, "wrote"), Details: webtest.Must(bson.Marshal(details))})
	}
	for i := range e.payloads {
		bounds := bson.D{
			{Key: "min", Value: bson.D{{Key: "other", Value: e.name(i, "min")}}},
			{Key: "max", Value: bson.D{{Key: "other", Value: e.name(i, "max")}}},
			{Key: "from", Value: e.name(i, "from")}, {Key: "to", Value: e.name(i, "to")},
		}
		add(i, "moveChunk.commit", bounds)
		add(i, "moveChunk.error",
			append(slices.Clone(bounds), bson.E{Key: "errmsg", Value: e.name(i, "error")}, bson.E{Key: "note", Value: e.name(i, "aborted")}))
		add(i, e.name(i, "what"), bson.D{{Key: "note", Value: e.name(i, "detail")}, {Key: without(e.name(i, "key"), "\x00"), Value: 1}})
	}
	t.Events = append(events, t.Events...)
}

// profile is Yorkie's with layouts called by payloads.
func (e enemy) profile() *profile.Profile {
	p := *profile.Yorkie()
	p.Layouts = slices.Clone(p.Layouts)
	for i := range p.Layouts {
		p.Layouts[i].Name = e.name(i%len(e.payloads), "layout")
	}
	return &p
}

// site serves that cluster; whatever is looked for is found.
func (e enemy) site(t testing.TB) (*webtest.Server, answer.View) {
	v := e.View()
	s := webtest.New(t, func(d *site.Deps) { d.Cluster.Profile = v.Profile })
	s.Watcher.Value, s.Keeper.Value = v.Table, v.Dir
	s.Locator.Answer = func(q placement.Query) ([]placement.Item, error) {
		i, err := strconv.Atoi(q.Text[len(q.Text)-2:])
		if err != nil {
			return nil, err
		}
		switch {
		case strings.Contains(q.Text, "~refused"):
			return nil, fault.New(fault.Invalid, "It said %s.", e.name(i, "refused"))
		case strings.Contains(q.Text, "~broken"):
			return nil, errors.New("internals of " + e.name(i, "internal"))
		}
		it := webtest.FoundDocument(v)[0]
		it.Name, it.DB = e.name(i, "document"), e.db(i)
		it.Project = &v.Dir.All()[0]
		c := v.Table.Collection(e.ns(i))
		ch := c.Chunks.At(1)
		it.Places = append(
			it.Places,
			placement.Place{
				NS:      c.NS,
				Sharded: true,
				Exact:   true,
				Pattern: c.Key,
				Exists:  "yes",
				Shards:  []string{ch.Shard},
				Min:     ch.Min,
				Max:     ch.Max,
				Key:     ch.Min,
			},
		)
		return []placement.Item{it}, nil
	}
	return s, v
}

// batches cuts the payloads so that lists stay on their first page.
func batches(all []string) [][]string { return slices.Collect(slices.Chunk(all, 24)) }

// sinks are what an enemy's names are the names of, as far as pages show it.
var sinks = []string{
	"shard", "set", "host", "zone", "db", "loose", "coll", "field", "project", "public", "document", "lower",
	"from", "to", "what", "min",
}
