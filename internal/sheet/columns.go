package sheet

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"shardboard/internal/api"
)

// Columns describe the rows of a list in CSV. They follow from the type of its items: a
// column for each JSON field, with the field's name; fields of a nested object are
// "outer.inner". A figure has a second column ".exact" that tells measured from estimated,
// and is empty while it is unknown. Lists of names are joined with spaces, other nested
// values are JSON. A field with the tag `csv:"rows"` is a list whose elements have a row
// each, and the item's other cells are repeated; one with `csv:"-"` is left out.
type Columns struct {
	all  []column // of both files and People
	rows pick     // the field with rows; nil if there is none
}

// column is a column of files, of people, or of both.
type column struct {
	name        string
	kind        reflect.Type
	of          pick
	parent      pick                       // the struct that has it
	text        func(reflect.Value) string // as a cell of a file
	number      bool                       // and null if it is not known
	element     bool                       // of the field with rows
	file, shown bool
}

// Names are the header.
func (c Columns) Names() []string {
	var out []string
	for _, x := range c.all {
		if x.file {
			out = append(out, x.name)
		}
	}
	return out
}

// Rows are the lines of one item, which has the type that the columns were made of.
func (c Columns) Rows(item reflect.Value) [][]string {
	elements := c.elements(item)
	out := make([][]string, len(elements))
	for i, element := range elements {
		for _, x := range c.all {
			if !x.file {
				continue
			}
			cell := ""
			if v := x.of(item, element); v.IsValid() {
				cell = x.text(v)
			}
			out[i] = append(out[i], cell)
		}
	}
	return out
}

// elements are those of the field with rows. There is always one, which is invalid if the item has none.
func (c Columns) elements(item reflect.Value) []reflect.Value {
	if c.rows != nil {
		if list := c.rows(item, reflect.Value{}); list.IsValid() && list.Len() > 0 {
			out := make([]reflect.Value, list.Len())
			for i := range out {
				out[i] = list.Index(i)
			}
			return out
		}
	}
	return []reflect.Value{{}}
}

// ColumnsOf are the columns of items of a type.
func ColumnsOf(item reflect.Type) Columns {
	var c Columns
	c.add("", item, func(item, _ reflect.Value) reflect.Value { return item }, column{file: true, shown: true})
	return c
}

// pick finds a value in an item or its element; invalid where a pointer on the way is nil.
type pick func(item, element reflect.Value) reflect.Value

// add makes columns of the fields of a struct; like says for whom.
func (c *Columns) add(prefix string, t reflect.Type, of pick, like column) {
	for i := range t.NumField() {
		f := t.Field(i)
		field := func(item, element reflect.Value) reflect.Value {
			v := of(item, element)
			if !v.IsValid() {
				return v
			}
			if v = v.Field(i); v.Kind() == reflect.Pointer {
				return v.Elem() // invalid when it is nil
			}
			return v
		}
		like := like
		like.parent = of
		kind := f.Type
		like.number = false
		if kind.Kind() == reflect.Pointer {
			kind = kind.Elem()
			like.number = (kind.Kind() == reflect.Float64 || kind.Kind() == reflect.Int64) && f.Name != "PlusMinus"
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			c.add(prefix, kind, field, like)
		case !f.IsExported() || name == "" || name == "-" || f.Tag.Get("csv") == "-":
		case f.Tag.Get("csv") == "rows":
			c.rows = field
			inner := like
			inner.element = true
			c.add(prefix+name+".", kind.Elem(), func(_, element reflect.Value) reflect.Value { return element }, inner)
		case kind == reflect.TypeFor[api.Figure]():
			c.column(prefix+name, kind, field, cellText, like)
			like := like
			like.shown = false
			c.column(prefix+name+".exact", kind, field, func(v reflect.Value) string {
				figure := v.Interface().(api.Figure)
				if figure.Value == nil {
					return ""
				}
				return strconv.FormatBool(figure.Exact)
			}, like)
		case kind.Kind() == reflect.Struct && !isMarshaler(kind):
			inner := like
			if isOneFigure(kind) {
				inner.shown = false
				shown := like
				shown.file = false
				c.column(prefix+name, kind, field, cellText, shown)
			}
			c.add(prefix+name+".", kind, field, inner)
		default:
			c.column(prefix+name, kind, field, cellText, like)
		}
	}
}

func (c *Columns) column(name string, kind reflect.Type, of pick, text func(reflect.Value) string, like column) {
	like.name, like.kind, like.of, like.text = name, kind, of, text
	c.all = append(c.all, like)
}

func isMarshaler(t reflect.Type) bool {
	return t.Implements(reflect.TypeFor[json.Marshaler]()) || reflect.PointerTo(t).Implements(reflect.TypeFor[json.Marshaler]())
}

// cellText is a value as a cell.
func cellText(v reflect.Value) string {
	switch x := v.Interface().(type) {
	case api.Figure:
		return Figure(x)
	case time.Time:
		if x.IsZero() {
			return ""
		}
		return x.UTC().Truncate(time.Millisecond).Format(time.RFC3339Nano)
	case json.RawMessage:
		if string(x) == "null" {
			return ""
		}
		return string(x)
	case []string:
		return strings.Join(x, " ")
	case []api.Sentence:
		var texts []string
		for _, s := range x {
			texts = append(texts, s.String())
		}
		return strings.Join(texts, " ")
	}
	switch v.Kind() {
	case reflect.String, reflect.Bool, reflect.Int, reflect.Int64, reflect.Uint64, reflect.Uint32, reflect.Int32:
		if !isMarshaler(v.Type()) {
			return fmt.Sprint(v.Interface())
		}
	case reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'f', -1, 64)
	case reflect.Slice, reflect.Map:
		if v.Len() == 0 {
			return ""
		}
	}
	text, err := json.Marshal(v.Interface())
	if err != nil {
		return ""
	}
	var plain string
	if json.Unmarshal(text, &plain) == nil { // a type that writes itself as a string, or as null
		return plain
	}
	return string(text)
}
