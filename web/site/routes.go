package site

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"github.com/go-chi/chi/v5"

	"shardboard/internal/answer"
	"shardboard/internal/answer/param"
	"shardboard/internal/answer/writes"
	"shardboard/internal/api"
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

	Time     Time // whether it can be asked of a past time, by ?at=
	Internal bool // leaves the server's own collections out unless ?internal=1 asks for them
	Writes   bool // speaks of writes, of a time that ?window= chooses
	Measured bool // Tagged, and shows what is measured and counted of chunks while the table stays
	// State is what a Tagged answer is made of besides its address, where that is less than
	// the whole table; "" if it is made of all. Such answers are kept until it changes, and
	// sent to everybody who sees as much.
	State   func(*Site, *http.Request, answer.View) string
	MaxBody int64   // bytes; 0 is what every other route takes
	Quiet   bool    // asked for all the time: logged for debugging alone
	Topic   Topic   // the live region of a page; most have none
	Topics  []Topic // further regions of it

	BodyOptional bool // the body may be left out
}

// Time says what ?at= does at a route.
type Time int

const (
	Timeless Time = iota // it is not about the cluster at a time, and does not look at ?at=
	Past                 // shows the state of that time
	NowOnly              // belongs to the same questions, but no past is kept of it: refused
)

// shown tells whether a route has a page for people to read.
func (rt Route) shown() bool {
	return rt.Method == http.MethodGet && rt.Tag == TagPages && rt.Policy != guard.PolicyOpen && rt.Types[0] == MediaHTML
}

// Complete adds to each route the parameters that follow from its other fields, where it does not name them itself.
func Complete(table []Route) []Route {
	for i, rt := range table {
		add := func(p Param) {
			if !slices.ContainsFunc(rt.Params, func(o Param) bool { return o.Name == p.Name }) {
				table[i].Params = append(slices.Clip(table[i].Params), p)
			}
		}
		if rt.Internal {
			add(InternalQuery())
		}
		if rt.Writes {
			add(described(writes.Window(new(time.Duration))))
		}
		if rt.Time == Past {
			add(Query("at", "a past time, RFC 3339 or milliseconds since 1970; default now"))
		}
	}
	return table
}

func (rt Route) rule() guard.Rule {
	return guard.Rule{
		Method:  rt.Method,
		Pattern: rt.Pattern,
		Policy:  rt.Policy,
		Unasked: rt.Policy == guard.PolicyOpen && rt.Tag == TagOperations,
	}
}

// Addresses are those of a site: what answers at each, and where links lead.
type Addresses struct {
	place  PlaceDeps
	Mux    *chi.Mux
	routes map[string]Route // by method and pattern
	topics map[string]Topic
}

func newAddresses(place PlaceDeps, table []Route) *Addresses {
	a := &Addresses{place: place, routes: make(map[string]Route, len(table)), topics: Topics(table)}
	for _, rt := range table {
		a.routes[rt.Method+" "+rt.Pattern] = rt
	}
	return a
}

// RuleAt is what the guard has to know of the route at an address, and the id in it.
func (s *Addresses) RuleAt(method, path string) (guard.Rule, string) {
	match := chi.NewRouteContext()
	rt := s.routes[method+" "+s.Mux.Find(match, method, path)]
	return rt.rule(), match.URLParam("id")
}

// routeAt is the route that answers an address; ok tells whether there is one.
func (s *Addresses) routeAt(method, path string) (rt Route, ok bool) {
	rt, ok = s.routes[method+" "+s.Mux.Find(chi.NewRouteContext(), method, path)]
	return rt, ok
}

// Tags group the routes in the API's description.
const (
	TagPages      = "pages"
	TagAPI        = "api"
	TagOperations = "operations"
)

// Media types of what is answered and of what is sent.
const (
	MediaHTML = "text/html"
	MediaCSV  = "text/csv"
	MediaJSON = "application/json"
	MediaText = "text/plain"
	// MediaMarkdown is for tickets and wikis.
	MediaMarkdown = "text/markdown"
	MediaForm     = "application/x-www-form-urlencoded"
)

// Parameters that several subjects have in their paths.
var (
	ParamNS  = InPath("ns", "database.collection, path-escaped once")
	ParamRef = InPath("ref", "a chunk's reference as the list of chunks gives it, or its part after the dot")
)

// Takes are the parameters that a query declares.
func Takes[Q any, P interface {
	*Q
	Parameters() param.List
}]() []Param {
	return Described(P(new(Q)).Parameters())
}

// Described are declared parameters as the description of a route has them.
func Described(list param.List) []Param {
	var out []Param
	for _, p := range list {
		if p.Name != "" {
			out = append(out, described(p))
		}
	}
	return out
}

func described(p param.Param) Param {
	return Param{Name: p.Name, In: "query", Type: p.Type, Text: p.Text}
}

// Query is a text parameter of the query.
func Query(name, text string) Param { return Param{Name: name, In: "query", Text: text} }

// InPath is a parameter in the path of a route's pattern, which has it in braces.
func InPath(name, text string) Param { return Param{Name: name, In: "path", Text: text} }

// Number is a whole number in the query.
func Number(name, text string) Param {
	return Param{Name: name, In: "query", Type: "integer", Text: text}
}

// Page is a route of a page for people. Its answer is HTML and its policy to read,
// where the literal does not say otherwise; so with the next three.
func Page(rt Route) Route {
	return filled(rt, Route{Method: http.MethodGet, Policy: guard.PolicyRead, Tag: TagPages, Types: []string{MediaHTML}})
}

// Form takes a form of a page.
func Form(rt Route) Route {
	return filled(rt, Route{Method: http.MethodPost, Tag: TagPages, Types: []string{MediaHTML}})
}

// Get answers scripts with JSON; its pattern is what follows the API's prefix.
func Get(rt Route) Route {
	rt.Pattern = api.Prefix + rt.Pattern
	return filled(rt, Route{Method: http.MethodGet, Policy: guard.PolicyRead, Tag: TagAPI})
}

// Post does something for scripts.
func Post(rt Route) Route {
	rt.Pattern = api.Prefix + rt.Pattern
	return filled(rt, Route{Method: http.MethodPost, Tag: TagAPI})
}

func filled(rt, usual Route) Route {
	rt.Method, rt.Policy, rt.Tag = usual.Method, cmp.Or(rt.Policy, usual.Policy), usual.Tag
	if rt.Types == nil {
		rt.Types = usual.Types
	}
	return rt
}

// InternalQuery is the switch that a route has whose Internal is set.
func InternalQuery() Param { return described(answer.ShowInternal(new(bool))) }

// Paged adds the parameters of a list that is answered a page at a time.
func Paged(params ...Param) []Param {
	return append(params, Query("cursor", "next of the page before"), Number("limit", "1 to 1000, default 100"))
}
