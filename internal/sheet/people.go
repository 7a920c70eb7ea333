package sheet

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/format"
)

// People are the columns of a list as people read them in a terminal: a figure with its unit and how
// exact it is in one cell, "unknown" where a number is not known, and "–" where there is nothing.
type People struct {
	columns Columns
	chosen  []column
	element bool // a row for each element of the field with rows
}

// Unknown is the text of a number that is not known; None that of what is not there.
const (
	Unknown = "unknown"
	None    = "–"
)

// PeopleNames are the names of all columns for people.
func (c Columns) PeopleNames() []string {
	var out []string
	for _, x := range c.all {
		if x.shown {
			out = append(out, x.name)
		}
	}
	return out
}

// PlainNames are those of PeopleNames without lists of objects, which are long.
func (c Columns) PlainNames() []string {
	var out []string
	for _, x := range c.all {
		nested := (x.kind.Kind() == reflect.Slice || x.kind.Kind() == reflect.Map) && x.kind != reflect.TypeFor[[]string]() &&
			x.kind != reflect.TypeFor[[]api.Sentence]() && !isMarshaler(x.kind)
		if x.shown && !nested {
			out = append(out, x.name)
		}
	}
	return out
}

// People chooses columns by their names, in that order; of none it takes all. An item has one row
// unless a column of the field with rows is chosen. Names that do not exist are left out.
func (c Columns) People(names ...string) People {
	p := People{columns: c}
	if len(names) == 0 {
		names = c.PeopleNames()
	}
	for _, name := range names {
		i := slices.IndexFunc(c.all, func(x column) bool { return x.shown && x.name == name })
		if i >= 0 {
			p.chosen = append(p.chosen, c.all[i])
			p.element = p.element || c.all[i].element
		}
	}
	return p
}

// Header is a title for each column: "disk.used" is DISK USED, "shards.shard" is SHARD.
func (p People) Header() []string {
	out := make([]string, len(p.chosen))
	for i, x := range p.chosen {
		out[i] = title(x.name)
	}
	return out
}

func title(name string) string {
	var words []string
	for part := range strings.SplitSeq(name, ".") {
		start := 0
		for i := 1; i <= len(part); i++ {
			if i == len(part) || part[i] >= 'A' && part[i] <= 'Z' {
				words = append(words, strings.ToUpper(part[start:i]))
				start = i
			}
		}
	}
	if len(words) > 1 && words[0] == words[1]+"S" {
		words = words[1:]
	}
	return strings.ReplaceAll(strings.Join(words, " "), "PER SECOND", "/S")
}

// Numbers tells for each column whether it is one of numbers.
func (p People) Numbers() []bool {
	out := make([]bool, len(p.chosen))
	for i, x := range p.chosen {
		kind := x.kind.Kind()
		out[i] = kind == reflect.Int || kind == reflect.Int64 || kind == reflect.Float64 || kind == reflect.Uint64 || isFigure(x.kind)
	}
	return out
}

// Rows are the rows of one item. Cells can have any characters of the cluster's names.
func (p People) Rows(item reflect.Value) [][]string {
	elements := []reflect.Value{{}}
	if p.element {
		elements = p.columns.elements(item)
	}
	out := make([][]string, len(elements))
	for i, element := range elements {
		for _, x := range p.chosen {
			text, parent := Text(x.name, x.of(item, element)), x.parent(item, element)
			if text == None && x.number && parent.IsValid() {
				text = Unknown
			}
			out[i] = append(out[i], marked(x.name, text, parent))
		}
	}
	return out
}

// marked adds to a number how exact it is, where the fields beside it tell: of rates and shares of heat.
func marked(name, text string, parent reflect.Value) string {
	last := name[strings.LastIndexByte(name, '.')+1:]
	if !slices.Contains([]string{"writesPerSecond", "here", "difference"}, last) || text == Unknown || text == None {
		return text
	}
	field := func(name string) (v reflect.Value) {
		if parent.IsValid() && parent.Kind() == reflect.Struct {
			v = parent.FieldByName(name)
		}
		return v
	}
	if v := field("PlusMinus"); v.IsValid() && v.Kind() == reflect.Pointer && !v.IsNil() {
		text += " ± " + Text(name, v)
	}
	if v := field("AtLeast"); v.IsValid() && v.Kind() == reflect.Bool && v.Bool() {
		return "≥ " + text
	}
	if v := field("Exact"); v.IsValid() && v.Kind() == reflect.Bool && !v.Bool() {
		return "≈ " + text
	}
	return text
}

func isFigure(t reflect.Type) bool { return t == reflect.TypeFor[api.Figure]() || isOneFigure(t) }

// isOneFigure tells the figures that have several columns in files.
func isOneFigure(t reflect.Type) bool {
	return t == reflect.TypeFor[api.MatrixFigure]() || t == reflect.TypeFor[api.MatrixRate]() || t == reflect.TypeFor[api.RowShare]() ||
		t == reflect.TypeFor[api.Version]()
}

// inCell are elements of a list that say in a few words what they are.
type inCell interface{ InCell() string }

// Text is a value as people read it; its unit follows from its name. An invalid value is None.
func Text(name string, v reflect.Value) string {
	if v.IsValid() && v.Kind() == reflect.Pointer {
		kind := v.Type().Elem().Kind()
		if v = v.Elem(); !v.IsValid() && (kind == reflect.Float64 || kind == reflect.Int64) {
			return Unknown
		}
	}
	if !v.IsValid() {
		return None
	}
	switch x := v.Interface().(type) {
	case api.Figure:
		return figureText(name, x)
	case api.MatrixFigure:
		return between(x.Value, x.Low, x.High, x.Exact, x.AtLeast, func(n int64) string { return amount(name, float64(n)) })
	case api.MatrixRate:
		return between(x.Value, x.Low, x.High, x.Exact, x.AtLeast, format.PerSecond)
	case api.RowShare:
		return between(x.Low, x.Low, x.High, x.Exact, false, format.Share)
	case api.Version:
		return format.Version(x.Major, x.Minor)
	case time.Time:
		if x.IsZero() {
			return None
		}
		return format.Stamp(x)
	case bool:
		if x {
			return "yes"
		}
		return "no"
	case json.RawMessage:
		return jsonText(x)
	case []string:
		if len(x) == 0 {
			return None
		}
		return strings.Join(x, ", ")
	}
	switch v.Kind() {
	case reflect.Slice, reflect.Map: // what has no line of its own; files have all of it
		switch {
		case v.Len() == 0:
			return None
		case v.Kind() == reflect.Slice && v.Type().Elem().Implements(reflect.TypeFor[inCell]()):
			texts := make([]string, v.Len())
			for i := range texts {
				texts[i] = v.Index(i).Interface().(inCell).InCell()
			}
			return strings.Join(texts, "; ")
		}
		return format.Count(int64(v.Len()))
	case reflect.Int, reflect.Int32, reflect.Int64:
		return amount(name, float64(v.Int()))
	case reflect.Uint32, reflect.Uint64:
		return amount(name, float64(v.Uint()))
	case reflect.Float64:
		return amount(name, v.Float())
	}
	text := cellText(v)
	switch {
	case text == "":
		return None
	case name == "severity" || strings.HasSuffix(name, ".severity"):
		return severityText(text)
	}
	return text
}

// severityText is a severity as pages call it.
func severityText(code string) string {
	switch code {
	case "warn":
		return "warning"
	case "info":
		return "note"
	}
	return code
}

// jsonText is a key, or why it is not shown.
func jsonText(text json.RawMessage) string {
	var hidden struct {
		Value  *json.RawMessage `json:"value"`
		Reason string           `json:"reason"`
	}
	switch {
	case len(text) == 0 || string(text) == "null":
		return None
	case json.Unmarshal(text, &hidden) == nil && hidden.Value == nil && hidden.Reason != "" && len(text) < 80:
		return "hidden"
	}
	return wholeNumber.ReplaceAllString(string(text), "$1")
}

// wholeNumber is a 32-bit number in canonical Extended JSON, which means the same without its type.
var wholeNumber = regexp.MustCompile(`\{"\$numberInt":"(-?\d+)"\}`)

func figureText(name string, f api.Figure) string {
	if f.Value == nil {
		return Unknown
	}
	text := amount(name, float64(*f.Value))
	if !f.Exact {
		text = "≈ " + text
	}
	if f.PlusMinus > 0 {
		text += " ± " + amount(name, float64(f.PlusMinus))
	}
	return text
}

// between is a value that may lie anywhere from low to high.
func between[N int64 | float64](value, low, high *N, exact, atLeast bool, text func(N) string) string {
	switch {
	case value == nil:
		return Unknown
	case atLeast:
		return "≥ " + text(*value)
	case exact:
		return text(*value)
	case low == nil || high == nil || text(*low) == text(*high):
		return "≈ " + text(*value)
	}
	return "≈ " + text(*low) + "–" + text(*high)
}

// amount is a number with its unit.
func amount(name string, n float64) string {
	last := strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])
	has := func(ends ...string) bool {
		return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(last, end) })
	}
	switch {
	case strings.HasSuffix(name, "disk.used"), strings.HasSuffix(name, "disk.total"), has("bytes"):
		return format.Bytes(int64(n))
	case has("persecond"):
		return format.PerSecond(n)
	case has("share"):
		return format.Share(n)
	case has("seconds"):
		return format.Span(time.Duration(n * float64(time.Second)))
	case has("millis"):
		return format.Count(int64(n)) + " ms"
	case n == float64(int64(n)):
		return format.Count(int64(n))
	}
	return format.PerSecond(n)
}
