package site

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/api"
)

// schemas turns the wire types into JSON Schema by looking at them, so that a
// new field is described the moment it exists.
type schemas struct {
	Named map[string]any
}

// NewSchemas begins without any named schema.
func NewSchemas() *schemas { return &schemas{Named: map[string]any{}} }

func (s *schemas) Of(v any) map[string]any { return s.forType(reflect.TypeOf(v)) }

func (s *schemas) forType(t reflect.Type) map[string]any {
	switch t {
	case reflect.TypeFor[time.Time]():
		return map[string]any{"type": "string", "format": "date-time"}
	case reflect.TypeFor[json.RawMessage]():
		return map[string]any{"description": "canonical Extended JSON, or null"}
	case reflect.TypeFor[api.PlanArgs]():
		s.Named["PlanArgs"] = s.planArgs()
		return reference("PlanArgs")
	case reflect.TypeFor[api.Sentence]():
		return map[string]any{"type": "string"}
	case reflect.TypeFor[api.Cursor]():
		return map[string]any{"type": []string{"string", "null"}}
	case reflect.TypeFor[api.Figure]():
		s.Named["Figure"] = figureSchema()
		return reference("Figure")
	}
	switch t.Kind() {
	case reflect.Pointer:
		return map[string]any{"oneOf": []any{s.forType(t.Elem()), map[string]any{"type": "null"}}}
	case reflect.Slice:
		return map[string]any{"type": "array", "items": s.forType(t.Elem())}
	case reflect.Map:
		if t.Elem().Kind() == reflect.Interface {
			return map[string]any{"type": "object"}
		}
		return map[string]any{"type": "object", "additionalProperties": s.forType(t.Elem())}
	case reflect.Struct:
		return s.object(t)
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.String:
		return map[string]any{"type": "string"}
	}
	return map[string]any{"type": "integer"}
}

func reference(name string) map[string]any {
	return map[string]any{"$ref": "#/components/schemas/" + name}
}

// object names a struct's schema once and refers to it from then on.
func (s *schemas) object(t reflect.Type) map[string]any {
	name := schemaName(t)
	if _, known := s.Named[name]; known {
		return reference(name)
	}
	properties, required := map[string]any{}, []string{}
	s.Named[name] = nil // stops a type that holds itself
	s.fields(t, properties, &required)
	s.Named[name] = map[string]any{"type": "object", "properties": properties, "required": required}
	return reference(name)
}

// fields adds a struct's fields; those of embedded structs are its own on the
// wire.
func (s *schemas) fields(t reflect.Type, properties map[string]any, required *[]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			s.fields(f.Type, properties, required)
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		properties[name] = s.forType(f.Type)
		if !strings.Contains(options, "omit") {
			*required = append(*required, name)
		}
	}
}

// schemaName is the Go name; List[…/api.Chunk] becomes ChunkList. A list with
// more for its page alone has the name of the list.
func schemaName(t reflect.Type) string {
	if t == reflect.TypeFor[api.Projects]() {
		return schemaName(reflect.TypeFor[api.List[api.Project]]())
	}
	base, arg, generic := strings.Cut(t.Name(), "[")
	if !generic {
		return base
	}
	arg = strings.TrimSuffix(arg, "]")
	return arg[strings.LastIndexByte(arg, '.')+1:] + base
}

// figureSchema is written by hand because a figure marshals itself.
func figureSchema() map[string]any {
	known := map[string]any{"type": "object", "required": []string{"value", "exact", "method", "at"}, "properties": map[string]any{
		"value":     map[string]any{"type": "integer", "format": "int64"},
		"exact":     map[string]any{"type": "boolean"},
		"plusMinus": map[string]any{"type": "integer", "format": "int64"},
		"method":    map[string]any{"type": "string"},
		"at":        map[string]any{"type": []string{"string", "null"}, "format": "date-time"},
	}}
	unknown := map[string]any{"type": "object", "required": []string{"value", "reason"}, "properties": map[string]any{
		"value": map[string]any{"type": "null"}, "reason": map[string]any{"type": "string"},
	}}
	return map[string]any{"oneOf": []any{known, unknown}, "description": "a number with its truth, or null with the reason"}
}

// planArgs describes the arguments of changes, each with the kinds that take it.
func (s *schemas) planArgs() map[string]any {
	properties := map[string]any{}
	for _, x := range actions.Arguments() {
		p := map[string]any{"type": "string"}
		switch x.Type {
		case actions.TypeKey, actions.TypePattern:
			p = s.forType(reflect.TypeFor[json.RawMessage]())
		case actions.TypeBounds:
			p = map[string]any{"type": []string{"array", "object"}}
		case actions.TypeChunks:
			p = s.forType(reflect.TypeFor[[]string]())
		case actions.TypeProjects:
			p = s.forType(reflect.TypeFor[[]string]())
		case actions.TypePlans:
			p = s.forType(reflect.TypeFor[[]api.PlanItem]())
		case actions.TypeCuts:
			p = s.forType(reflect.TypeFor[[]api.PlanCut]())
		case actions.TypeZones:
			p = s.forType(reflect.TypeFor[[]api.PlanZone]())
		case actions.TypeCount:
			p = map[string]any{"type": "integer", "minimum": x.Least, "maximum": x.Most}
		case actions.TypeBool, actions.TypeSwitch:
			p = map[string]any{"type": "boolean"}
		case actions.TypeChoice:
			var values []string
			for _, c := range x.Choices {
				values = append(values, c.Value)
			}
			p["enum"] = values
		}
		var kinds []string
		for _, k := range actions.Descriptions() {
			if slices.ContainsFunc(k.Arguments, func(of actions.Argument) bool { return of.Name == x.Name }) {
				kinds = append(kinds, string(k.Kind))
			}
		}
		p["description"] = x.Help + " Of " + strings.Join(kinds, ", ") + "."
		properties[x.Name] = p
	}
	return map[string]any{"type": "object", "properties": properties, "required": []string{}}
}
