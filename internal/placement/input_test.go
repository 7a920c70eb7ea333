package placement

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/refused"
	"shardboard/internal/fixture/routing"
	"shardboard/internal/placement/ids"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

const (
	hexA   = "507f1f77bcf86cd799439011"
	hexB   = "65f0c0ffee65f0c0ffee65f0"
	uuid   = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"
	apiKey = "mBhLWpJwJ5Gq4mD2VRhYvK" // looks like a project's key
)

// readingsOnOneLine formats the readings on one line.
func readingsOnOneLine(in Input) string {
	var out []string
	for _, r := range in.Readings {
		s := string(r.Form)
		if r.Project != "" || r.Key != "" {
			s += fmt.Sprintf(" %q %q", r.Project, r.Key)
		}
		if r.Form == FormReference {
			s += " " + r.Kind + " " + r.ProjectID.Hex() + "." + r.ID.Hex()
		}
		if r.Form == FormID {
			s += " " + r.ID.Hex()
		}
		if (r.UUID != ids.UUID{}) {
			s += " " + r.UUID.String()
		}
		out = append(out, s)
	}
	return strings.Join(out, " | ")
}

func TestKindOfInputIsRecognized(t *testing.T) {
	for text, want := range map[string]string{
		"app":                                  `project "app" ""`,
		"app/doc":                              `documentKey "app" "doc"`,
		"app/a/b c":                            `documentKey "app" "a/b c"`,
		"app / doc":                            `documentKey "app" " doc"`, // a key may begin with a space
		"app/":                                 `documentKey "app" ""`,
		hexA:                                   "id " + hexA,
		`ObjectId("` + hexA + `")`:             "id " + hexA,
		`{"$oid": "` + hexA + `"}`:             "id " + hexA,
		"Document (" + hexA + "." + hexB + ")": "reference document " + hexA + "." + hexB,
		"Client (" + hexA + "." + hexB + ")":   "reference client " + hexA + "." + hexB,
		hexA + "." + hexB:                      "reference  " + hexA + "." + hexB,
		"2026-11-21T10:00:00Z ERROR yorkie/packs.go:12 push Document (" + hexA + "." + hexB + ") by Client (" + hexA + "." + hexA +
			"): timeout, again Document (" + hexA + "." + hexB +
			")": "reference document " + hexA + "." + hexB + " | reference client " + hexA + "." + hexA,
		"lock " + hexA + "." + hexB + " is held":                   "reference  " + hexA + "." + hexB,
		"app/" + hexA + "." + hexB + "-and-more-text":              `documentKey "app" "` + hexA + "." + hexB + `-and-more-text"`,
		"https://dash.example/projects/app/documents/doc":          `dashboard "app" "doc"`,
		"HTTPS://user:pw@x:1/y/projects/app/documents/doc?tab=1#x": `dashboard "app" "doc"`,
		"http://x/projects/a%2Fb/documents/k%20%2Fz":               `dashboard "a/b" "k /z"`,
		"http://x/projects/app/documents/k/history":                `dashboard "app" "k/history" | dashboard "app" "k"`,
		"http://x/projects/app":                                    `dashboard "app" ""`,
		"http://x/projects/app/documents/":                         `dashboard "app" ""`,
		"/projects/app/documents/doc":                              `dashboard "app" "doc"`,
		"dash.example/projects/app/documents/doc":                  `dashboard "app" "doc" | documentKey "dash.example" "projects/app/documents/doc"`,
		"projects/x/documents/y":                                   `documentKey "projects" "x/documents/y"`,
		"http://x/other":                                           `project "http://x/other" ""`,
		uuid:                                                       "uuid " + uuid,
		"{" + strings.ToUpper(uuid) + "}":                          "uuid " + uuid,
		`{"$gt": ""}`:                                              `project "{\"$gt\": \"\"}" ""`,
		"\u202Egpj.exe":                                            "project \"\\u202egpj.exe\" \"\"",
	} {
		in, err := ReadInput(text)
		if got := readingsOnOneLine(in); err != nil || got != want {
			t.Errorf("%q:\n got %s, %v\nwant %s", text, got, err, want)
		}
	}
	for _, text := range []string{"http://x/projects/a%zz/documents/k", "http://x/projects/a/documents/%00",
		"http://x/projects/a/documents/%ff"} {
		refused.As(t, must.Err(ReadInput(text)), fault.Invalid, "%q", text)
	}
}

func TestKeyShapedTextIsRecognized(t *testing.T) {
	for text, want := range map[string][2]bool{
		apiKey: {true, true}, apiKey + "/doc": {true, true}, "app/" + apiKey: {true, false}, "Authorization: API-Key " + apiKey: {true, false},
		"http://x/projects/" + apiKey: {true, true}, "app": {}, hexA: {}, uuid: {}, apiKey + "x": {}, apiKey[1:]: {},
	} {
		in, err := ReadInput(text)
		if err != nil || in.KeyShaped != want[0] || in.ProjectKeyShaped != want[1] {
			t.Errorf("%q: %v %v, %v", text, in.KeyShaped, in.ProjectKeyShaped, err)
		}
	}
}

func FuzzInputAlwaysHasAReading(f *testing.F) {
	for _, s := range []string{"app/doc", "Document (" + hexA + "." + hexB + ")", "http://x/projects/a/documents/b%20", uuid, apiKey,
		`ObjectId("` + hexA + `")`, "/", "a.b/projects/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if s = strings.TrimSpace(s); checkText(s) != nil || s == "" {
			return
		}
		in, err := ReadInput(s)
		if err != nil {
			must.That(t, fault.Of(err) == fault.Invalid, "got %v, want kind %v", err, fault.Invalid)
			return
		}
		must.That(t, len(in.Readings) != 0 && len(in.Readings) <= maxReferences, "%q: %d readings", s, len(in.Readings))
		for _, r := range in.Readings {
			expect.That(t, r.Form != "" && checkText(r.Key) == nil && checkText(r.Project) == nil, "%q: %+v", s, r)
		}
		if in.ProjectKeyShaped && !in.KeyShaped {
			t.Errorf("%q: the project's part is key-shaped, but the input is not reported as such", s)
		}
	})
}

func TestNumbersAndDatesAreReadAsShellsPrintThem(t *testing.T) {
	for text, want := range map[string]Value{
		`42`:                                    {"a number", `42`},
		`-8526829578235581012`:                  {"a number", `-8526829578235581012`},
		`3.5`:                                   {"a number", `3.5`},
		`NumberLong("-8526829578235581012")`:    {"a number", `{"$numberLong":"-8526829578235581012"}`},
		`NumberLong(42)`:                        {"a number", `{"$numberLong":"42"}`},
		`Long('7')`:                             {"a number", `{"$numberLong":"7"}`},
		`NumberInt(5)`:                          {"a number", `{"$numberInt":"5"}`},
		`NumberDecimal("1.5")`:                  {"a number", `{"$numberDecimal":"1.5"}`},
		`{"$numberLong": "42"}`:                 {"a number", `{"$numberLong": "42"}`},
		`2026-11-22`:                            {"a date", `{"$date":"2026-11-22T00:00:00.000Z"}`},
		`2026-11-22T10:00:00+02:00`:             {"a date", `{"$date":"2026-11-22T08:00:00.000Z"}`},
		`2026-11-22 10:00:00`:                   {"a date", `{"$date":"2026-11-22T10:00:00.000Z"}`},
		`ISODate("2026-11-22T10:00:00.5Z")`:     {"a date", `{"$date":"2026-11-22T10:00:00.500Z"}`},
		`new Date("2026-11-22T10:00:00Z")`:      {"a date", `{"$date":"2026-11-22T10:00:00.000Z"}`},
		`{"$date":"2026-11-22T10:00:00Z"}`:      {"a date", `{"$date":"2026-11-22T10:00:00Z"}`},
		`shop`:                                  {},
		`"42"`:                                  {},
		`null`:                                  {},
		`true`:                                  {},
		`007`:                                   {},
		`1.2.3`:                                 {},
		`NumberLong("x")`:                       {},
		`NumberLong("99999999999999999999999")`: {},
		`2026-13-40`:                            {},
		`ISODate("soon")`:                       {},
		`{"$numberLong":"42","b":1}`:            {},
		`{"$date":{"$gt":1}}`:                   {},
		`{`:                                     {},
		``:                                      {},
	} {
		if got, ok := ReadValue(text); ok != (want != Value{}) || ok && got != want {
			t.Errorf("%q is read as %+v, %v; want %+v", text, got, ok, want)
		}
	}
}

// TestSupportIsToldWhatWasUnderstood: each text is found, or the answer says how it was read and what to do.
func TestSupportIsToldWhatWasUnderstood(t *testing.T) {
	src := &fakeSource{docs: []DocumentRow{
		{ID: oid(201), Project: oid(5), Key: "plans/2026 übersicht"}, {ID: oid(202), Project: oid(5), Key: "lower-case"},
		{ID: oid(203), Project: oid(5), Key: "42"},
	}}
	l := locator(t, src, project(5, "Shop", ""), project(6, "shop-two", ""), project(7, "1234", ""))
	for _, c := range []struct {
		text, found, note, says string
		in                      In
	}{
		{text: "Shop/plans/2026 übersicht", found: "document plans/2026 übersicht"},
		{text: "Shop/ plans/2026 übersicht ", found: "document plans/2026 übersicht", note: NoteNearKey},
		{text: `Shop/"lower-case"`, found: "document lower-case", note: NoteNearKey},
		{text: "Shop/LOWER-Case", found: "document lower-case", note: NoteNearKey},
		{text: "SHOP/lower-case", found: "document lower-case", note: NoteNearName},
		{text: "Shop/lower", says: "exactly this key"},
		{text: "shop-two/lower-case", says: "exactly this key"},
		{text: "lower-case", says: "type project/document key"},
		{text: "lower-case", in: InProjects, found: "document lower-case"},
		{text: `"lower-case",`, in: InProjects, found: "document lower-case"},
		{text: "Shop/42", found: "document 42"},
		{text: "1234", found: "project 1234"},
		{text: "42", says: "Read as a number"},
		{text: `NumberLong("42")`, says: "Read as a number"},
		{text: "2026-11-22", says: "Read as a date"},
		{text: `ISODate("2026-11-22T10:00:00Z")`, says: "name a collection"},
	} {
		a, err := l.Ask(t.Context(), Query{Text: c.text, Near: c.in == "", In: c.in})
		if c.found == "" {
			if fault.Of(err) != fault.NotFound || !strings.Contains(fault.Text(err), c.says) {
				t.Errorf("%q: %v, want %q", c.text, err, c.says)
			}
			continue
		}
		if err != nil || len(a.Items) != 1 || a.Items[0].Kind+" "+a.Items[0].Name != c.found {
			t.Errorf("%q: %+v, %v, want %s", c.text, a.Items, err, c.found)
			continue
		}
		if c.note != "" && (len(a.Items[0].Notes) != 1 || a.Items[0].Notes[0].Code != c.note) {
			t.Errorf("%q: notes %v, want %s", c.text, a.Items[0].Notes, c.note)
		}
	}
}

func TestNumberOfAShellIsAnIDAndAShardKeyValue(t *testing.T) {
	row := must.Get(bson.Marshal(bson.D{{Key: "_id", Value: int64(42)}, {Key: "n", Value: int64(42)}}))
	src := &fakeSource{rows: map[topology.Namespace][]bson.Raw{db + ".orders": {row}}}
	l := locator(t, src, project(5, "Shop", ""))
	f := l.tables.(fixedTable)
	f.t.Collections = append(f.t.Collections, collection("orders", routing.Pattern("n"), nil, "c"))
	a, err := l.Ask(t.Context(), Query{Text: `NumberLong("42")`, In: InCollections})
	if err != nil || len(a.Items) != 1 || !slices.Equal(a.Items[0].Places[0].Shards, []string{"c"}) {
		t.Errorf("as an _id: %+v, %v", a.Items, err)
	}
	for _, key := range []string{`NumberLong("42")`, `ISODate("2026-11-22")`, `{"n":{"$numberLong":"42"}}`} {
		if a, err := l.Ask(t.Context(), Query{NS: db + ".orders", Key: key}); err != nil || len(a.Items) == 0 {
			t.Errorf("%s as a shard key: %v", key, err)
		}
	}
}

// TestAProjectIsFoundAsSupportCopiesIt: in quotes, as shells and drivers print it, in lines of logs, from our own
// addresses, and half.
func TestAProjectIsFoundAsSupportCopiesIt(t *testing.T) {
	p := Project{DB: db, ID: bson.ObjectID{0x68, 0x79, 0x7c, 0x08, 0xe2, 11: 0x80}, Name: "atlas-board"}
	l := locator(t, &fakeSource{}, p, project(7, "other", ""))
	id, name := p.ID.Hex(), p.Name
	for _, text := range []string{
		`"` + id + `"`, "'" + id + "'", "`" + id + "`", "<" + id + ">", id + ",", " \n" + id + "\n", strings.ToUpper(id),
		`ObjectId("` + id + `")`, `ObjectId('` + id + `')`, `{"$oid":"` + id + `"}`, `{"_id": {"$oid": "` + id + `"}}`,
		`{"project_id":{"$oid":"` + id + `"}}`, `project_id: ObjectId("` + id + `")`, "id=" + id, "pin-" + id,
		"ERROR push failed project=" + id + " tries=3", "http://board.example/locate?q=" + id, "/locate?q=" + id + "&why=1",
		"http://board.example/projects/" + id, id[:10], `"` + name + `"`, "“" + name + "”", "project: " + name, "name=" + name,
		strings.ToUpper(name), name + " ",
	} {
		a, err := l.Ask(t.Context(), Query{Text: text, Near: true})
		if err != nil || len(a.Items) == 0 || a.Items[0].Project == nil || a.Items[0].Project.ID != p.ID {
			t.Errorf("%q: %v, %+v", text, err, a.Items)
		}
	}
}

func TestATextThatHoldsNothingSaysWhatToDo(t *testing.T) {
	l := locator(t, &fakeSource{}, project(7, "other", ""))
	for text, want := range map[string]string{
		"one\ntwo": "Many lines at once",
		"aaaaaaaaaaaaaaaaaaaaaaaa, bbbbbbbbbbbbbbbbbbbbbbbb": "several ids",
		"http://board.example/shards/one":                    "names no project",
		strings.Repeat("a", 64):                              "No project has this name",
		"2026-11-22T10:00:00Z":                               "No project has this name",
	} {
		a, err := l.Ask(t.Context(), Query{Text: text, Near: true})
		if fault.Of(err) != fault.NotFound || !strings.Contains(fault.Text(err), want) || len(a.Items) > 0 {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// keyWorld has a collection with a dotted key, a tracked one that is not sharded, and two time series.
func keyWorld() *topology.Table {
	dotted := routing.Pattern("a.b", "n")
	at := func(hour int) bson.DateTime {
		return bson.NewDateTimeFromTime(time.Date(2026, 1, 1, hour, 0, 0, 0, time.UTC))
	}
	byMeta, byTime := routing.Pattern("meta.room"), routing.Pattern("meta", "control.min.time")
	list := []*topology.Collection{
		routing.Collection("app.dotted", dotted, []shardkey.Key{routing.Bound(dotted, "m", int64(5))}, "s1", "s2"),
		routing.Collection("app.tracked", routing.Pattern("_id"), nil, "s2"),
		routing.Collection("ts.system.buckets.rooms", byMeta, routing.Bounds(byMeta, "m"), "s1", "s2"),
		routing.Collection("ts.weather", byTime,
			[]shardkey.Key{routing.Bound(byTime, "x", at(6)), routing.Bound(byTime, "x", at(12))}, "s1", "s2", "s3"),
	}
	list[1].Unsplittable = true
	list[2].Series = topology.Series{TimeField: "time", MetaField: "sensor", Granularity: "seconds"}
	list[3].Series = topology.Series{TimeField: "time", MetaField: "sensor", MaxSpan: 3600}
	return &topology.Table{Collections: list, Loaded: true, Shards: []topology.Shard{{Name: "s1"}, {Name: "s2"}, {Name: "s3"}},
		Databases: []topology.Database{{Name: "app", Primary: "s1"}, {Name: "ts", Primary: "s1"}}}
}

func TestPastedKeysAreUnderstood(t *testing.T) {
	table := keyWorld()
	for _, tc := range []struct{ ns, key, shards, note string }{
		{"app.dotted", `{"a.b": "z", "n": 1}`, "s2", ""},
		{"app.dotted", `{a: {b: 'a'}, n: NumberLong("1")}`, "s1", ""},
		{"app.dotted", `{a: {b: "z", c: [1]}}`, "s2", ""},
		{"app.dotted", `{_id: ObjectId("65e0000000000000000000ff"), a: {b: "m"}, n: 7, tags: ["x"], at: ISODate("2026-01-01")}`, "s2",
			"ignored: _id, tags, at."},
		{"app.tracked", ``, "s2", ""},
		{"app.tracked", `{"anything": 1}`, "s2", ""},
		{"ts.rooms", `{"sensor": {"room": "z"}}`, "s2", "is in a bucket of ts.system.buckets.rooms: meta in the key is the field sensor"},
		{"ts.rooms", `{time: ISODate("2026-01-01T00:00:00Z"), sensor: {room: "a", floor: 3}, value: 21.5}`, "s1", "ignored: time, value."},
		{"ts.system.buckets.rooms", `{"meta.room": "z"}`, "s2", ""},
		{"ts.weather", `{sensor: "x", time: ISODate("2026-01-01T09:00:00Z")}`, "s2", "time series ts.weather"},
		{"ts.weather", `{sensor: "x", time: ISODate("2026-01-01T06:30:00Z")}`, "s1,s2", ""}, // its bucket began up to an hour before
		{"ts.weather", `{meta: "x", "control.min.time": ISODate("2026-01-01T06:30:00Z")}`, "s2", ""},
		{"ts.weather", `{sensor: "y"}`, "s3", ""},
	} {
		items, err := locateKey(table, Query{NS: topology.Namespace(tc.ns), Key: tc.key})
		if err != nil || len(items) != 1 || strings.Join(items[0].Places[0].Shards, ",") != tc.shards {
			t.Errorf("%s %s: %v %v, want %s", tc.ns, tc.key, items, err, tc.shards)
			continue
		}
		var notes []string
		for _, n := range items[0].Notes {
			notes = append(notes, n.String())
		}
		expect.Contains(t, strings.Join(notes, " "), tc.note, "%s %s: notes", tc.ns, tc.key)
	}
	for _, q := range []Query{{NS: "app.dotted", Key: `{n: 1}`}, {NS: "app.dotted", Key: `{a: 1}`}, {NS: "ts.weather", Key: `{sensor: "x", time: 5}`},
		{NS: "app.other", Key: `{sensor: "x"}`}, {NS: "app.dotted", Key: `{a: {b: db.x.drop()}}`}} {
		if items, err := locateKey(table, q); err == nil {
			t.Errorf("%s is placed at %v", q.Key, items)
		}
	}
}

func TestATimeSeriesIsFoundByItsOwnName(t *testing.T) {
	table := keyWorld()
	if c := table.Collection("ts.rooms"); c == nil || c.NS != "ts.system.buckets.rooms" || !table.CountsBuckets("ts.rooms") {
		t.Errorf("ts.rooms is %v", c)
	}
	table.Collections[2].Series = topology.Series{} // buckets of nothing
	if c := table.Collection("ts.rooms"); c != nil {
		t.Errorf("ts.rooms is %s", c.NS)
	}
	if !slices.IsSortedFunc(table.Collections, func(a, b *topology.Collection) int { return strings.Compare(string(a.NS), string(b.NS)) }) {
		t.Fatal("the table is not sorted")
	}
}
