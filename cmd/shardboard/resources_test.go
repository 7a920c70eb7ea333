package main

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"shardboard/internal/api"
	"shardboard/internal/app"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/sheet"
)

// TestEveryQuestionOfTheAPICanBeAskedByGet compares the table of resources with the route table, both ways.
func TestEveryQuestionOfTheAPICanBeAskedByGet(t *testing.T) {
	shown := map[string]bool{}
	for _, r := range resources() {
		for _, path := range append(r.lists(), r.part, r.one) {
			if path != "" {
				shown[path] = true
			}
		}
	}
	for _, q := range app.Questions() {
		switch reason, out := leftOut[q.Path]; {
		case shown[q.Path] && out:
			t.Errorf("%s is shown, and left out because %s", q.Path, reason)
		case !shown[q.Path] && reason == "":
			t.Errorf("%s has no get, and leftOut gives no reason", q.Path)
		}
		delete(shown, q.Path)
	}
	for path := range shown {
		t.Errorf("the API has no %s", path)
	}
}

func TestTablesHaveColumnsThatExist(t *testing.T) {
	for _, r := range resources() {
		if r.list == "" {
			continue
		}
		q := query{resource: r, question: question(r.lists()[0])}
		names := sheet.ColumnsOf(q.item()).PeopleNames()
		for _, column := range r.columns {
			if !slices.Contains(names, column) {
				t.Errorf("get %s: no column %s in %v", r.name, column, names)
			}
		}
		if len(r.columns) == 0 && len(names) > 12 {
			t.Errorf("get %s: %d columns; choose some", r.name, len(names))
		}
	}
}

// Each number that is called a size in bytes is shown as one.
func TestSizesHaveTheirUnit(t *testing.T) {
	n := int64(3 << 20)
	figure := api.Figure{Value: &n, Exact: true}
	for _, r := range resources() {
		if r.list == "" {
			continue
		}
		for _, name := range sheet.ColumnsOf((query{resource: r, question: question(r.lists()[0])}).item()).PeopleNames() {
			last := strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])
			size := strings.HasSuffix(last, "bytes") || strings.Contains(name, "disk.")
			if text := sheet.Text(name, reflect.ValueOf(figure)); strings.HasSuffix(text, "MiB") != size {
				t.Errorf("%s of %s is shown as %s", name, r.name, text)
			}
		}
	}
}

func TestTablesHaveNoJSON(t *testing.T) {
	advice := api.Advice{Evidence: make([]api.AdviceFigure, 6), Commands: make([]api.AdviceCommand, 2)}
	for _, row := range sheet.ColumnsOf(reflect.TypeFor[api.Advice]()).People().Rows(reflect.ValueOf(advice)) {
		for _, cell := range row {
			if strings.ContainsAny(cell, "{[") {
				t.Errorf("a cell is %s", cell)
			}
		}
	}
}

func TestColumnsOfEachKindOfHeatExist(t *testing.T) {
	heat := sheet.ColumnsOf(reflect.TypeFor[api.Heat]())
	for _, r := range resources() {
		for by, columns := range r.columnsBy {
			if !slices.Contains(r.by, by) || len(heat.People(columns...).Header()) != len(columns) {
				t.Errorf("%s by %s: %v", r.name, by, columns)
			}
		}
	}
}

func TestUnknownIsNeverZero(t *testing.T) {
	var chunk api.Chunk
	must.Do(t, json.Unmarshal([]byte(`{"bytes":{"value":null,"reason":"notLoaded"},"documents":{"value":9,"exact":false,"plusMinus":2},"writesPerSecond":null}`), &chunk))
	people := sheet.ColumnsOf(reflect.TypeFor[api.Chunk]()).People("bytes", "documents", "writesPerSecond", "since", "zone")
	got := people.Rows(reflect.ValueOf(chunk))[0]
	if want := []string{"unknown", "≈ 9 ± 2", "unknown", "–", "–"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	rate := 3.0
	heat := sheet.ColumnsOf(reflect.TypeFor[api.Heat]()).People("writesPerSecond")
	if got := heat.Rows(reflect.ValueOf(api.Heat{WritesPerSecond: 20, PlusMinus: &rate}))[0][0]; got != "≈ 20.0 ± 3.00" {
		t.Errorf("an estimated rate is %q", got)
	}
	expect.Equal(t, heat.Rows(reflect.ValueOf(api.Heat{WritesPerSecond: 20, AtLeast: true}))[0][0], "≥ 20.0",
		"a lower bound")
}
