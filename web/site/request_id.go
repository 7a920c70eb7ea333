package site

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"regexp"
)

// requestIDHeader names a request, in a request and in its answer.
const requestIDHeader = "X-Request-ID"

// plainID is an id that is taken from whoever sends it. It is text of strangers: it has nothing that a log, a page or
// a header would have to escape, and no more of it than the ids of proxies and tracers need.
var plainID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/+=@-]{0,127}$`)

type requestIDKey struct{}

// RequestID is the id of the request of a context; "" outside of requests.
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

// named gives every request an id: the one it came with, or a new one. It is in the header of the answer, on error
// pages, in problems, and in the lines that are logged with the request's context.
func named(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if RequestID(r.Context()) == "" {
			id := rand.Text()
			if sent := r.Header.Values(requestIDHeader); len(sent) == 1 && plainID.MatchString(sent[0]) {
				id = sent[0]
			}
			r = r.WithContext(context.WithValue(r.Context(), requestIDKey{}, id))
		}
		w.Header().Set(requestIDHeader, RequestID(r.Context()))
		next.ServeHTTP(w, r)
	})
}

// namingHandler adds the request's id to what is logged with its context.
type namingHandler struct{ slog.Handler }

func (h namingHandler) Handle(ctx context.Context, record slog.Record) error {
	if id := RequestID(ctx); id != "" {
		record = record.Clone()
		record.AddAttrs(slog.String("request", id))
	}
	return h.Handler.Handle(ctx, record)
}

func (h namingHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return namingHandler{h.Handler.WithAttrs(attrs)}
}

func (h namingHandler) WithGroup(name string) slog.Handler {
	return namingHandler{h.Handler.WithGroup(name)}
}
