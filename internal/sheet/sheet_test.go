package sheet_test

import (
	"encoding/csv"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/sheet"
)

type part struct {
	Shard string  `json:"shard"`
	Share float64 `json:"share"`
}

type item struct {
	Name   string          `json:"name"`
	Hidden string          `json:"-"`
	Left   string          `json:"left" csv:"-"`
	Size   api.Figure      `json:"size"`
	At     *time.Time      `json:"at"`
	Key    json.RawMessage `json:"key"`
	Zones  []string        `json:"zones"`
	Counts map[string]int  `json:"counts"`
	Last   *part           `json:"last"`
	Parts  []part          `json:"parts" csv:"rows"`
	api.Freshness
}

func TestColumnsFollowFromTheType(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 1e6, time.UTC)
	n := int64(-7)
	list := api.List[item]{Next: "more", Items: []item{
		{Name: "=1+1", Hidden: "no", Left: "no", Size: api.Figure{Value: &n, Exact: true}, At: &at, Key: json.RawMessage(`{"a":1}`),
			Zones: []string{"eu", "us"}, Counts: map[string]int{"b": 2}, Last: &part{Shard: "s1", Share: 0.5},
			Parts: []part{{Shard: "s1", Share: 1}, {Shard: "s2"}}, Freshness: api.Freshness{AsOf: at, Stale: true}},
		{Name: "empty", Key: json.RawMessage("null")},
	}}
	columns := sheet.ColumnsOf(sheet.ItemsOf(reflect.TypeOf(list)))
	var text strings.Builder
	out := sheet.NewWriter(&text, columns.Names()...)
	lines, next := out.List(columns, list)
	if err := out.Close(); err != nil || lines != 3 || next != "more" {
		t.Fatalf("%d lines, next %q, %v", lines, next, err)
	}
	got, err := csv.NewReader(strings.NewReader(text.String())).ReadAll()
	must.Do(t, err)
	want := [][]string{
		{"name", "size", "size.exact", "at", "key", "zones", "counts", "last.shard", "last.share", "parts.shard", "parts.share", "asOf", "stale"},
		{"'=1+1", "-7", "true", "2026-03-01T12:00:00.001Z", `{"a":1}`, "eu us", `{"b":2}`, "s1", "0.5", "s1", "1", "2026-03-01T12:00:00.001Z", "true"},
		{"'=1+1", "-7", "true", "2026-03-01T12:00:00.001Z", `{"a":1}`, "eu us", `{"b":2}`, "s1", "0.5", "s2", "0", "2026-03-01T12:00:00.001Z", "true"},
		{"empty", "", "", "", "", "", "", "", "", "", "", "", "false"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Where the comma is a decimal point, a semicolon separates cells.
func TestCellsBeginNoFormulaAfterASeparatorEither(t *testing.T) {
	for cell, want := range map[string]string{
		"a;=1+1": "a;'=1+1", "a; @x;-y": "a;' @x;'-y", "a;b": "a;b", "1;-2": "1;-2", "a\t=1": `a\t=1`, ";=1": ";'=1", "=a;b": "'=a;b",
	} {
		expect.Equal(t, sheet.Inert(cell), want, "%q", cell)
	}
}

func TestOnlyListsOfObjectsHaveColumns(t *testing.T) {
	for _, v := range []any{api.Cluster{}, api.Me{}, struct {
		Items []string `json:"items"`
	}{}} {
		if got := sheet.ItemsOf(reflect.TypeOf(v)); got != nil {
			t.Errorf("%T has items of %v", v, got)
		}
	}
	for _, v := range []any{api.List[api.Shard]{}, api.ChunkList{}, api.HeatList{}, api.Projects{}} {
		expect.That(t, sheet.ItemsOf(reflect.TypeOf(v)) != nil, "%T has no items", v)
	}
}

// A list that has no line of its own says what is in it where its elements can, and how many they are otherwise.
func TestPeopleReadWhatIsInAList(t *testing.T) {
	columns := sheet.ColumnsOf(reflect.TypeFor[api.Advice]())
	share := 0.88
	row := columns.People("consequences", "evidence", "minutes", "plans").Rows(reflect.ValueOf(api.Advice{
		Consequences: []api.AdviceConsequence{{Rule: "hot-shard"}, {Rule: "hot-chunk"}},
		Evidence:     []api.AdviceFigure{{Name: api.Plain("Share"), Unit: "share", Value: &share}, {Name: api.Plain("Rate"), Unit: "rate"}},
		Minutes:      []*float64{&share},
		Plans:        []api.AdvicePlan{{Text: "Move it.", Why: "A run moves it."}},
	}))
	want := [][]string{{"hot-shard; hot-chunk", "Share: 88\u202f%; Rate: unknown", "1", "Move it. (A run moves it.)"}}
	if diff := cmp.Diff(want, row); diff != "" {
		t.Error(diff)
	}
}
