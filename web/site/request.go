package site

import (
	"net/http"
	"net/url"
	"time"

	"github.com/go-chi/chi/v5"

	"shardboard/internal/answer"
	"shardboard/internal/answer/data"
	"shardboard/internal/answer/param"
	"shardboard/internal/answer/writes"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/heat"
	"shardboard/internal/store"
	"shardboard/internal/topology"
)

// PathText is a path parameter, unescaped exactly once: chi matches on the
// escaped path when there is one.
func PathText(r *http.Request, name string) (string, error) {
	raw := chi.URLParam(r, name)
	if r.URL.RawPath != "" {
		un, err := url.PathUnescape(raw)
		if err != nil {
			return "", fault.New(fault.Invalid, "The address is not escaped correctly.")
		}
		raw = un
	}
	return param.Checked(name, answer.PathName(raw))
}

// Sharded is the sharded collection that the address names.
func (s *Site) Sharded(r *http.Request, t *topology.Table) (*topology.Collection, error) {
	ns, err := PathText(r, "ns")
	if err != nil {
		return nil, err
	}
	return data.ShardedCollection(t, topology.Namespace(ns))
}

// ChunkAt finds the chunk that the address names: exactly that one, not what
// it has become, for an answer about another chunk would be wrong.
func (s *Site) ChunkAt(r *http.Request, v answer.View) (*topology.Collection, int, error) {
	c, ref, err := s.ChunkRef(r, v)
	if err != nil {
		return nil, 0, err
	}
	i, _, err := c.ByRef(ref)
	if err == nil && i < 0 {
		err = answer.ChunkGone(c)
	}
	return c, i, err
}

// ChunkRef is the reference that the address has, whether a chunk begins there or not.
func (s *Site) ChunkRef(r *http.Request, v answer.View) (*topology.Collection, string, error) {
	c, err := s.Sharded(r, v.Table)
	if err == nil {
		err = answer.MayNameChunks(v)
	}
	if err != nil {
		return nil, "", err
	}
	ref, err := PathText(r, "ref")
	return c, ref, err
}

// AuditEntry is the beginning of the audit entry of what a request does: who sent it, how
// they signed in and from where.
func AuditEntry(r *http.Request) store.AuditEntry {
	who := auth.From(r.Context())
	return store.AuditEntry{By: who.ID, Via: string(who.Method), From: who.From}
}

// Loaded is the newest view, once there is one to answer from.
func (s *Site) Loaded(r *http.Request) (answer.View, error) {
	v := s.ViewFor(r)
	if !v.Table.Loaded {
		return v, v.Table.NotLoaded()
	}
	return v, nil
}

// ViewAt is the state that a request is about: of the time of ?at=, else the
// newest. The list of projects is always the newest one that is known.
func (s *Site) ViewAt(r *http.Request) (answer.View, error) {
	v := s.ViewFor(r)
	text := r.URL.Query().Get("at")
	if text == "" {
		return v, nil
	}
	at, err := answer.ParsePastTime("at", text, v.Now)
	if err != nil {
		return v, err
	}
	return s.ViewOf(r.Context(), v, at)
}

// LoadedAt is viewAt, once there is a table to answer from.
func (s *Site) LoadedAt(r *http.Request) (answer.View, error) {
	v, err := s.ViewAt(r)
	if err == nil && !v.Table.Loaded {
		err = v.Table.NotLoaded()
	}
	return v, err
}

// ViewFor is the newest state as far as whoever sent a request may see it.
func (s *Site) ViewFor(r *http.Request) answer.View {
	v := s.View()
	if over := s.windowOf(r); over != answer.DefaultWindow {
		v.Window = over
		v.Writes = func(t *topology.Table, ns topology.Namespace) (map[int]heat.Rate, bool, bool) {
			return s.chunkWrites(t, ns, over)
		}
		v.WritesAt = func(ns topology.Namespace) int64 { return s.writesAt(ns)*windowsApart + int64(over/time.Second) }
	}
	return s.Hide(v, s.HiddenFrom(auth.From(r.Context())))
}

// windowOf is the time that a request wants figures of writes of; the usual one where its page has none.
func (s *Site) windowOf(r *http.Request) time.Duration {
	if rt, _ := s.routeAt(http.MethodGet, r.URL.EscapedPath()); !rt.Writes {
		return answer.DefaultWindow
	}
	over, err := writes.ParseWindow(r.URL.Query())
	if err != nil {
		return answer.DefaultWindow // the request is refused
	}
	return over
}

// windowsApart is more than there are windows, in seconds.
const windowsApart = 100_000
