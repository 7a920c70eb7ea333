package site

import (
	"net/http"
	"slices"

	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// namespace is the existing collection that the address names.
func (s *Site) Namespace(r *http.Request, t *topology.Table) (topology.Namespace, error) {
	text, err := PathText(r, "ns")
	if err != nil {
		return "", err
	}
	ns := topology.Namespace(text)
	if t.Collection(ns) != nil || slices.Contains(t.Unsharded, ns) {
		return ns, nil
	}
	if ns.Database() == "" || ns.Collection() == "" {
		return "", fault.New(fault.Invalid, "A collection is written database.collection; %q is not.", sanitize.Truncate(text, 100))
	}
	return "", fault.New(fault.NotFound, "No collection is named %q (searched %d sharded and %d other collections).",
		sanitize.Truncate(text, 200), len(t.Collections), len(t.Unsharded))
}

// sharded is the sharded collection that the address names.
func (s *Site) Sharded(r *http.Request, t *topology.Table) (*topology.Collection, error) {
	ns, err := s.Namespace(r, t)
	if err != nil {
		return nil, err
	}
	c := t.Collection(ns)
	if c == nil {
		return nil, fault.New(fault.NotFound, "%q is not sharded: it has no chunks and is whole on the primary shard of its database.", sanitize.Truncate(string(ns), 200))
	}
	return c, nil
}
