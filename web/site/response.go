package site

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/topology"
	"shardboard/web/templates"
)

// answer keeps what a handler writes until it is whole, so that a failure
// halfway is a clean error and never half a page behind a 200.
type response struct {
	base   templates.Base // of addresses in JSON
	header http.Header
	status int
	body   bytes.Buffer
	once   sync.Once
	small  []byte // compressed, when the first caller asked for it
}

func newAnswer() *response { return &response{header: http.Header{}, status: http.StatusOK} }

func (a *response) Header() http.Header { return a.header }

func (a *response) WriteHeader(status int) { a.status = status }

func (a *response) Write(b []byte) (int, error) { return a.body.Write(b) }

// gzipFrom is the size below which compressing costs more than it saves.
const gzipFrom = 1024

// send lets a finished answer go: validators, compression, length. Answers
// are never stored by caches: they are about a cluster as it is now. The ETag
// serves the page's own script, which re-reads an address when told to.
func (s *Site) send(w http.ResponseWriter, r *http.Request, a *response, tag string) {
	h := w.Header()
	for k, vs := range a.header {
		h[k] = slices.Clone(vs) // an answer may go to several callers
	}
	h.Set("Cache-Control", "no-store")
	h.Add("Vary", "Accept, Accept-Encoding")
	h.Del("ETag")
	if tag != "" && a.status == http.StatusOK {
		h.Set("ETag", tag)
	}
	if a.status == http.StatusNotModified || a.status == http.StatusNoContent {
		h.Del("Content-Type")
		w.WriteHeader(a.status)
		return
	}
	body := a.body.Bytes()
	if len(body) >= gzipFrom && acceptsGzip(r) {
		a.once.Do(func() { a.small = s.compress(body) })
		body = a.small
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(a.status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the browser is gone; nobody is left to tell
	}
}

// compress is ours because an answer may go to many callers and is compressed once;
// handlers such as gzhttp compress each response.
func (s *Site) compress(body []byte) []byte {
	var out bytes.Buffer
	z, ok := s.gzips.Get().(*gzip.Writer)
	if !ok {
		z = gzip.NewWriter(&out)
	}
	defer s.gzips.Put(z)
	z.Reset(&out)
	_, _ = z.Write(body) // a bytes.Buffer does not fail
	_ = z.Close()
	return out.Bytes()
}

// acceptsGzip reads Accept-Encoding; "gzip;q=0" means no.
func acceptsGzip(r *http.Request) bool {
	for part := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, params, _ := strings.Cut(part, ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			q := strings.ReplaceAll(params, " ", "")
			return !slices.Contains([]string{"q=0", "q=0.0", "q=0.00", "q=0.000"}, q)
		}
	}
	return false
}

// stateTag is the validator of an address: everything that a Tagged answer is
// made of. Weak, because compression changes the bytes. Data going stale with
// no poll in between changes a page too, hence that letter; the numbers of
// tables, directories and pins begin anew with each process, hence its birth. A page shows who looks
// at it and offers what they may, so it is made for each of them apart; JSON is
// the same for everybody who sees as much.
func (s *Site) stateTag(r *http.Request, rt Route) string {
	v := s.ViewFor(r)
	kind := "h"
	if WantsCSV(r) {
		kind = "c"
	}
	if v.Table.Stale(topology.PartRouting, v.Now) {
		kind += "s"
	}
	address := fnv.New64a()
	_, _ = address.Write([]byte(r.URL.RequestURI())) // a hash does not fail
	h := s.HiddenFrom(auth.From(r.Context()))
	_, _ = fmt.Fprintf(address, " %v", h)
	if rt.Tag == TagPages {
		who := auth.From(r.Context())
		_, _ = fmt.Fprintf(address, " %q %q %q %q", who.ID, who.Name, who.Role, who.Method)
		_, _ = fmt.Fprintf(address, " %s %q %q", v.Data.Hold, s.banners(who, v), tourState(r))
	}
	// Sizes of chunks are measured, and their writes counted, while the table stays.
	if rt.Measured {
		if v.Sizes != nil {
			_, _ = fmt.Fprintf(address, " %d", v.Sizes.Seq())
		}
	}
	if (rt.Measured || rt.Writes) && s.Deps.Measured.Heat != nil {
		spaces := s.Deps.Measured.Heat.Counted(v.Table)
		if raw, err := PathText(r, "ns"); err == nil {
			spaces = []topology.Namespace{topology.Namespace(raw)}
		}
		for _, ns := range spaces {
			_, _ = fmt.Fprintf(address, " %d", s.writesAt(ns))
		}
	}
	if rt.State != nil {
		if state := rt.State(s, r, v); state != "" {
			return fmt.Sprintf(`W/"%s-%x-%s-%x-%s"`, etagSafe(s.Deps.Version), s.Born, etagSafe(state), address.Sum64(), kind)
		}
	}
	return fmt.Sprintf(
		`W/"%s-%x-%x-%x-%x-%x-%s"`,
		etagSafe(s.Deps.Version),
		s.Born,
		v.Table.Seq,
		v.Dir.Seq(),
		v.PinsVersion,
		address.Sum64(),
		kind,
	)
}

// etagSafe keeps a version's letters that an ETag may hold.
func etagSafe(s string) string {
	return strings.Map(func(r rune) rune {
		if r > 0x20 && r < 0x7f && r != '"' && r != ',' {
			return r
		}
		return '_'
	}, s)
}

// Matches compares weakly, as If-None-Match asks for.
func Matches(header, tag string) bool {
	for part := range strings.SplitSeq(header, ",") {
		if part = strings.TrimSpace(part); strings.TrimPrefix(part, "W/") == strings.TrimPrefix(tag, "W/") {
			return true
		}
	}
	return false
}

// WriteJSON answers v.
func WriteJSON(w http.ResponseWriter, status int, v any) error {
	if a, ok := w.(*response); ok {
		v = a.base.Addressed(v)
	}
	body, err := json.Marshal(v)
	if err != nil {
		return fault.Wrap(fault.Internal, err, "The answer could not be written as JSON.")
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n'))
	return nil
}
