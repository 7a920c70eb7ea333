package main

import (
	"cmp"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/app"
	"shardboard/internal/fault"
)

// getCommands is a pointer to a struct with a command for each resource. Its flags are the parameters
// of the API's questions.
func getCommands() any {
	var fields []reflect.StructField
	for i, r := range resources() {
		tag := fmt.Sprintf(`cmd:"" name:%q help:%q`, r.name, r.help())
		if r.alias != "" {
			tag += fmt.Sprintf(` aliases:%q`, r.alias)
		}
		fields = append(fields,
			reflect.StructField{Name: fmt.Sprintf("R%d", i), Type: reflect.TypeFor[getResource](), Tag: reflect.StructTag(tag)})
	}
	out := reflect.New(reflect.StructOf(fields))
	for i, r := range resources() {
		out.Elem().Field(i).Set(reflect.ValueOf(getResource{resource: r, Asked: kong.Plugins{askedFlags(r)}}))
	}
	return out.Interface()
}

// help is the summary of the list, else of the object, as a sentence.
func (r resource) help() string {
	text := question(cmp.Or(r.lists()[0], r.one)).Summary
	if len(r.by) > 0 {
		text = "Where writes go: by " + strings.Join(r.by, ", ")
	}
	if r.list != "" && r.one != "" {
		text = strings.TrimRight(text, ".?") + "; or one of them"
	}
	if strings.HasSuffix(text, "?") {
		return text
	}
	return text + "."
}

// questions are those of the lists and of one object.
func (r resource) questions() []app.Question {
	var out []app.Question
	if r.list != "" {
		out = append(out, question(r.lists()[0]))
	}
	for _, path := range []string{r.part, r.one} {
		if path != "" {
			out = append(out, question(path))
		}
	}
	return out
}

// places are the names of the positional arguments, and how many of them have to be given.
func (r resource) places() (names []string, needed int) {
	names = inPath(cmp.Or(r.one, r.part, r.list))
	switch {
	case len(r.by) > 0: // the first value is the default
		return inPath(r.list), 0
	case r.list != "":
		return names, len(inPath(r.list))
	}
	return names, len(names)
}

// address is the one of the resource that takes so many names; "" if none does.
func (r resource) address(names int) string {
	for _, path := range []string{r.list, r.part, r.one} {
		if path != "" && len(inPath(path)) == names {
			return path
		}
	}
	return ""
}

// ownFlags are parameters that all resources have by flags of their own.
var ownFlags = []string{"limit", "at", api.FormatParam}

// askedFlags is a pointer to a struct with the positional arguments and the filters of a resource, all
// as text: the server reads and checks them.
func askedFlags(r resource) any {
	var fields []reflect.StructField
	add := func(kind reflect.Type, tag string) {
		fields = append(fields, reflect.StructField{Name: fmt.Sprintf("F%d", len(fields)), Type: kind, Tag: reflect.StructTag(tag)})
	}
	names, needed := r.places()
	for i, name := range names {
		if r.flag != "" {
			add(reflect.TypeFor[string](), fmt.Sprintf(`name:%q group:"Filters" required:"" placeholder:%q help:%q`,
				r.flag, strings.ToUpper(r.flag), r.placeHelp(name)))
			continue
		}
		tag := fmt.Sprintf(`arg:"" name:%q help:%q`, name, r.placeHelp(name))
		if i >= needed {
			tag += ` optional:""`
		}
		if name == "by" {
			tag += fmt.Sprintf(` enum:%q default:%q`, strings.Join(r.by, ","), r.by[0])
		}
		add(reflect.TypeFor[string](), tag)
	}
	seen := map[string]bool{}
	for _, q := range r.questions() {
		for _, p := range q.Params {
			if p.In != "query" || seen[p.Name] || slices.Contains(ownFlags, p.Name) || slices.Contains(names, p.Name) {
				continue
			}
			seen[p.Name] = true
			kind, tag := reflect.TypeFor[string](), fmt.Sprintf(`name:%q group:"Filters" help:%q`, p.Name, sentence(p.Text))
			if isSwitch(p.Text) {
				kind = reflect.TypeFor[bool]()
			} else {
				tag += fmt.Sprintf(` placeholder:%q`, strings.ToUpper(p.Name))
			}
			add(kind, tag)
		}
		if q.Past && !seen["at"] {
			seen["at"] = true
			add(reflect.TypeFor[string](),
				`name:"at" group:"Filters" placeholder:"TIME" help:"Show a past time: RFC 3339, milliseconds since 1970, or how long ago, such as 90m."`)
		}
	}
	if seen["from"] && seen["to"] {
		add(reflect.TypeFor[string](),
			`name:"since" group:"Filters" placeholder:"TIME" help:"Only what came later: RFC 3339, or how long ago, such as 90m or 24h."`)
	}
	return reflect.New(reflect.StructOf(fields)).Interface()
}

// placeHelp describes a positional argument.
func (r resource) placeHelp(name string) string {
	for _, q := range r.questions() {
		if p, ok := q.Param(name); ok {
			text := strings.TrimSuffix(sentence(strings.ReplaceAll(p.Text, ", path-escaped once", "")), ".")
			if strings.HasPrefix(q.Path, "/projects/{id}") {
				text += ", or its exact name"
			}
			return text + "."
		}
	}
	return "What to list: " + strings.Join(r.by, ", ") + "."
}

// isSwitch tells a parameter whose only value is 1.
func isSwitch(text string) bool {
	return strings.HasPrefix(text, "1 ") || strings.HasPrefix(text, "1:")
}

func sentence(text string) string {
	if isSwitch(text) {
		text = strings.TrimLeft(text, "1: ")
	}
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + strings.TrimSuffix(text[1:], ".") + "."
}

// asked are the positional arguments and the filters that were given.
func asked(r resource, flags kong.Plugins, now time.Time) (places []string, filters url.Values, err error) {
	filters = url.Values{}
	names, _ := r.places()
	for _, of := range flags {
		v := reflect.ValueOf(of).Elem()
		for i := range v.NumField() {
			name := v.Type().Field(i).Tag.Get("name")
			switch value := v.Field(i).Interface().(type) {
			case bool:
				if value {
					filters.Set(name, "1")
				}
			case string:
				if value == "" {
					continue
				}
				if i < len(names) {
					places = append(places, value)
					continue
				}
				if name == "at" || name == "since" || name == "from" || name == "to" {
					value = pastTime(value, now)
				}
				if name == "since" {
					if filters.Has("from") {
						return nil, nil, fault.New(fault.Invalid, "Give --since or --from, not both: they mean the same.")
					}
					name = "from"
				}
				filters.Set(name, value)
			}
		}
	}
	return places, filters, nil
}

// pastTime makes a time of how long ago it was; other texts stay.
func pastTime(text string, now time.Time) string {
	if ago, err := time.ParseDuration(text); err == nil && ago > 0 {
		return now.Add(-ago).UTC().Format(time.RFC3339)
	}
	return text
}

// fill puts values into the parts of an address that are chosen.
func fill(path string, values []string) string {
	for i, name := range inPath(path) {
		path = strings.Replace(path, "{"+name+"}", answer.PathPart(values[i]), 1)
	}
	return api.Prefix + path
}
