package site

import (
	"net/http"

	"shardboard/web/guard"
)

// Param is one parameter of a route, for the API description.
type Param struct {
	Name, In string // In is "path" or "query"
	Type     string // JSON type; "" is string
	Text     string
}

// Route is one line of the site: everything that is known of an address, in
// one place. The router, the API description and the tests are made from it.
type Route struct {
	Method  string // GET includes HEAD
	Pattern string // chi's form, which is OpenAPI's too
	Policy  guard.Policy
	Tag     string // one of the tags below
	Summary string
	Params  []Param
	Body    any      // zero value of the request's JSON type; nil if none
	Takes   []string // media types of a body besides JSON
	Status  []int    // of answers when nothing is wrong, the usual one first; nil: what follows from the rest
	Answer  any      // zero value of the JSON answer's type; nil if it is not JSON
	Types   []string // media types of the answer, the default first; nil is JSON alone
	Tagged  bool     // has an ETag: a pure function of table, directory, pins and address
	Stream  bool     // writes to the connection itself: no buffer, no compression, no deadline
	Handler func(*Site, http.ResponseWriter, *http.Request) error

	BodyOptional bool // the body may be left out
}

// Tags group the routes in the API's description.
const (
	TagPages      = "pages"
	TagAPI        = "api"
	TagOperations = "operations"
)

const (
	MediaHTML = "text/html"
	MediaCSV  = "text/csv"
	MediaJSON = "application/json"
	MediaText = "text/plain"
	MediaForm = "application/x-www-form-urlencoded"
)

func Query(name, text string) Param { return Param{Name: name, In: "query", Text: text} }

func InPath(name, text string) Param { return Param{Name: name, In: "path", Text: text} }

func Number(name, text string) Param {
	return Param{Name: name, In: "query", Type: "integer", Text: text}
}

func Page(pattern, summary string) Route {
	return Route{Method: "GET", Pattern: pattern, Policy: guard.PolicyRead, Tag: TagPages, Summary: summary, Types: []string{MediaHTML}, Tagged: true}
}

// fresh is a page that is made of more than table and directory.
func Fresh(r Route) Route {
	r.Tagged = false
	return r
}

// form takes a form of a page.
func Form(pattern string, p guard.Policy, summary string, h func(*Site, http.ResponseWriter, *http.Request) error, types ...string) Route {
	return Route{Method: "POST", Pattern: pattern, Policy: p, Tag: TagPages, Summary: summary, Types: types, Handler: h}
}

func Paged(params ...Param) []Param {
	return append(params, Query("cursor", "next of the page before"), Number("limit", "1 to 1000, default 100"))
}
