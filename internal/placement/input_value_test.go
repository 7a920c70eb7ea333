package placement

import (
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/routing"
	"shardboard/internal/topology"
)

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
