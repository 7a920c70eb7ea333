package site

import (
	"net/http"
	"strconv"
	"strings"

	"shardboard/internal/auth"
	"shardboard/web/templates"
)

// TourCookie keeps the step of the tour, or that it was skipped, in this browser. It says nothing of
// a person.
const TourCookie = "shardboard_tour"

// TourSkipped is the cookie's value after the tour was skipped or has ended.
const TourSkipped = "skip"

// tourOf is the tour on a page. Only a demo has one; who has not chosen yet sees its first step on the
// overview alone.
func (s *Site) tourOf(r *http.Request, who auth.Principal, page string) templates.Tour {
	t := templates.Tour{Offered: s.Deps.Demo && who.Method == auth.ByDemo, From: "/"}
	if !t.Offered || page == "tour" {
		return t
	}
	if r.Method == http.MethodGet {
		t.From = r.URL.RequestURI()
	}
	switch state := tourState(r); {
	case state == "":
		t.On = page == "overview"
	case state != TourSkipped:
		n, err := strconv.Atoi(state)
		t.On, t.Step = err == nil && n >= 0 && n < len(templates.TourSteps()), n
	}
	return t.At(page, strings.HasPrefix(r.URL.Path, "/runs/"))
}

// tourState is what the browser keeps of the tour; "" for nothing.
func tourState(r *http.Request) string {
	c, err := r.Cookie(TourCookie)
	if err != nil {
		return ""
	}
	return c.Value
}
