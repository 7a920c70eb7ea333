package site

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"strconv"

	"github.com/go-chi/chi/v5"

	"shardboard/internal/sanitize"
	"shardboard/web/guard"
	"shardboard/web/templates"
)

// recorder counts what an answer was, for the log and the metrics.
type recorder struct {
	http.ResponseWriter
	status int
	bytes  int64
}

func (rec *recorder) WriteHeader(status int) {
	if rec.status == 0 && status >= http.StatusOK {
		rec.status = status
	}
	rec.ResponseWriter.WriteHeader(status)
}

func (rec *recorder) Write(b []byte) (int, error) {
	if rec.status == 0 {
		rec.status = http.StatusOK
	}
	n, err := rec.ResponseWriter.Write(b)
	rec.bytes += int64(n)
	return n, err
}

// Hijack hands the connection to the socket.
func (rec *recorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(rec.ResponseWriter).Hijack()
	if err == nil {
		rec.status = http.StatusSwitchingProtocols
	}
	return conn, rw, err
}

// Unwrap is for http.ResponseController.
func (rec *recorder) Unwrap() http.ResponseWriter { return rec.ResponseWriter }

// logged writes one line per request; those of nobody are bounded. The query is
// left out on purpose: it holds document keys and search words, which are other
// people's data.
func (s *Site) logged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := s.Deps.Now()
		rec := &recorder{ResponseWriter: w}
		// chi adopts a context that is there already; made here, its pattern
		// can be read after the answer.
		rctx := chi.NewRouteContext()
		ctx, id := guard.Noting(context.WithValue(r.Context(), chi.RouteCtxKey, rctx))
		r = r.WithContext(ctx)
		next.ServeHTTP(rec, r)
		took := s.Deps.Now().Sub(start)
		if rec.status == 0 {
			rec.status = http.StatusOK
		}
		route := rctx.RoutePattern()
		if route == "" {
			route = "none" // unknown addresses share one label: they are the caller's to invent
		}
		s.Metrics.observe(r.Method, route, rec.status, took)
		level := slog.LevelInfo
		switch {
		case rec.status >= http.StatusInternalServerError:
			level = slog.LevelWarn
		case s.routes[http.MethodGet+" "+route].Quiet, route == "/live" && withoutSocket(r, rec.status):
			level = slog.LevelDebug
		}
		who := LogText(cmp.Or(*id, "-"))
		attrs := []slog.Attr{slog.String("who", who), slog.String("method", LogText(r.Method)), slog.String("path", logPath(r)),
			slog.Int("status", rec.status), slog.Int64("bytes", rec.bytes), slog.Float64("ms", float64(took.Microseconds())/1000),
			slog.String("from", LogText(s.Deps.Access.Auth.ClientAddr(r)))}
		if who == "-" && level != slog.LevelDebug {
			ok, leftOut := s.linesOfNobody.Take(s.Deps.Now())
			if !ok {
				return
			}
			if leftOut > 0 {
				attrs = append(attrs, slog.Int64("left_out", leftOut))
			}
		}
		s.Deps.Log.LogAttrs(r.Context(), level, "request", attrs...)
	})
}

// withoutSocket tells whether a page asks for updates again and again because its WebSocket does not come through;
// there is one warning of that.
func withoutSocket(r *http.Request, status int) bool {
	return status == http.StatusUpgradeRequired || status == http.StatusOK && r.URL.Query().Has("poll")
}

// logPath is the path as it came, percent-escaped: always plain ASCII.
func logPath(r *http.Request) string {
	b := templates.BaseOf(r.Context())
	return LogText(b.Root + b.Prefix + r.URL.EscapedPath())
}

// LogText is at most 300 bytes with control characters, line ends and
// direction marks made visible, so that no request can forge a log line.
func LogText(s string) string {
	q := strconv.QuoteToASCII(sanitize.Truncate(s, 300))
	return q[1 : len(q)-1]
}

// Recovered turns a panic into a 500 that tells nothing of the inside. The
// answer is still whole because handlers write into memory.
func (s *Site) Recovered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			p := recover()
			if p == nil {
				return
			}
			if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
				panic(p) // net/http's own way to drop a connection
			}
			ref := newRef()
			s.Deps.Log.ErrorContext(r.Context(), "panic in a request", "path", logPath(r), "ref", ref,
				"panic", LogText(fmt.Sprint(p)), "stack", string(debug.Stack()))
			if rec, ok := w.(*recorder); ok && rec.status != 0 {
				panic(http.ErrAbortHandler) // too late for another answer
			}
			s.failAfterPanic(w, r, ref)
		}()
		next.ServeHTTP(w, r)
	})
}

// failAfterPanic answers 500, and once more plainly if the error page itself
// is what panics.
func (s *Site) failAfterPanic(w http.ResponseWriter, r *http.Request, ref string) {
	failed := &bug{ref: ref, err: errors.New("panic")}
	defer func() {
		if recover() != nil {
			http.Error(w, s.bugText(failed), http.StatusInternalServerError)
		}
	}()
	s.Fail(w, r, failed)
}
