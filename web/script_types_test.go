package web_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/web/webtest"
)

const scriptTypes = "../static/js/api.d.ts"

// readByScripts are the answers of the JSON API that scripts read.
var readByScripts = []string{"ClusterMap", "Found", "HeatMap", "MapChunk", "MapTile"}

// The type checker knows the answers that scripts read as they are: the file follows from the description of the API.
func TestTypesOfScriptsFollowTheDescription(t *testing.T) {
	var doc struct {
		Components struct{ Schemas map[string]schema }
	}
	must.Do(t, json.Unmarshal(webtest.New(t).Do("GET", "/api/openapi.json").Body.Bytes(), &doc))
	want := declarations(t, doc.Components.Schemas)
	if os.Getenv("SHARDBOARD_GOLDEN") != "" {
		must.Do(t, os.WriteFile(scriptTypes, []byte(want), 0o644))
	}
	got := must.Get(os.ReadFile(scriptTypes))
	expect.Equal(t, string(got), want,
		"%s is not what the description says (SHARDBOARD_GOLDEN=1 writes it anew)", scriptTypes)
}

// schema is as much of JSON Schema as the description uses.
type schema struct {
	Ref                  string `json:"$ref"`
	Type                 any    // a name, or several
	Items                *schema
	Properties           map[string]schema
	Required             []string
	OneOf                []schema
	AdditionalProperties *schema
}

// declarations are the answers and the types they refer to, by name.
func declarations(t *testing.T, all map[string]schema) string {
	text := map[string]string{}
	todo := slices.Clone(readByScripts)
	for len(todo) > 0 {
		name := todo[0]
		todo = todo[1:]
		if _, done := text[name]; done {
			continue
		}
		s, known := all[name]
		must.That(t, known, "there is no %s in the description", name)
		var refers []string
		if s.Properties == nil {
			text[name] = fmt.Sprintf("export type %s = %s;\n", name, s.typescript(&refers))
		} else {
			text[name] = fmt.Sprintf("export interface %s %s\n", name, s.members(&refers, "\n  ", "\n"))
		}
		todo = append(todo, refers...)
	}
	var out strings.Builder
	out.WriteString("// The answers of the JSON API that scripts read, for the type checker. Do not edit: written by\n" +
		"// TestTypesOfScriptsFollowTheDescription from the description of the API.\n")
	for _, name := range slices.Sorted(maps.Keys(text)) {
		out.WriteString("\n" + text[name])
	}
	return out.String()
}

// typescript is the type that a schema describes. The names it refers to are added to refers.
func (s schema) typescript(refers *[]string) string {
	switch {
	case s.Ref != "":
		name := s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]
		*refers = append(*refers, name)
		return name
	case s.OneOf != nil:
		var parts []string
		for _, part := range s.OneOf {
			parts = append(parts, part.typescript(refers))
		}
		return strings.Join(parts, " | ")
	case s.Properties != nil:
		return s.members(refers, " ", " ")
	}
	switch named := s.Type.(type) {
	case []any:
		var parts []string
		for _, name := range named {
			parts = append(parts, schema{Type: name}.typescript(refers))
		}
		return strings.Join(parts, " | ")
	case string:
		switch named {
		case "integer":
			return "number"
		case "array":
			of := s.Items.typescript(refers)
			if strings.Contains(of, " ") {
				of = "(" + of + ")"
			}
			return of + "[]"
		case "object":
			if s.AdditionalProperties != nil {
				return "Record<string, " + s.AdditionalProperties.typescript(refers) + ">"
			}
			return "Record<string, unknown>"
		}
		return named
	}
	return "unknown" // a value of a document
}

// members are the fields of an object, each after the text between.
func (s schema) members(refers *[]string, between, end string) string {
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		optional := "?"
		if slices.Contains(s.Required, name) {
			optional = ""
		}
		fmt.Fprintf(&out, "%s%s%s: %s;", between, name, optional, s.Properties[name].typescript(refers))
	}
	return "{" + out.String() + end + "}"
}
