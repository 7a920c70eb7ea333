package profile

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/routing"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// sharding describes a test database: the shard key by collection, "" for an unsharded
// one.
type sharding map[string]string

// shardingOf returns what a layout's own set-up creates.
func shardingOf(l Layout) sharding {
	s := sharding{}
	for _, c := range l.Collections {
		s[c.Name] = c.Expected
	}
	return s
}

// with changes one collection; "-" drops it.
func (s sharding) with(name, key string) sharding {
	s[name] = key
	if key == "-" {
		delete(s, name)
	}
	return s
}

func patternOf(text string) shardkey.Pattern {
	var fields []string
	for part := range strings.SplitSeq(strings.Trim(text, "{}"), ", ") {
		name, kind, _ := strings.Cut(part, ": ")
		if kind != "1" {
			name += "#"
		}
		fields = append(fields, name)
	}
	return routing.Pattern(fields...)
}

func (s sharding) table(version string) *topology.Table {
	tab := &topology.Table{
		Loaded: true, ServerInfo: topology.ServerInfo{Version: version}, Unsharded: []topology.Namespace{},
		Databases: []topology.Database{{Name: "y", Primary: "shard-rs-1"}},
	}
	for name, key := range s {
		ns := topology.Namespace("y." + name)
		if key == "" {
			tab.Unsharded = append(tab.Unsharded, ns)
			continue
		}
		tab.Collections = append(tab.Collections, &topology.Collection{Meta: topology.Meta{NS: ns, Key: patternOf(key)}})
	}
	slices.Sort(tab.Unsharded)
	slices.SortFunc(tab.Collections, func(a, b *topology.Collection) int { return strings.Compare(string(a.NS), string(b.NS)) })
	return tab
}

func layoutNamed(t testing.TB, name string) Layout {
	t.Helper()
	l, ok := Yorkie().Layout(name)
	must.That(t, ok, "no layout %s", name)
	return l
}

func findingLines(d Drift) []string {
	var out []string
	for _, f := range d.Findings {
		line := f.Code + " " + f.NS.Collection()
		if f.Layout != "" {
			line += " " + f.Layout
		}
		if f.Variant != "" {
			line += " (" + f.Variant + ")"
		}
		out = append(out, line)
	}
	return out
}

func TestEveryLayoutIsNearestToItself(t *testing.T) {
	p := Yorkie()
	for _, l := range p.Layouts {
		d := p.DriftOf(shardingOf(l).table("8.0.12"), "y", "")
		expect.That(t, d.Nearest == l.Name && d.Layout.Name == l.Name, "%s is taken for %s: %+v", l.Name, d.Nearest, d.Scores)
		want := []string(nil)
		if l.Name == "yorkie-head" {
			want = []string{"documented snapshot_bodies"}
		}
		if got := findingLines(d); !slices.Equal(got, want) || d.Looks() != 0 {
			t.Errorf("%s differs from itself: %v", l.Name, got)
		}
		// Without listCollections, the layout is chosen by the shard keys alone.
		bare := shardingOf(l).table("8.0.12")
		bare.Unsharded = nil
		if d := p.DriftOf(bare, "y", ""); d.Nearest != l.Name {
			t.Errorf("%s without listCollections is taken for %s: %+v", l.Name, d.Nearest, d.Scores)
		}
	}
}

// Every layout's database compared with every other layout.
func TestEveryLayoutIsComparedWithEveryOther(t *testing.T) {
	const (
		ranged  = "different changes,different snapshots"
		toHash  = "different changes,different snapshots,different versionvectors"
		seqsOld = "older syncedseqs yorkie-0.5.7"
	)
	want := map[string]string{
		"0.4 as 0.5.7":  "missing versionvectors",
		"0.4 as 0.6.20": "missing schemas," + ranged + ",missing versionvectors," + seqsOld,
		"0.4 as 0.6.38": "different clients (chartClients),missing schemas," + ranged + ",missing versionvectors," + seqsOld,
		"0.4 as head": "different clients (chartClients),missing schemas," + ranged +
			",missing snapshot_bodies,missing versionvectors,missing revisions," + seqsOld,
		"0.5.7 as 0.4":    "newer versionvectors yorkie-0.5.7",
		"0.5.7 as 0.6.20": "missing schemas," + toHash + "," + seqsOld,
		"0.5.7 as 0.6.38": "different clients (chartClients),missing schemas," + toHash + "," + seqsOld,
		"0.5.7 as head": "different clients (chartClients),missing schemas," + ranged +
			",missing snapshot_bodies,different versionvectors,missing revisions," + seqsOld,
		"0.6.20 as 0.4":    ranged + ",missing syncedseqs,newer schemas yorkie-0.6.20,newer versionvectors yorkie-0.5.7",
		"0.6.20 as 0.5.7":  ranged + ",missing syncedseqs,different versionvectors,newer schemas yorkie-0.6.20",
		"0.6.20 as 0.6.38": "different clients (chartClients)",
		"0.6.20 as head":   "different clients (chartClients),missing snapshot_bodies,missing revisions",
		"0.6.38 as 0.4":    "different clients," + ranged + ",missing syncedseqs,newer schemas yorkie-0.6.20,newer versionvectors yorkie-0.5.7",
		"0.6.38 as 0.5.7":  "different clients," + ranged + ",missing syncedseqs,different versionvectors,newer schemas yorkie-0.6.20",
		"0.6.38 as 0.6.20": "different clients",
		"0.6.38 as head":   "missing snapshot_bodies,missing revisions",
		"head as 0.4": "different clients," + ranged +
			",missing syncedseqs,newer revisions yorkie-head,newer schemas yorkie-0.6.20,newer snapshot_bodies yorkie-head,newer " +
			"versionvectors yorkie-0.5.7",
		"head as 0.5.7": "different clients," + ranged +
			",missing syncedseqs,different versionvectors,newer revisions yorkie-head,newer schemas yorkie-0.6.20,newer snapshot_bodies yorkie-head",
		"head as 0.6.20": "different clients,newer revisions yorkie-head,newer snapshot_bodies yorkie-head",
		"head as 0.6.38": "newer revisions yorkie-head,newer snapshot_bodies yorkie-head",
	}
	p := Yorkie()
	for _, from := range p.Layouts {
		for _, to := range p.Layouts {
			if from.Name == to.Name {
				continue
			}
			name := strings.ReplaceAll(from.Name+" as "+to.Name, "yorkie-", "")
			d := p.DriftOf(shardingOf(from).table("8.0.12"), "y", to.Name)
			if got := strings.Join(findingLines(d), ","); got != want[name] {
				t.Errorf("%s:\n got %s\nwant %s", name, got, want[name])
			}
			delete(want, name)
			if d.Nearest != from.Name || d.Layout.Name != to.Name {
				t.Errorf("%s: nearest %s, compared with %s", name, d.Nearest, d.Layout.Name)
			}
		}
	}
	expect.That(t, len(want) == 0, "not compared: %v", want)
}

func TestKnownLeftoversOfReleasesAreNamed(t *testing.T) {
	head, v0638, v0620, v057 := layoutNamed(t, "yorkie-head"), layoutNamed(t, "yorkie-0.6.38"), layoutNamed(t, "yorkie-0.6.20"),
		layoutNamed(t, "yorkie-0.5.7")
	tests := []struct {
		name    string
		has     sharding
		nearest string
		want    string
		looks   int
	}{
		{"the chart of 0.6.20", shardingOf(v0620).with("schemas", ""), "yorkie-0.6.20", "unsharded schemas (chartSchemas)", 1},
		// By its shard keys the chart still looked like 0.6.20.
		{"the chart of 0.6.38", shardingOf(v0638).with("schemas", "").with("clients", keyProject), "yorkie-0.6.20",
			"unsharded schemas (chartSchemas)", 1},
		{"a chart cluster upgraded to head", shardingOf(head).with("schemas", "").with("clients", keyProject),
			"yorkie-head",
			"different clients (chartClients),unsharded schemas (chartSchemas),documented snapshot_bodies", 2},
		{"0.5.3 to 0.5.6", shardingOf(v057).with("versionvectors", ""), "yorkie-0.5.7", "unsharded versionvectors (lateVectors)", 1},
		{"0.6.39", shardingOf(head).with("revisions", ""), "yorkie-head", "documented snapshot_bodies,unsharded revisions (lateRevisions)", 1},
		{"snapshot_bodies sharded as documented", shardingOf(head).with("snapshot_bodies", keyHashed), "yorkie-head", "", 0},
		{"snapshot_bodies before 0.7.2", shardingOf(head).with("snapshot_bodies", "-"), "yorkie-head", "missing snapshot_bodies", 0},
		{
			"a set-up job that failed",
			sharding{"projects": "", "users": "", "members": "", "documents": "", "clients": "", "schemas": "", "changes": "",
				"snapshots": "", "snapshot_bodies": "", "versionvectors": "", "revisions": ""},
			"yorkie-head",
			"unsharded documents,unsharded clients,unsharded schemas (chartSchemas),unsharded changes,unsharded snapshots,documented " +
				"snapshot_bodies,unsharded versionvectors,unsharded revisions (lateRevisions)",
			7,
		},
		{"somebody sharded users", shardingOf(head).with("users", `{_id: "hashed"}`), "yorkie-head",
			"documented snapshot_bodies,sharded users", 1},
		{"somebody else's collection", shardingOf(head).with("orders", ""), "yorkie-head", "documented snapshot_bodies,foreign orders", 0},
		{"an old collection left over", shardingOf(head).with("syncedseqs", keyDocument), "yorkie-head",
			"documented snapshot_bodies,older syncedseqs yorkie-0.5.7", 0},
	}
	for _, tc := range tests {
		d := Yorkie().DriftOf(tc.has.table("8.0.12"), "y", "")
		if got := strings.Join(findingLines(d), ","); got != tc.want || d.Nearest != tc.nearest || d.Looks() != tc.looks {
			t.Errorf("%s: nearest %s, %d looks, %s\nwant %s, %d, %s", tc.name, d.Nearest, d.Looks(), got, tc.nearest, tc.looks, tc.want)
		}
	}
}

func TestExistingCollectionsArePlacedInEveryLayout(t *testing.T) {
	has := shardingOf(layoutNamed(t, "yorkie-0.4")).with("revisions", keyHashed).with("schemas", "").with("orders", "")
	l := Yorkie().Nearest(has.table("5.0.7"), "y")
	for _, name := range []string{"syncedseqs", "revisions", "schemas"} {
		if _, ok := l.Collection(name); !ok {
			t.Errorf("%s is not placed", name)
		}
	}
	if _, ok := l.Collection("orders"); ok || l.Name != "yorkie-0.4" {
		t.Errorf("%s places orders", l.Name)
	}
}

func TestCommandsMatchTheServersVersion(t *testing.T) {
	v04 := layoutNamed(t, "yorkie-0.4")
	commands := func(version, layout, coll string, has sharding) string {
		for _, f := range Yorkie().DriftOf(has.table(version), "y", layout).Findings {
			if f.NS.Collection() == coll {
				return f.Fix.Code + "\n" + strings.Join(f.Fix.Commands, "\n")
			}
		}
		return "no finding"
	}
	const coll = `db.getSiblingDB("y").getCollection(%q)`
	tests := []struct{ version, coll, want string }{
		{"5.0.7", "changes", "reshard\nsh.reshardCollection(\"y.changes\", {doc_id: \"hashed\"})"},
		{"4.4.29", "changes", "copy\n"},
		{"4.4.29", "clients", "refine\n" + fmt.Sprintf(coll, "clients") + ".createIndex({project_id: 1, _id: \"hashed\"})\n" +
			`db.adminCommand({refineCollectionShardKey: "y.clients", key: {project_id: 1, _id: "hashed"}})`},
		{"4.2.1", "clients", "copy\n"},
		{"5.0.7", "schemas", "shard\nsh.shardCollection(\"y.schemas\", {project_id: 1})"},
		{"5.0.7", "syncedseqs",
			"drop\n" + fmt.Sprintf(coll, "syncedseqs") + ".estimatedDocumentCount()\n" + fmt.Sprintf(coll, "syncedseqs") + ".drop()"},
		{"", "changes", "reshard\nsh.reshardCollection(\"y.changes\", {doc_id: \"hashed\"})"},
	}
	for _, tc := range tests {
		if got := commands(tc.version, "yorkie-head", tc.coll, shardingOf(v04)); got != tc.want {
			t.Errorf("%s of %s:\n got %s\nwant %s", tc.coll, tc.version, got, tc.want)
		}
	}
	nothing := sharding{"projects": "", "documents": ""}
	if got := commands("5.0.7", "yorkie-head", "documents", nothing); !strings.HasPrefix(
		got,
		"shard\nsh.enableSharding(\"y\")\n"+fmt.Sprintf(coll, "documents")+".createIndex({project_id: 1})\n",
	) {
		t.Errorf("the first collection to shard: %s", got)
	}
	if got := commands("8.0.12", "yorkie-head", "documents", nothing); strings.Contains(got, "enableSharding") {
		t.Errorf("8.0 needs no enableSharding: %s", got)
	}
	users := shardingOf(layoutNamed(t, "yorkie-head")).with("users", "{username: 1}")
	if got := commands("8.0.12", "yorkie-head", "users",
		users); got != "unshard\ndb.adminCommand({unshardCollection: \"y.users\", toShard: \"shard-rs-1\"})" {
		t.Errorf("users: %s, want %q", got, "unshard\ndb.adminCommand({unshardCollection: \"y.users\", toShard: \"shard-rs-1\"})")
	}
	expect.Equal(t, commands("7.0.1", "yorkie-head", "users", users), "none\n", "users of 7.0")
}

// A comparison with a layout older than the existing one must not advise going back to
// it.
func TestNoFixRevertsToAnOlderLayout(t *testing.T) {
	head := shardingOf(layoutNamed(t, "yorkie-head")).table("8.0.12")
	for _, name := range []string{"yorkie-0.6.38", "yorkie-0.6.20", "yorkie-0.5.7", "yorkie-0.4"} {
		for _, f := range Yorkie().DriftOf(head, "y", name).Findings {
			expect.That(t, len(f.Fix.Commands) == 0, "as %s: %s %s: %v, want len 0", name, f.Code, f.NS, f.Fix.Commands)
		}
	}
}
