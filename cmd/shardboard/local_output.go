package main

import (
	"bufio"
	"reflect"

	"shardboard/internal/answer/trying"
	"shardboard/internal/sheet"
)

// writeItems writes the rows of an answer that is computed here, in the forms of get: as the API's JSON, as CSV, or as
// a table with columns that are chosen by their names; none: all.
func writeItems[T any](e *env, output string, items []T, columns ...string) error {
	of := sheet.ColumnsOf(reflect.TypeFor[T]())
	switch output {
	case "json":
		if items == nil {
			items = []T{}
		}
		return printJSON(e.stdout, struct {
			Items []T `json:"items"`
		}{items})
	case "csv":
		out := sheet.NewWriter(e.stdout, of.Names()...)
		for _, item := range items {
			for _, row := range of.Rows(reflect.ValueOf(item)) {
				out.Row(row...)
			}
		}
		return ended(out.Close())
	}
	people := of.People(columns...)
	table := textTable{w: e.stdout, out: e.out, header: people.Header(), numbers: people.Numbers()}
	var rows [][]string
	for _, item := range items {
		rows = append(rows, people.Rows(reflect.ValueOf(item))...)
	}
	return ended(table.write(rows))
}

// writeIDs writes ids alone, one in a line, as other programs read them.
func writeIDs(e *env, q trying.LocalityIDQuery) error {
	w := bufio.NewWriter(e.stdout)
	for _, id := range trying.MakeLocalityIDs(q) {
		_, _ = w.WriteString(id.ID + "\n") // Flush has the first error
	}
	return ended(w.Flush())
}
