package web

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

const (
	requestWait  = 20 * time.Second // for a whole answer, reads included
	maxPathParam = 512              // bytes; MongoDB's own names end at 255
	maxBody      = 64 << 10
	maxLocate    = 256 << 10 // the body of POST locate
)

// router makes chi's tree from a route table. What there is and what there
// is not are the same to those who are not signed in.
func (s *Site) router(table []Route) *chi.Mux {
	mux := chi.NewRouter()
	nowhere := Route{Policy: PolicySelf, Tag: "none"}
	mux.NotFound(s.guarded(nowhere, func(w http.ResponseWriter, r *http.Request) {
		s.fail(w, r, fault.New(fault.NotFound, "There is nothing at %s.", sanitize.Truncate(r.URL.EscapedPath(), 200)))
	}))
	mux.MethodNotAllowed(s.guarded(nowhere, func(w http.ResponseWriter, r *http.Request) {
		allowed := allowedMethods(mux, r)
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		s.fail(w, r, &statusError{status: http.StatusMethodNotAllowed, text: "This address answers " + strings.Join(allowed, " and ") + " only."})
	}))
	for _, rt := range table {
		h := s.guarded(rt, s.endpoint(rt))
		mux.Method(rt.Method, rt.Pattern, h)
		if rt.Method == http.MethodGet {
			mux.Method(http.MethodHead, rt.Pattern, h)
		}
	}
	return mux
}

// allowedMethods asks the tree: chi does not tell a handler of one's own.
func allowedMethods(mux *chi.Mux, r *http.Request) []string {
	path := r.URL.RawPath
	if path == "" {
		path = r.URL.Path
	}
	var out []string
	for _, m := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
		if mux.Match(chi.NewRouteContext(), m, path) {
			out = append(out, m)
		}
	}
	return out
}

// endpoint puts around a route's handler what all routes share: checked input,
// a deadline, a bounded body, an answer in memory before the first byte leaves,
// and one way to fail.
func (s *Site) endpoint(rt Route) http.HandlerFunc {
	limit := int64(maxBody)
	if rt.Method == http.MethodPost && (strings.HasSuffix(rt.Pattern, "/locate") || rt.Pattern == "/locate/bulk") {
		limit = maxLocate
	}
	return func(w http.ResponseWriter, r *http.Request) {
		if err := checkInput(r); err != nil {
			s.fail(w, r, err)
			return
		}
		if rt.Stream {
			if err := rt.handler(s, w, r); err != nil {
				s.fail(w, r, err)
			}
			return
		}
		if ns := chi.URLParam(r, "ns"); ns != "" {
			s.viewed(r) // also when the browser has it already: somebody looks at it
		}
		r.Body = http.MaxBytesReader(w, r.Body, limit)
		if !rt.Tagged {
			out, err := s.run(r.Context(), rt, r)
			s.finish(w, r, out, err, "")
			return
		}
		tag := s.stateTag(r, rt)
		if matches(r.Header.Get("If-None-Match"), tag) {
			w.Header().Set("ETag", tag)
			w.WriteHeader(http.StatusNotModified)
			return
		}
		// When a topic has news, every browser that looks at it asks for the
		// same address at once: it is made once. The one who came first may
		// leave without taking the others' answer away.
		shared, err, _ := s.flights.Do(tag+" "+r.URL.RequestURI(), func() (any, error) {
			return s.run(context.WithoutCancel(r.Context()), rt, r)
		})
		out, _ := shared.(*answer)
		s.finish(w, r, out, err, tag)
	}
}

// run makes a route's whole answer within the deadline.
func (s *Site) run(ctx context.Context, rt Route, r *http.Request) (*answer, error) {
	ctx, cancel := context.WithTimeout(ctx, requestWait)
	defer cancel()
	out := newAnswer()
	err := rt.handler(s, out, r.WithContext(ctx))
	if err == nil && rt.Tag == tagPages && isTimed(rt.Pattern) {
		s.carryInto(r, out)
	}
	return out, err
}

func (s *Site) finish(w http.ResponseWriter, r *http.Request, out *answer, err error, tag string) {
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.send(w, r, out, tag)
}

func (s *Site) viewed(r *http.Request) {
	if ns, err := pathText(r, "ns"); err == nil {
		s.deps.Watcher.Viewed(topology.Namespace(ns))
	}
}

// checkInput refuses what no address of ours can mean, before any handler
// sees it: badly escaped queries, and values that are too long, not UTF-8 or
// hold NUL.
func checkInput(r *http.Request) error {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "The query of this address is not escaped correctly.")
	}
	for name, vs := range values {
		if _, err := checkText("A parameter's name", name); err != nil {
			return err
		}
		for _, v := range vs {
			if _, err := checkText(sanitize.Truncate(name, 40), v); err != nil {
				return err
			}
		}
	}
	params := chi.RouteContext(r.Context()).URLParams
	for _, name := range params.Keys {
		v, err := pathText(r, name)
		if err != nil {
			return err
		}
		if len(v) > maxPathParam {
			return fault.New(fault.Invalid, "The %s in this address is longer than %d bytes.", name, maxPathParam)
		}
	}
	return nil
}
