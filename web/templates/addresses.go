package templates

import (
	"reflect"
	"sync"

	"shardboard/internal/api"
)

// Addressed is an answer with its addresses completed by a base. Answers know nothing of a base, and others may have
// the same answer, so what holds an address is copied. Pages complete theirs as they are drawn (To).
func (b Base) Addressed(v any) any {
	if v == nil || b.Root+b.Prefix == "" {
		return v
	}
	return complete(reflect.ValueOf(v), b).Interface()
}

var addressType = reflect.TypeFor[api.Address]()

func complete(v reflect.Value, b Base) reflect.Value {
	t := v.Type()
	if !holdsAddress(t) {
		return v
	}
	out := reflect.New(t).Elem()
	out.Set(v)
	switch {
	case t == addressType:
		out.SetString(b.Whole(v.String()))
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			if t.Field(i).IsExported() {
				out.Field(i).Set(complete(v.Field(i), b))
			}
		}
	case v.IsNil():
	case t.Kind() == reflect.Pointer:
		out.Set(reflect.New(t.Elem()))
		out.Elem().Set(complete(v.Elem(), b))
	case t.Kind() == reflect.Slice:
		out.Set(reflect.MakeSlice(t, v.Len(), v.Len()))
		for i := range v.Len() {
			out.Index(i).Set(complete(v.Index(i), b))
		}
	}
	return out
}

var withAddress sync.Map // by type: whether its values have addresses

// holdsAddress tells whether values of a type have addresses in fields, or behind pointers and slices.
func holdsAddress(t reflect.Type) bool {
	known, ok := withAddress.Load(t)
	if !ok {
		known = leadsToAddress(t, map[reflect.Type]bool{})
		withAddress.Store(t, known)
	}
	return known.(bool)
}

// leadsToAddress is holdsAddress without what was seen on the way, because types may hold themselves.
func leadsToAddress(t reflect.Type, seen map[reflect.Type]bool) bool {
	if t == addressType || seen[t] {
		return t == addressType
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		return leadsToAddress(t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			if t.Field(i).IsExported() && leadsToAddress(t.Field(i).Type, seen) {
				return true
			}
		}
	}
	return false
}
