package web

import (
	"net/http"
	"reflect"
	"slices"
	"strings"

	"shardboard/internal/api"
	"shardboard/internal/sheet"
	"shardboard/web/fleet"
	"shardboard/web/site"
)

// Question is something that scripts can read: an address of the API that answers with JSON. The
// command line makes its flags and columns from it.
type Question struct {
	Path    string // what follows the API's prefix, such as /collections/{ns}/chunks
	Summary string
	Params  []site.Param
	Answer  reflect.Type
	Item    reflect.Type // of a list; nil if the answer is none
	Past    bool         // can be asked of a past time
}

// Questions are all of them, in the order of the route table: those about a cluster and a server, and then those about
// several clusters, but for addresses that both have.
func Questions() []Question {
	var out []Question
	for _, rt := range slices.Concat(routes(), fleet.Routes) {
		path, ofAPI := strings.CutPrefix(rt.Pattern, api.Prefix)
		known := slices.ContainsFunc(out, func(q Question) bool { return q.Path == path })
		if !ofAPI || rt.Method != http.MethodGet || rt.Answer == nil || known {
			continue
		}
		answer := reflect.TypeOf(rt.Answer)
		out = append(out, Question{Path: path, Summary: rt.Summary, Params: rt.Params, Answer: answer, Item: sheet.ItemsOf(answer),
			Past: rt.Time == site.Past})
	}
	return out
}

// Param is the parameter with a name; ok is false if the question has none.
func (q Question) Param(name string) (p site.Param, ok bool) {
	i := slices.IndexFunc(q.Params, func(p site.Param) bool { return p.Name == name })
	if i < 0 {
		return p, false
	}
	return q.Params[i], true
}
