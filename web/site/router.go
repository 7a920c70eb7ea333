package site

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-chi/chi/v5"

	"shardboard/internal/answer"
	"shardboard/internal/answer/param"
	"shardboard/internal/answer/writes"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
	"shardboard/web/guard"
)

// Router makes chi's tree from a route table. What there is and what there
// is not are the same to those who are not signed in.
func (s *Site) Router(table []Route) *chi.Mux {
	mux := chi.NewRouter()
	nowhere := guard.Rule{Policy: guard.PolicySelf}
	mux.NotFound(s.Guard.Guarded(nowhere, func(w http.ResponseWriter, r *http.Request) {
		if s.failCluster(w, r) || s.leadToClusters(w, r) {
			return
		}
		if to := strings.TrimRight(r.URL.Path, "/"); to != r.URL.Path && r.URL.RawPath == "" && safe(r.Method) && !guard.WantsJSON(r) &&
			mux.Match(chi.NewRouteContext(), http.MethodGet, to) { // /collections/ is meant as /collections
			SeeOther(w, (&url.URL{Path: s.Address(to), RawQuery: r.URL.RawQuery}).String())
			return
		}
		if !s.ofCluster() && strings.HasPrefix(r.URL.Path, api.Prefix+"/") {
			s.Fail(w, r, fault.New(fault.NotFound, "This server watches several clusters. Ask one of them, below /c/NAME%s, or by --cluster NAME; "+
				"%s/clusters lists them.", api.Prefix, api.Prefix))
			return
		}
		s.Fail(w, r, fault.New(fault.NotFound, "There is nothing at %s.", sanitize.Truncate(s.Asked(r), 200)))
	}))
	mux.MethodNotAllowed(s.Guard.Guarded(nowhere, func(w http.ResponseWriter, r *http.Request) {
		allowed := allowedMethods(mux, r)
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		s.Fail(w, r, &StatusError{Status: http.StatusMethodNotAllowed, Text: "This address answers " + strings.Join(allowed, " and ") + " only."})
	}))
	for _, rt := range table {
		h := s.Guard.Guarded(rt.rule(), s.Endpoint(rt))
		mux.Method(rt.Method, rt.Pattern, h)
		if rt.Method == http.MethodGet {
			mux.Method(http.MethodHead, rt.Pattern, h)
		}
	}
	return mux
}

// safe tells that a method only reads.
func safe(method string) bool { return method == http.MethodGet || method == http.MethodHead }

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

// Endpoint puts around a route's handler what all routes share: checked input,
// a deadline, a bounded body, an answer in memory before the first byte leaves,
// and one way to fail.
func (s *Site) Endpoint(rt Route) http.HandlerFunc {
	limit := cmp.Or(rt.MaxBody, answer.MaxBody)
	return func(w http.ResponseWriter, r *http.Request) {
		if err := checkInput(r); err != nil {
			s.Fail(w, r, err)
			return
		}
		if rt.Time == NowOnly && r.URL.Query().Has("at") { // who asks for a past time must not take this for it
			s.Fail(
				w,
				r,
				fault.New(
					fault.Invalid,
					"%s shows the present only: its history is not recorded. Leave %q out.",
					sanitize.Truncate(s.Asked(r), 200),
					"at",
				),
			)
			return
		}
		if rt.Writes {
			if _, err := writes.ParseWindow(r.URL.Query()); err != nil {
				s.Fail(w, r, err)
				return
			}
		}
		if rt.Stream {
			if err := rt.Handler(s, w, r); err != nil {
				s.Fail(w, r, err)
			}
			return
		}
		if ns := chi.URLParam(r, "ns"); ns != "" {
			s.viewed(r) // also when the browser has it already: somebody looks at it
		}
		r.Body = http.MaxBytesReader(w, r.Body, limit)
		if !rt.Tagged {
			out, err := s.Run(r.Context(), rt, r)
			s.finish(w, r, out, err, "")
			return
		}
		tag := s.stateTag(r, rt)
		if Matches(r.Header.Get("If-None-Match"), tag) {
			w.Header().Set("ETag", tag)
			w.WriteHeader(http.StatusNotModified)
			return
		}
		// When a topic has news, every browser that looks at it asks for the
		// same address at once: it is made once. The one who came first may
		// leave without taking the others' answer away.
		key := tag + " " + r.URL.RequestURI()
		if out := s.answers.get(key); out != nil {
			s.send(w, r, out, tag)
			return
		}
		shared, err, _ := s.flights.Do(key, func() (any, error) {
			out, err := s.Run(context.WithoutCancel(r.Context()), rt, r)
			if err == nil && rt.State != nil {
				s.answers.put(key, out)
			}
			return out, err
		})
		out, _ := shared.(*response)
		s.finish(w, r, out, err, tag)
	}
}

// Run makes a route's whole answer within the deadline.
func (s *Site) Run(ctx context.Context, rt Route, r *http.Request) (*response, error) {
	ctx, cancel := context.WithTimeout(ctx, answer.RequestWait)
	defer cancel()
	out := newAnswer()
	out.base = s.Deps.Place.Base
	if rt.Tag == TagPages && (rt.Time == Past || rt.takesLast()) {
		ctx = s.withLinks(ctx, r)
	}
	err := rt.Handler(s, out, r.WithContext(ctx))
	if to := out.header.Get("Location"); to != "" { // except for what Below adds
		out.header.Set("Location", out.base.Of(to))
	}
	return out, err
}

func (s *Site) finish(w http.ResponseWriter, r *http.Request, out *response, err error, tag string) {
	if err != nil {
		s.Fail(w, r, err)
		return
	}
	s.send(w, r, out, tag)
}

func (s *Site) viewed(r *http.Request) {
	if ns, err := PathText(r, "ns"); err == nil {
		s.Deps.Cluster.Watcher.Viewed(topology.Namespace(ns))
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
		if _, err := param.Checked("A parameter's name", name); err != nil {
			return err
		}
		for _, v := range vs {
			if _, err := param.Checked(sanitize.Truncate(name, 40), v); err != nil {
				return err
			}
		}
	}
	params := chi.RouteContext(r.Context()).URLParams
	for _, name := range params.Keys {
		v, err := PathText(r, name)
		if err != nil {
			return err
		}
		if len(v) > answer.MaxPathParam {
			return fault.New(fault.Invalid, "The %s in this address is longer than %d bytes.", name, answer.MaxPathParam)
		}
	}
	return nil
}
