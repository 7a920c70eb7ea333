package actions

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/refused"
	"shardboard/internal/profile"
	"shardboard/internal/shardkey"
)

// samples has a value in JSON for each argument.
var samples = map[string]string{
	"ns": `"db.coll"`, "at": `{"p":{"$numberInt":"1"}}`, "parts": `4`, "bounds": `[{"p":{"$minKey":1}},{"p":{"$maxKey":1}}]`,
	"chunk": `"id.ref"`, "to": `"shard-rs-1"`, "project": `" spaced "`, "db": `"db"`, "shard": `"shard-rs-2"`, "zone": `"eu"`,
	"min": `{"p":{"$numberInt":"1"}}`, "max": `{"p":{"$numberLong":"9007199254740993"}}`, "mode": `"moves"`, "on": `false`, "size": `0`,
	"start": `"01:00"`, "stop": `"05:00"`, "days": `"Monday 01:00-05:00"`, "force": `true`, "expires": `"720h0m0s"`, "owner": `"on-call"`, "pause": `"balancer"`,
	"chunks":   `["a","b"]`,
	"cuts":     `[{"min":{"p":{"$minKey":1}},"max":{"p":{"$maxKey":1}},"at":{"p":{"$numberInt":"3"}},"half":"lower","to":"shard-rs-1"}]`,
	"plans":    `[{"kind":"move","args":{"ns":"db.coll","to":"shard-rs-1","min":{"p":{"$numberInt":"1"}}}}]`,
	"projects": `["one","two"]`, "each": `"pin"`, "canary": `false`, "group": `5`, "perShard": `2`,
	"chunksPerHour": `10`, "bytesPerHour": `1000`, "leaveOutBlocked": `true`,
	"key": `{"p":1,"q.r":"hashed"}`, "initialChunks": `12`,
	"zones": `[{"min":{"p":{"$numberInt":"1"}},"max":{"p":{"$maxKey":1}},"zone":"eu"}]`,
}

func TestEveryFieldOfArgsIsAnArgument(t *testing.T) {
	all := Arguments()
	if n := reflect.TypeFor[Args]().NumField(); n != len(all) || n != len(samples) {
		t.Errorf("%d fields, %d arguments, %d samples", n, len(all), len(samples))
	}
	seen := map[any]string{}
	var a Args
	for _, x := range all {
		at := reflect.ValueOf(x.field(&a)).Pointer()
		if other, twice := seen[at]; twice {
			t.Errorf("%s and %s are kept in one field", x.Name, other)
		}
		seen[at] = x.Name
	}
}

func TestArgumentsRoundTripThroughJSON(t *testing.T) {
	var members []string
	for _, x := range Arguments() {
		value := samples[x.Name]
		one := `{"` + x.Name + `":` + value + `}`
		a, err := ReadArgs(json.RawMessage(one))
		expect.That(t, err == nil && x.Given(a) && string(a.JSON()) == one, "%s: %v, %s", one, err, a.JSON())
		raw, err := x.FromText(a.Texts()[x.Name])
		expect.That(t, err == nil && string(raw) == value, "%s as text %q: %v, %s", x.Name, a.Texts()[x.Name], err, raw)
		members = append(members, one[1:len(one)-1])
	}
	whole := "{" + strings.Join(members, ",") + "}"
	if a, err := ReadArgs(json.RawMessage(whole)); err != nil || string(a.JSON()) != whole {
		t.Errorf("%v\n%s\n%s", err, a.JSON(), whole)
	}
	for _, none := range []string{``, `null`, `{}`, `{"ns":null,"parts":null,"chunks":[],"cuts":null,"expires":""}`} {
		if a, err := ReadArgs(json.RawMessage(none)); err != nil || string(a.JSON()) != `{}` {
			t.Errorf("%s: %v, %s", none, err, a.JSON())
		}
	}
	if a, err := ReadArgs(json.RawMessage(`{"NS":"a.b","bounds":{"max":{"p":2},"min":{"p":1}}}`)); err != nil || a.NS != "a.b" ||
		a.Bounds[0] == nil {
		t.Errorf("%v: %+v", err, a)
	}
	if a, _ := ReadArgs(json.RawMessage(`{"expires":"90m"}`)); a.Expires != 90*time.Minute {
		t.Errorf("expires %s", a.Expires)
	}
}

// Keys and patterns are shown as mongosh writes them, so they are read so too.
func TestKeysAreReadAsMongoshWritesThem(t *testing.T) {
	for typed, want := range map[string]string{
		`{p: "hashed"}`: `{"p":"hashed"}`,
		`[{p: MinKey}, { p: ObjectId('65e1c0ffee00000000000001') }]`: `[{"p":{"$minKey":1}},{"p":{"$oid":"65e1c0ffee00000000000001"}}]`,
	} {
		got, err := Argument{Name: "x", Type: TypeKey}.FromText(typed)
		expect.That(t, err == nil && string(got) == want, "%s: %v, %s", typed, err, got)
	}
	_, err := Argument{Name: "at", Type: TypeKey}.FromText(`{p 1}`)
	expect.That(t, err != nil && strings.Contains(err.Error(), `"at" must be JSON or as in mongosh`), "got %v", err)
}

func TestUnreadableArgumentsAreRefusedByName(t *testing.T) {
	for raw, says := range map[string]string{
		`{`:                                   `"args"`,
		`[]`:                                  `"args"`,
		`7`:                                   `"args"`,
		`{"att":{"p":5}}`:                     `"att"`,
		`{"ns":7}`:                            `"ns"`,
		`{"ns":"a\u0000b"}`:                   `"ns"`,
		`{"owner":"` + long(5000) + `"}`:      `"owner"`,
		`{"parts":"4"}`:                       `"parts"`,
		`{"parts":1.5}`:                       `"parts"`,
		`{"on":"true"}`:                       `"on"`,
		`{"force":1}`:                         `"force"`,
		`{"expires":"soon"}`:                  `"expires"`,
		`{"expires":"-1h"}`:                   `"expires"`,
		`{"at":5}`:                            `"at"`,
		`{"at":{"p":{"$where":1}}}`:           `"at"`,
		`{"key":1}`:                           `"key"`,
		`{"key":{}}`:                          `"key"`,
		`{"key":{"p":-1}}`:                    `"key"`,
		`{"key":{"p":"text"}}`:                `"key"`,
		`{"key":{"p":"hashed","q":"hashed"}}`: `"key"`,
		`{"key":{"p":1,"$q":1}}`:              `"key"`,
		`{"bounds":[{"p":1}]}`:                `"bounds"`,
		`{"bounds":{"min":{"p":1}}}`:          `"bounds"`,
		`{"bounds":"x"}`:                      `"bounds"`,
		`{"bounds":[{"p":1},2]}`:              `"bounds.max"`,
		`{"chunks":"a"}`:                      `"chunks"`,
		`{"chunks":["a","b\u0000"]}`:          `"chunks[1]"`,
		`{"cuts":{}}`:                         `"cuts"`,
		`{"cuts":[{"middle":{}}]}`:            `"cuts"`,
		`{"cuts":[{"at":1}]}`:                 `"cuts[0].at"`,
		`{"cuts":[{"half":1}]}`:               `"cuts.half"`,
		`{"cuts":[{},{"half":"x\u0000"}]}`:    `"cuts[1].half"`,
		`{"owner":"` + long(5000) + `"}`:      `"owner"`,
		`{"zones":{}}`:                        `"zones"`,
		`{"zones":[{"min":{"p":1}}]}`:         `"zones"`,
		`{"zones":[{"min":1}]}`:               `"zones[0].min"`,
		`{"key":{"p":2}}`:                     `"key"`,
	} {
		if _, err := ReadArgs(json.RawMessage(raw)); fault.Of(err) != fault.Invalid || !strings.Contains(fault.Text(err), says) {
			t.Errorf("%.60s: %v, want %s", raw, err, says)
		}
	}
	for name, text := range map[string]string{"at": "x", "bounds": "[", "cuts": "upper", "parts": "many", "on": "perhaps",
		"force": "yes", "owner": "\xff"} {
		x, _ := ArgumentNamed(name)
		refused.With(t, must.Err(x.FromText(text)), fault.Invalid, `"`+name+`"`, "%s %q", name, text)
	}
}

func long(n int) string { return strings.Repeat("x", n) }

func TestHiddenArgumentsContainNoKeys(t *testing.T) {
	var members []string
	for name, value := range samples {
		members = append(members, `"`+name+`":`+value)
	}
	a, err := ReadArgs(json.RawMessage("{" + strings.Join(members, ",") + "}"))
	must.Do(t, err)
	before := string(a.JSON())
	mask := doc(bson.D{{Key: "hidden", Value: true}})
	got := a.HideKeys(func(bson.Raw) bson.Raw { return mask })
	for _, key := range []string{"minKey", "maxKey", "number", "ref", `"a"`} {
		expect.That(t, !strings.Contains(string(got.JSON()), key), "%s is in %s", key, got.JSON())
	}
	for _, x := range Arguments() {
		keeps := x.Type != TypeChunk && x.Type != TypeChunks
		expect.Equal(t, x.Given(got), keeps, "%s: given", x.Name)
	}
	expect.Equal(t, string(a.JSON()), before, "the arguments themselves were changed")
}

func TestANumberOfChunksIsThatOfAResharding(t *testing.T) {
	a, err := ReadArgs(json.RawMessage(`{"chunks": 12}`))
	expect.That(t, err == nil && a.InitialChunks == 12 && a.Chunks == nil, "%+v, %v", a, err)
	if a, err = ReadArgs(json.RawMessage(`{"chunks": ["12"]}`)); err != nil || a.InitialChunks != 0 || len(a.Chunks) != 1 {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestInvalidArgumentsAreRefusedByName(t *testing.T) {
	s := cluster(t, "0.6.38", "5.0.7", zone(t, "eu", "a", documents, from(t, 20), from(t, 30)))
	whole := chunkAt(t, s, documents, 1)
	half := [2]bson.Raw{whole[0], doc(project(33))}
	ref := func(s string) Args { return Args{NS: documents, Chunk: s, To: "c"} }
	ofShop := s
	words := *s.Profile
	words.Tenants = profile.Called{One: "Tenant", Many: "Tenants"}
	ofShop.Profile = &words
	for _, x := range []struct {
		name string
		kind Kind
		args Args
		want fault.Kind
		says string
	}{
		{"split-hot without a chunk", SplitHot, Args{NS: documents}, fault.Invalid, `"chunk"`},
		{"no key and no chunk", Split, Args{NS: documents}, fault.Invalid, `"at"`},
		{"no namespace", Split, Args{At: doc(project(30))}, fault.Invalid, `"ns"`},
		{"unknown collection", Split, Args{NS: "a.b", At: doc(project(30))}, fault.NotFound, `"ns"`},
		{"unsharded collection", Split, Args{NS: db + ".users", At: doc(project(30))}, fault.Invalid, "not sharded"},
		{"key of a bound", Split, Args{NS: documents, At: doc(project(20))}, fault.Invalid, `"at"`},
		{"end of the key space", Split, Args{NS: documents, At: doc(bson.D{{Key: "project_id", Value: bson.MaxKey{}}})},
			fault.Invalid, `"at"`},
		{"key of another type", Split, Args{NS: documents, At: doc(bson.D{{Key: "project_id", Value: "x"}})}, fault.Invalid, `"at"`},
		{"an array as a key", Split, Args{NS: documents, At: doc(bson.D{{Key: "project_id", Value: bson.A{1, 2}}})}, fault.Invalid, `"at"`},
		{"key of another field", Split, Args{NS: documents, At: doc(bson.D{{Key: "p", Value: oid(1)}})}, fault.Invalid, `"at"`},
		{"part of a key", Split, Args{NS: clients, At: doc(project(30))}, fault.Invalid, `"at"`},
		{"hash of another type", Split, Args{NS: changes, At: doc(bson.D{{Key: "doc_id", Value: oid(1)}})}, fault.Invalid, `"at"`},
		{"one part", Split, Args{NS: documents, Bounds: whole, Parts: 1}, fault.Invalid, `"parts"`},
		{"too many parts", Split, Args{NS: documents, Bounds: whole, Parts: 65}, fault.Invalid, `"parts"`},
		{"at and parts", Split, Args{NS: documents, At: doc(project(30)), Parts: 2}, fault.Invalid, `"parts"`},
		{"at outside of the chunk", Split, Args{NS: documents, At: doc(project(50)), Bounds: whole}, fault.Invalid, `"at"`},
		{"foreign argument", Split, Args{NS: documents, At: doc(project(30)), To: "c"}, fault.Invalid, `"to"`},
		{"bounds that are no chunk", MoveChunk, Args{NS: documents, Bounds: half, To: "c"}, fault.NotFound, `"bounds"`},
		{"bounds of a chunk that was split", SplitHot, Args{NS: documents, Bounds: [2]bson.Raw{whole[0], doc(bson.D{{Key: "project_id",
			Value: bson.MaxKey{}}})}}, fault.Conflict, "was split and is 2 chunks now"},
		{"one bound", MoveChunk, Args{NS: documents, Bounds: [2]bson.Raw{whole[0]}, To: "c"}, fault.Invalid, `"bounds"`},
		{"bounds in the wrong order", MoveChunk, Args{NS: documents, Bounds: [2]bson.Raw{whole[1], whole[0]}, To: "c"}, fault.Invalid,
			`"bounds"`},
		{"no chunk", MoveChunk, Args{NS: documents, To: "c"}, fault.Invalid, `"chunk"`},
		{"no reference", MoveChunk, ref("??"), fault.Invalid, `"chunk"`},
		{"unknown chunk", MoveChunk, ref(encoded(doc(project(33)))), fault.NotFound, `"chunk"`},
		{"chunk of another collection", MoveChunk, ref("00000000-0000-0000-0000-000000000001." + encoded(whole[0])), fault.NotFound, `"chunk"`},
		{"unknown shard", MoveChunk, Args{NS: documents, Bounds: whole, To: "z"}, fault.NotFound, `"to"`},
		{"no shard", MoveChunk, Args{NS: documents, Bounds: whole}, fault.Invalid, `"to"`},
		{"part outside of the chunk", MoveChunk, Args{NS: documents, Bounds: whole, To: "c", Min: doc(project(10))}, fault.Invalid, `"min"`},
		{"merge of one chunk", Merge, Args{NS: documents, Bounds: whole}, fault.Invalid, `"bounds"`},
		{"merge of no chunks", Merge, Args{NS: documents, Bounds: half}, fault.NotFound, `"bounds"`},
		{"no project", Pin, Args{Shard: "a"}, fault.Invalid, `"project"`},
		{"unknown project", Pin, Args{Shard: "a", Project: "nobody"}, fault.NotFound, `"project"`},
		{"project of another database", Pin, Args{Shard: "a", Project: "beta", DB: "x"}, fault.NotFound, `"project"`},
		{"unknown mode", Pin, Args{Shard: "a", Project: "beta", Mode: "magic"}, fault.Invalid, `"mode"`},
		{"two shards", Pin, Args{Shard: "a", To: "b", Project: "beta"}, fault.Invalid, `"shard"`},
		{"expires before it is made", Pin, Args{Shard: "a", Project: "beta", Expires: 15*time.Minute - 1}, fault.Invalid, `"expires"`},
		{"expired", Pin, Args{Shard: "a", Project: "beta", Expires: -time.Second}, fault.Invalid, `"expires"`},
		{"collection without the project", SplitProject, Args{Project: "beta", NS: changes}, fault.Invalid, `"ns"`},
		{"spread by the balancer", Spread, Args{Project: "beta", Mode: "balancer"}, fault.Invalid, `"mode"`},
		{"no zone", ZoneAddShard, Args{Shard: "a"}, fault.Invalid, `"zone"`},
		{"zone of an unknown shard", ZoneAddShard, Args{Shard: "z", Zone: "eu"}, fault.NotFound, `"shard"`},
		{"empty range", ZoneSetRange, Args{NS: documents, Zone: "eu", Min: doc(project(30)), Max: doc(project(30))}, fault.Invalid,
			`"max"`},
		{"range of another type", ZoneSetRange,
			Args{NS: documents, Zone: "eu", Min: doc(bson.D{{Key: "project_id", Value: int32(1)}}),
				Max: doc(bson.D{{Key: "project_id", Value: int32(2)}})}, fault.Invalid, `"min"`},
		{"range up to NaN", ZoneSetRange,
			Args{NS: documents, Zone: "eu", Min: doc(project(20)), Max: doc(bson.D{{Key: "project_id", Value: math.NaN()}})},
			fault.Invalid, `"max"`},
		{"first field of another type", ZoneSetRange,
			Args{NS: clients, Zone: "eu", Min: doc(bson.D{{Key: "project_id", Value: "x"}}), Max: doc(project(30))}, fault.Invalid, `"min"`},
		{"no such range", ZoneRemoveRange, Args{NS: documents, Min: doc(project(20)), Max: doc(project(31))}, fault.NotFound, `"min"`},
		{"range of another zone", ZoneRemoveRange, Args{NS: documents, Zone: "us", Min: doc(project(20)), Max: doc(project(30))},
			fault.NotFound, `"zone"`},
		{"argument where none is taken", BalancerOn, Args{NS: documents}, fault.Invalid, "takes none"},
		{"half a window", BalancerWindow, Args{Start: "10:00"}, fault.Invalid, `"stop"`},
		{"no time of day", BalancerWindow, Args{Start: "25:00", Stop: "26:00"}, fault.Invalid, `"start"`},
		{"windows by day before 8.3", BalancerWindow, Args{Days: "Monday 1:00-2:00"}, fault.Invalid, `8.3`},
		{"no window by day", BalancerWindow, Args{Days: "Mon 1:00-2:00"}, fault.Invalid, `"days"`},
		{"window of no length", BalancerWindow, Args{Start: "10:00", Stop: "10:00"}, fault.Invalid, `"stop"`},
		{"no setting", BalanceCollection, Args{NS: documents}, fault.Invalid, `"on"`},
	} {
		t.Run(x.name, func(t *testing.T) {
			_, _, err := PlanChange(s, x.kind, x.args)
			expect.That(t, fault.Of(err) == x.want && err != nil && strings.Contains(fault.Text(err), x.says),
				"%v (%s), want %s with %s", err, fault.Of(err), x.want, x.says)
			_, _, err = PlanChange(ofShop, x.kind, x.args)
			said := strings.ReplaceAll(fault.Text(err), `"project"`, "the argument")
			expect.Equal(t, ofShop.Profile.Words(said), said, "a shop is told of projects: %v", err)
		})
	}
}

// An existing range may have bounds of any type. It can be removed, though no plan could
// set it.
func TestExistingRangeOfWrongTypeCanBeRemoved(t *testing.T) {
	odd := func(n int32) func(shardkey.Pattern) shardkey.Key {
		return func(p shardkey.Pattern) shardkey.Key { return keyOf(t, p, n) }
	}
	s := cluster(t, "0.6.38", "5.0.7", zone(t, "eu", "a", documents, odd(1), odd(2)))
	z := s.Table.Zones[0]
	d, _ := plan(t, s, ZoneRemoveRange, Args{NS: documents, Min: z.RawMin, Max: z.RawMax})
	expect.That(t, !d.Blocked() && len(d.Steps) == 1 && d.Undo.Possible && d.Undo.Kind == "",
		"blocked %v, %d steps, undo %+v", d.Blocked(), len(d.Steps), d.Undo)
	whole := Args{NS: documents, Zone: "us", Min: doc(bson.D{{Key: "project_id", Value: bson.MinKey{}}}), Max: doc(project(30))}
	if _, _, err := PlanChange(s, ZoneSetRange, whole); err != nil {
		t.Errorf("MinKey is an end of every range: %v", err)
	}
}
