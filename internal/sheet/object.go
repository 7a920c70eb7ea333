package sheet

import (
	"reflect"
	"strings"
)

// Fact is one value of an object, as people read it.
type Fact struct{ Name, Text string }

// Part is a list within an object, with a table of its own.
type Part struct {
	Name   string
	People People
	Items  reflect.Value // a slice
}

// Object takes an object of the API apart for people: its single values, and its lists, whole or without
// the lists in them. Fields of a nested object are "outer.inner".
func Object(v reflect.Value, whole bool) (facts []Fact, parts []Part) {
	var add func(prefix string, v reflect.Value)
	add = func(prefix string, v reflect.Value) {
		for i := range v.NumField() {
			f, field := v.Type().Field(i), v.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			kind, text := f.Type, ""
			if kind.Kind() == reflect.Pointer && field.IsNil() {
				text = Text(name, field)
			}
			if kind.Kind() == reflect.Pointer {
				kind = kind.Elem()
				field = field.Elem()
			}
			nested := kind.Kind() == reflect.Struct && !isMarshaler(kind) && !isFigure(kind)
			switch {
			case f.Anonymous && name == "":
				add(prefix, field)
			case !f.IsExported() || name == "" || name == "-":
			case nested && field.IsValid():
				add(prefix+name+".", field)
			case kind.Kind() == reflect.Slice && kind.Elem().Kind() == reflect.Struct && !isMarshaler(kind.Elem()):
				columns := ColumnsOf(kind.Elem())
				names := columns.PlainNames()
				if whole {
					names = nil
				}
				parts = append(parts, Part{Name: prefix + name, People: columns.People(names...), Items: field})
			default:
				if text == "" {
					text = Text(prefix+name, field)
				}
				facts = append(facts, Fact{prefix + name, text})
			}
		}
	}
	add("", v)
	return facts, parts
}

// Title is a name as a heading: "disk.used" is DISK USED.
func Title(name string) string { return title(name) }
