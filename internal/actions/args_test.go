package actions

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/must"
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
		if err != nil || !x.Given(a) || string(a.JSON()) != one {
			t.Errorf("%s: %v, %s", one, err, a.JSON())
		}
		raw, err := x.FromText(a.Texts()[x.Name])
		if err != nil || string(raw) != value {
			t.Errorf("%s as text %q: %v, %s", x.Name, a.Texts()[x.Name], err, raw)
		}
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
		if _, err := x.FromText(text); fault.Of(err) != fault.Invalid || !strings.Contains(fault.Text(err), `"`+name+`"`) {
			t.Errorf("%s %q: %v", name, text, err)
		}
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
	mask := doc(t, bson.D{{Key: "hidden", Value: true}})
	got := a.HideKeys(func(bson.Raw) bson.Raw { return mask })
	for _, key := range []string{"minKey", "maxKey", "number", "ref", `"a"`} {
		if strings.Contains(string(got.JSON()), key) {
			t.Errorf("%s is in %s", key, got.JSON())
		}
	}
	for _, x := range Arguments() {
		keeps := x.Type != TypeChunk && x.Type != TypeChunks
		if x.Given(got) != keeps {
			t.Errorf("%s: given is %t", x.Name, x.Given(got))
		}
	}
	if string(a.JSON()) != before {
		t.Error("the arguments themselves were changed")
	}
}

func TestANumberOfChunksIsThatOfAResharding(t *testing.T) {
	a, err := ReadArgs(json.RawMessage(`{"chunks": 12}`))
	if err != nil || a.InitialChunks != 12 || a.Chunks != nil {
		t.Errorf("%+v, %v", a, err)
	}
	if a, err = ReadArgs(json.RawMessage(`{"chunks": ["12"]}`)); err != nil || a.InitialChunks != 0 || len(a.Chunks) != 1 {
		t.Errorf("%+v, %v", a, err)
	}
}
