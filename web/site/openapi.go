package site

import (
	"encoding/json"
	"net/http"
	"strings"

	"shardboard/internal/api"
)

// OpenAPIDocument describes every route of the table as OpenAPI 3.1. It is
// made from the table that the router is made from, so neither can have a
// route that the other lacks; a test walks both all the same. root is what the public URL has before all paths.
func OpenAPIDocument(routes []Route, version, root string) []byte {
	if version == "" {
		version = "dev" // the format asks for one
	}
	paths := map[string]map[string]any{}
	schemas := NewSchemas()
	for _, rt := range routes {
		op := map[string]any{
			"summary": rt.Summary, "tags": []string{rt.Tag}, "operationId": operationID(rt), "x-policy": string(rt.Policy),
			"responses": responsesOf(rt, schemas),
		}
		if need, _ := rt.Policy.Needs(); need != "" {
			op["security"] = []any{map[string]any{"token": []string{}}, map[string]any{"session": []string{}}}
			op["x-role"] = string(need)
		}
		if len(rt.Params) > 0 || strings.Contains(rt.Pattern, "{") {
			op["parameters"] = paramsOf(rt)
		}
		if body := bodyOf(rt, schemas); body != nil {
			op["requestBody"] = body
		}
		if paths[rt.Pattern] == nil {
			paths[rt.Pattern] = map[string]any{}
		}
		paths[rt.Pattern][strings.ToLower(rt.Method)] = op
	}
	doc := map[string]any{
		"openapi": "3.1.0",
		"info": map[string]any{"title": "shardboard", "version": version,
			"description": "Where the data of a sharded MongoDB cluster is. Every GET answers HEAD too."},
		"paths":      paths,
		"components": map[string]any{"schemas": schemas.Named, "securitySchemes": securitySchemes()},
	}
	if root != "" {
		doc["servers"] = []any{map[string]any{"url": root}}
	}
	out, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		panic("web: the API description cannot be written: " + err.Error()) // made of maps and strings at start
	}
	return append(out, '\n')
}

// securitySchemes are the two proofs that a request can carry itself. A trusted
// proxy's header is not one that a client may send.
func securitySchemes() map[string]any {
	return map[string]any{
		"token": map[string]any{"type": "http", "scheme": "bearer", "description": "A token from /settings or POST tokens"},
		"session": map[string]any{
			"type":        "apiKey",
			"in":          "cookie",
			"name":        "shardboard",
			"description": "The browser's session; __Host-shardboard over https, __Secure-shardboard below a path",
		},
	}
}

func paramsOf(rt Route) []any {
	out := []any{}
	for _, p := range rt.Params {
		kind := p.Type
		if kind == "" {
			kind = "string"
		}
		out = append(out, map[string]any{
			"name": p.Name, "in": p.In, "required": p.In == "path", "description": p.Text, "schema": map[string]any{"type": kind},
		})
	}
	return out
}

// operationID is stable and unique: method and path in lowerCamel.
func operationID(rt Route) string {
	words := strings.FieldsFunc(strings.TrimPrefix(rt.Pattern, api.Prefix), func(r rune) bool { return strings.ContainsRune("/{}.", r) })
	id := strings.ToLower(rt.Method)
	if rt.Tag == "pages" {
		id += "Page"
	}
	for _, w := range words {
		id += strings.ToUpper(w[:1]) + w[1:]
	}
	return id
}

func serveOpenAPI(s *Site, w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_, err := w.Write(s.OpenAPI())
	return err
}
