package sheet

import (
	"reflect"
	"strings"

	"shardboard/internal/api"
)

// ItemsOf is the type of the items of a list: of the slice that is "items" in its JSON.
// It is nil if the type is not a list of objects.
func ItemsOf(list reflect.Type) reflect.Type {
	if f, ok := itemsField(list); ok {
		return f.Type.Elem()
	}
	return nil
}

func itemsField(list reflect.Type) (field reflect.StructField, ok bool) {
	if list == nil || list.Kind() != reflect.Struct {
		return field, false
	}
	for _, f := range reflect.VisibleFields(list) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "items" && f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Struct {
			return f, true
		}
	}
	return field, false
}

// List writes the items of a page of a list, and returns how many lines that are and the
// cursor of the next page; "" after the last, and of lists that have no pages.
func (s Writer) List(columns Columns, list any) (lines int, next api.Cursor) {
	v := reflect.ValueOf(list)
	f, ok := itemsField(v.Type())
	if !ok {
		return 0, ""
	}
	items := v.FieldByIndex(f.Index)
	for i := range items.Len() {
		for _, row := range columns.Rows(items.Index(i)) {
			s.Row(row...)
			lines++
		}
	}
	if f := v.FieldByName("Next"); f.IsValid() {
		next, _ = f.Interface().(api.Cursor)
	}
	return lines, next
}
