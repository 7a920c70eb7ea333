package answer_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/message"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
	"shardboard/web/webtest"
)

// namedView has projects with these names, the ids of the first two of which follow each other.
func namedView(names ...string) (answer.View, []bson.ObjectID) {
	ids := make([]bson.ObjectID, len(names))
	var projects []placement.Project
	for i, name := range names {
		ids[i] = webtest.NewStory().ProjectIDs()[2*i]
		if i == 1 {
			ids[i] = nextID(ids[0])
		}
		projects = append(projects, placement.Project{DB: "yorkie-meta", ID: ids[i], Name: name})
	}
	v := webtest.NewStory().View()
	v.Profile = profile.Yorkie()
	v.Dir = placement.NewDirectory(1, []string{"yorkie-meta"}, projects, topology.Health{At: webtest.Epoch})
	return v, ids
}

func nextID(id bson.ObjectID) bson.ObjectID {
	binary.BigEndian.PutUint64(id[4:], binary.BigEndian.Uint64(id[4:])+1)
	return id
}

func documentsBound(id bson.ObjectID) api.Key {
	return api.Key(fmt.Sprintf(`{"project_id":{"$oid":%q}}`, id.Hex()))
}

func clientsBound(id bson.ObjectID, hash string) api.Key {
	return api.Key(fmt.Sprintf(`{"project_id":{"$oid":%q},"_id":%s}`, id.Hex(), hash))
}

func TestBoundsTellTheirProjects(t *testing.T) {
	v, ids := namedView("atlas", "next", "alone")
	deleted := webtest.NewStory().ProjectIDs()[20]
	const least, documents, clients = `{"$minKey":1}`, "yorkie-meta.documents", "yorkie-meta.clients"
	const zero, five = `{"$numberLong":"0"}`, `{"$numberLong":"5"}`
	tests := map[string]struct {
		ns          string
		min, max    api.Key
		from, until string // names; "?" for a project that is not listed
	}{
		"a project's whole range":             {documents, documentsBound(ids[2]), documentsBound(nextID(ids[2])), "alone", ""},
		"one whose next id is a project":      {documents, documentsBound(ids[0]), documentsBound(ids[1]), "atlas", ""},
		"the range of that project":           {documents, documentsBound(ids[1]), documentsBound(ids[2]), "next", "alone"},
		"what follows a project's range":      {documents, documentsBound(nextID(ids[2])), api.Key(`{"project_id":{"$maxKey":1}}`), "", ""},
		"inside a project":                    {clients, clientsBound(ids[2], zero), clientsBound(ids[2], five), "alone", "alone"},
		"a project's whole range in two keys": {clients, clientsBound(ids[2], least), clientsBound(nextID(ids[2]), least), "alone", ""},
		"inside the next id":                  {clients, clientsBound(ids[2], least), clientsBound(nextID(ids[2]), zero), "alone", "?"},
		"a deleted project":                   {documents, documentsBound(deleted), documentsBound(nextID(deleted)), "?", ""},
		"the least key":                       {documents, api.Key(`{"project_id":{"$minKey":1}}`), documentsBound(ids[2]), "", "alone"},
		"an id that is text":                  {documents, api.Key(fmt.Sprintf(`{"project_id":%q}`, ids[2].Hex())), nil, "", ""},
		"a hash":                              {"yorkie-meta.changes", api.Key(`{"doc_id":{"$numberLong":"5"}}`), nil, "", ""},
		"a collection that is gone":           {"yorkie-meta.nowhere", documentsBound(ids[2]), nil, "", ""},
		"bounds that are none":                {documents, api.Key(`{"a":1}`), api.Key(`{`), "", ""},
	}
	text := func(p api.KeyProject) string {
		if p.Unlisted {
			return "?"
		}
		expect.Equal(t, p.Project == "", p.ProjectName == "", "half a project: %+v", p)
		return p.ProjectName
	}
	for name, tc := range tests {
		from, until := v.ProjectsOfBounds(tc.ns, tc.min, tc.max)
		if text(from) != tc.from || text(until) != tc.until {
			t.Errorf("%s: %q and %q, want %q and %q", name, text(from), text(until), tc.from, tc.until)
		}
	}
}

func TestBoundsTellProjectsWithOtherIDs(t *testing.T) {
	uuid := bson.Binary{Subtype: bson.TypeBinaryUUID, Data: []byte{15: 7}}
	var projects []placement.Project
	for name, id := range map[string]any{"eu": "eu", "eu west": "eu-west", "seven": int64(7), "by uuid": uuid} {
		kind, data, err := bson.MarshalValue(id)
		must.Do(t, err)
		p := placement.Project{DB: "yorkie-meta", Name: name}
		p.ID, p.Stored, _ = placement.IDOf(bson.RawValue{Type: kind, Value: data})
		projects = append(projects, p)
	}
	v, _ := namedView()
	v.Dir = placement.NewDirectory(1, []string{"yorkie-meta"}, projects, topology.Health{At: webtest.Epoch})
	for _, tc := range []struct{ min, max, from, until string }{
		{`"eu"`, `"eu\u0000"`, "eu", ""},
		{`"eu\u0000"`, `"eu-west"`, "", "eu west"},
		{`"eua"`, `"f"`, "", ""},
		{`{"$numberLong":"7"}`, `{"$numberLong":"8"}`, "seven", ""},
		{`{"$binary":{"base64":"AAAAAAAAAAAAAAAAAAAABw==","subType":"04"}}`, `{"$binary":{"base64":"AAAAAAAAAAAAAAAAAAAACA==","subType":"04"}}`,
			"by uuid", ""},
	} {
		from, until := v.ProjectsOfBounds("yorkie-meta.documents", api.Key(`{"project_id":`+tc.min+`}`), api.Key(`{"project_id":`+tc.max+`}`))
		if from.ProjectName != tc.from || until.ProjectName != tc.until || from.Unlisted || until.Unlisted {
			t.Errorf("%s to %s: %+v and %+v, want %q and %q", tc.min, tc.max, from, until, tc.from, tc.until)
		}
	}
}

func TestNobodyIsNamedWhileTheListOfProjectsIsNotRead(t *testing.T) {
	v, ids := namedView("atlas")
	v.Dir = placement.NewDirectory(0, []string{"yorkie-meta"}, nil, topology.Health{})
	expect.Equal(t, v.ProjectOfBound("yorkie-meta.documents", documentsBound(ids[0])), api.KeyProject{}, "the project of a bound")
	if z := v.ZoneName(answer.PinZone(ids[0])); z.Kind != "" || z.Unlisted {
		t.Errorf("got %+v", z)
	}
}

func TestHiddenKeysNameNoProject(t *testing.T) {
	v, ids := namedView("atlas")
	whole := v
	v.Hidden = answer.Hidden{Bounds: true}
	v.Table, v.Whole = answer.NewHiddenTables().Of(whole.Table, v.Hidden, true), &whole
	expect.Equal(t, v.ProjectOfBound("yorkie-meta.documents", documentsBound(ids[0])), api.KeyProject{}, "the project of a bound")
	m := message.New("x", "Move {min} of {ns}", message.Key("min", ids[0].Hex()), message.Namespace("ns", "yorkie-meta.documents"))
	expect.Lacks(t, v.Named(m).String(), "atlas", "the text")
}

func TestSentencesNameTheProjectsOfTheirKeys(t *testing.T) {
	v, ids := namedView("at\u202elas\n", "next", "alone")
	ns := message.Namespace("ns", "yorkie-meta.clients")
	atlas := `at\u{202e}las\n`
	hex, alone := ids[0].Hex(), ids[2].Hex()
	move := func(min, max string) message.Message {
		return message.New("move", "Move {min} → {max} of {ns} to {zone}", message.Key("min", min), message.Key("max", max), ns,
			message.Zone("zone", "z"))
	}
	tests := []struct {
		m    message.Message
		want string
	}{
		{move(hex+", 5", alone+", 7"), "Move " + atlas + " (" + hex + ", 5) → alone (" + alone + ", 7) of yorkie-meta.clients to z"},
		{move(alone+", MinKey", nextID(ids[2]).Hex()+", MinKey"),
			"Move alone (" + alone + ", MinKey) → " + nextID(ids[2]).Hex() + ", MinKey of yorkie-meta.clients to z"},
		{move(`{project_id: ObjectId("`+hex+`"), _id: 5}`, ""),
			"Move " + atlas + ` ({project_id: ObjectId("` + hex + `"), _id: 5}) →  of yorkie-meta.clients to z`},
		{message.New("pin", "Pin {project}: {min} of {ns}", message.Project("project", hex, "atlas"), message.Key("min", hex+", 5"), ns),
			"Pin atlas: " + hex + ", 5 of yorkie-meta.clients"},
		{message.New("zone", "Add a shard to {zone}", message.Zone("zone", answer.PinZone(ids[2]))), "Add a shard to pin: alone"},
		{move(`{_id: "`+hex+`"}`, hex+"f"), `Move {_id: "` + hex + `"} → ` + hex + "f of yorkie-meta.clients to z"},
	}
	for _, tc := range tests {
		named := v.Named(tc.m)
		if got := named.String(); got != tc.want {
			t.Errorf("got  %s\nwant %s", got, tc.want)
		}
		expect.Equal(t, v.Named(named).String(), tc.want, "named twice")
		for name, value := range tc.m.Args() {
			expect.Equal(t, named.Args()[name], value, "%s for scripts", name)
		}
	}
}

func TestZonesOfProjectsAreNamed(t *testing.T) {
	v, ids := namedView("atlas")
	unlisted := webtest.NewStory().ProjectIDs()[20]
	for zone, want := range map[string]api.ZoneName{
		answer.PinZone(ids[0]):              {Kind: "pin", KeyProject: api.KeyProject{Project: ids[0].Hex(), ProjectName: "atlas"}},
		placement.OthersZone(ids[0].Hex()):  {Kind: "others of", KeyProject: api.KeyProject{Project: ids[0].Hex(), ProjectName: "atlas"}},
		answer.PinZone(unlisted):            {Kind: "pin", KeyProject: api.KeyProject{Project: unlisted.Hex(), Unlisted: true}},
		"eu":                                {},
		"pin-eu":                            {},
		"pin-" + ids[0].Hex()[:20] + "zzzz": {},
	} {
		want.Zone = zone
		expect.Equal(t, v.ZoneName(zone), want, "the name of %s", zone)
	}
}
