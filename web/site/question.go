package site

import (
	"net/http"
	"reflect"
	"shardboard/internal/sheet"
	"slices"
)

// Question is a question of the site with the faces of its answer, which therefore cannot
// differ: a page for people, JSON for scripts at the same address behind the API's prefix,
// and CSV if the answer is a list. The embedded route says what its faces share.
type Question[A any] struct {
	Route
	Ask  func(*Site, *http.Request) (A, error)                 // computes the answer
	Page func(*Site, http.ResponseWriter, *http.Request) error // writes the page; nil: it has none
	JSON string                                                // its address for scripts, if not that of the page
	For  string                                                // its summary for scripts, if not that of the page
	All  bool                                                  // JSON and CSV have the server's own collections too, always
	// Parameters of the page alone, and of JSON and CSV alone.
	OfPage, OfData []Param
}

// Routed is what a table of routes is made of: a Route or a Question.
type Routed interface{ routes() []Route }

func (rt Route) routes() []Route { return []Route{rt} }

// Table is the route table of a subject.
func Table(of ...Routed) []Route {
	var out []Route
	for _, one := range of {
		out = append(out, one.routes()...)
	}
	return out
}

// Asked is a question that only scripts ask.
func Asked[A any](rt Route, ask func(*Site, *http.Request) (A, error)) Question[A] {
	return Question[A]{Route: rt, Ask: ask}
}

func (q Question[A]) routes() []Route {
	var out []Route
	item := sheet.ItemsOf(reflect.TypeFor[A]())
	var writeCSV handler // nil: it is no list
	if item != nil {
		writeCSV = q.writeCSV(sheet.ColumnsOf(item))
	}
	writeJSON := func(s *Site, w http.ResponseWriter, r *http.Request) error { return WriteAnswer(s, w, r, q.Ask) }
	if q.Page != nil {
		page := q.Route
		page.Handler, page.Params = InFormat(q.Page, writeJSON, writeCSV), slices.Concat(q.Params, q.OfPage, paramsFormat)
		if page.Types = []string{MediaHTML, MediaJSON}; writeCSV != nil {
			page.Types = append(page.Types, MediaCSV)
		}
		if q.State != nil { // what surrounds a page is made of more
			page.Tagged, page.State = false, nil
		}
		out = append(out, Page(page))
	}
	data := q.Route
	data.Topic, data.Topics, data.Internal = Topic{}, nil, q.Internal && !q.All
	data.Params = slices.Concat(q.Params, q.OfData, paramsFormat)
	if q.For != "" {
		data.Summary = q.For
	}
	data.Handler = InFormat(writeJSON, writeJSON, writeCSV)
	if item != nil {
		if q.Page != nil {
			file := data
			file.Pattern, file.Summary, file.Types = q.Pattern+".csv", data.Summary+", as CSV", []string{MediaCSV}
			file.Handler = writeCSV
			out = append(out, Page(file))
		}
		data.Types = []string{MediaJSON, MediaCSV}
		data.Handler = InFormat(func(s *Site, w http.ResponseWriter, r *http.Request) error {
			if WantsCSV(r) {
				return writeCSV(s, w, r)
			}
			return writeJSON(s, w, r)
		}, writeJSON, writeCSV)
	}
	if q.JSON != "" {
		data.Pattern = q.JSON
	}
	var answered A
	data.Answer = answered
	return append(out, Get(data))
}

// WriteAnswer writes the answer to a question as JSON.
func WriteAnswer[A any](s *Site, w http.ResponseWriter, r *http.Request, ask func(*Site, *http.Request) (A, error)) error {
	a, err := ask(s, r)
	if err != nil {
		return err
	}
	return WriteJSON(w, http.StatusOK, a)
}
