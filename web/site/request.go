package site

import (
	"net/http"
	"net/url"

	"github.com/go-chi/chi/v5"

	"shardboard/internal/answer"
	"shardboard/internal/answer/data"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
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
	return answer.CheckText(name, answer.PathName(raw))
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
