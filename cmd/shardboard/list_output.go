package main

import (
	"encoding/json"
	"io"
	"reflect"
	"strings"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/sheet"
)

// lines writes a list as its pages come.
type lines interface {
	most() int // rows that are wanted; 0 is all
	page(items []json.RawMessage) error
	end(last listPage) error
}

// lines are those of the output that was chosen.
func (q query) lines(e *env, w io.Writer) lines {
	columns := sheet.ColumnsOf(q.item())
	switch q.output {
	case "json":
		return &jsonLines{w: w, field: q.rowsField(), limit: q.limit}
	case "csv":
		return &csvLines{out: sheet.NewWriter(w, columns.Names()...), columns: columns, item: q.item(), limit: q.limit}
	}
	limit := q.limit
	if limit == 0 && !q.all && e.out.tty {
		limit = api.DefaultLimit
	}
	names := q.resource.columns
	if own := q.resource.columnsBy[q.path[strings.LastIndex(q.path, "/")+1:]]; own != nil {
		names = own
	}
	if q.output == "wide" || q.question.Path == q.resource.one {
		names = nil
	}
	people := columns.People(names...)
	return &tableLines{query: q, env: e, people: people, item: q.item(), limit: limit,
		table: textTable{w: w, out: e.out, header: headersIn(q.words, people.Header()), numbers: people.Numbers(), whole: q.output == "wide"}}
}

// item is the type of the list's items.
func (q query) item() reflect.Type {
	if q.question.Item != nil {
		return q.question.Item
	}
	for _, f := range reflect.VisibleFields(q.question.Answer) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name == q.resource.rows {
			return f.Type.Elem()
		}
	}
	panic("shardboard: " + q.resource.name + " has no field " + q.resource.rows) // a test reads all of them
}

// decoded is an item with its type.
func decoded(item json.RawMessage, of reflect.Type) (reflect.Value, error) {
	v := reflect.New(of)
	err := json.Unmarshal(item, v.Interface())
	return v.Elem(), fault.Wrap(fault.Unavailable, err, "The answer has an unknown form: the server may be of another version.")
}

// csvLines writes CSV with the columns of the API.
type csvLines struct {
	out     sheet.Writer
	columns sheet.Columns
	item    reflect.Type
	limit   int
}

func (c *csvLines) most() int { return c.limit }

func (c *csvLines) page(items []json.RawMessage) error {
	for _, item := range items {
		v, err := decoded(item, c.item)
		if err != nil {
			return err
		}
		for _, row := range c.columns.Rows(v) {
			c.out.Row(row...)
		}
	}
	return c.out.Flush()
}

func (c *csvLines) end(listPage) error { return c.out.Flush() }

// tableLines writes a table for people.
type tableLines struct {
	query  query
	env    *env
	people sheet.People
	item   reflect.Type
	table  textTable
	limit  int
	shown  int
}

func (t *tableLines) most() int { return t.limit }

func (t *tableLines) page(items []json.RawMessage) error {
	var rows [][]string
	for _, item := range items {
		v, err := decoded(item, t.item)
		if err != nil {
			return err
		}
		rows = append(rows, t.people.Rows(v)...)
	}
	t.shown += len(items)
	return t.table.write(rows)
}

// end says what the rows do not.
func (t *tableLines) end(last listPage) error {
	if t.shown == 0 {
		if err := t.table.write(nil); err != nil {
			return err
		}
	}
	if w, ok := t.table.w.(interface{ Flush() error }); ok { // the remarks follow the rows
		if err := w.Flush(); err != nil {
			return err
		}
	}
	for _, text := range t.remarks(last, time.Now()) {
		t.env.note("%s", t.query.words.In(text))
	}
	return nil
}
