package site

import (
	"net/http"

	"shardboard/internal/answer"
	"shardboard/internal/topology"
)

// Sharded is the sharded collection that the address names.
func (s *Site) Sharded(r *http.Request, t *topology.Table) (*topology.Collection, error) {
	ns, err := PathText(r, "ns")
	if err != nil {
		return nil, err
	}
	return answer.ShardedCollection(t, topology.Namespace(ns))
}
