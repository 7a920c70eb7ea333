package site

import (
	"cmp"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"shardboard/internal/fault"
)

// Change is something that people do by a form of a page and scripts by JSON, with one
// handler, so that both do the same. The embedded route says what its faces share; Status,
// Body and Answer are those of scripts. In is what is sent, as JSON or as a form with
// fields of the same names; struct{} if nothing is.
type Change[In, Done any] struct {
	Route
	Do   func(*Site, *http.Request, In) (Done, error)
	Form string // the form's address, if not that of scripts
	For  string // its summary for scripts, if not that of the form
	// Write answers a script; nil: Done is the answer, with status 200.
	Write func(*Site, http.ResponseWriter, *http.Request, Done) error
	// Leads is the page that the form leads to, without its base. Shown, in its place, writes a page of what was done.
	Leads func(*http.Request, Done) string
	Shown func(*Site, http.ResponseWriter, *http.Request, In, Done) error
	// Refused shows the page of the form again, and why; nil: the reason is a page of its own.
	Refused func(*Site, http.ResponseWriter, *http.Request, In, error) error
}

func (c Change[In, Done]) routes() []Route {
	form, data := c.Route, c.Route
	form.Pattern = cmp.Or(c.Form, c.Pattern)
	form.Params = slices.DeleteFunc(slices.Clone(c.Params), func(p Param) bool {
		return p.In == "path" && !strings.Contains(form.Pattern, "{"+p.Name+"}")
	})
	form.Body, form.BodyOptional, form.Answer, form.Status, form.Handler = nil, false, nil, nil, c.byForm
	if c.Shown != nil {
		form.Status = []int{http.StatusOK}
	}
	data.Summary, data.Handler = cmp.Or(c.For, c.Summary), c.byScript
	if c.takes() {
		data.Body = *new(In)
	}
	if c.Answer == nil {
		data.Answer = *new(Done)
	}
	return []Route{Form(form), Post(data)}
}

// takes tells whether anything is sent besides the address.
func (c Change[In, Done]) takes() bool { return reflect.TypeFor[In]() != reflect.TypeFor[struct{}]() }

func (c Change[In, Done]) byForm(s *Site, w http.ResponseWriter, r *http.Request) error {
	if c.takes() && !c.BodyOptional || r.Header.Get("Content-Type") != "" {
		if err := ParseForm(r); err != nil {
			return err
		}
	}
	in, err := formOf[In](r.PostForm)
	if err != nil {
		return err
	}
	done, err := c.Do(s, r, in)
	switch {
	case err != nil && c.Refused != nil:
		return c.Refused(s, w, r, in, err)
	case err != nil:
		return err
	case c.Shown != nil:
		return c.Shown(s, w, r, in, done)
	}
	SeeOther(w, c.Leads(r, done))
	return nil
}

func (c Change[In, Done]) byScript(s *Site, w http.ResponseWriter, r *http.Request) error {
	var in In
	if c.takes() {
		if err := ReadJSON(r, &in); err != nil {
			return err
		}
	}
	done, err := c.Do(s, r, in)
	switch {
	case err != nil:
		return err
	case c.Write != nil:
		return c.Write(s, w, r, done)
	}
	return WriteJSON(w, http.StatusOK, done)
}

// formOf reads a form into the texts, numbers and switches of a JSON type, by their JSON names. No form has what is in
// its other fields.
func formOf[In any](form url.Values) (in In, err error) {
	v := reflect.ValueOf(&in).Elem()
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		text, field := form.Get(name), v.Field(i)
		if text == "" {
			continue
		}
		switch into := field.Addr().Interface().(type) {
		case *string:
			*into = text
		case **string:
			*into = &text
		case *int:
			if *into, err = strconv.Atoi(text); err != nil {
				return in, fault.Wrap(fault.Invalid, err, "%s is not a number.", name)
			}
		case *bool:
			if *into, err = strconv.ParseBool(text); err != nil {
				return in, fault.Wrap(fault.Invalid, err, "%s is neither true nor false.", name)
			}
		}
	}
	return in, nil
}
