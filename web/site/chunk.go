package site

import (
	"net/http"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/fault"
	"shardboard/internal/topology"
)

// ChunkAt finds the chunk that the address names: exactly that one, not what
// it has become, for an answer about another chunk would be wrong.
func (s *Site) ChunkAt(r *http.Request, v answer.View) (*topology.Collection, int, error) {
	c, err := s.Sharded(r, v.Table)
	if err == nil {
		err = answer.MayNameChunks(v)
	}
	if err != nil {
		return nil, 0, err
	}
	ref, err := PathText(r, "ref")
	if err != nil {
		return nil, 0, err
	}
	if !strings.Contains(ref, ".") {
		ref = answer.IdentityOf(c) + "." + ref // the bound alone: of the collection as it is now
	}
	k, err := answer.ParseChunkRef(c, ref)
	if err != nil {
		return nil, 0, err
	}
	i, ch := c.Chunks.Find(k)
	if i < 0 || ch.Min.Compare(k) != 0 {
		return nil, 0, fault.New(fault.NotFound, "%s", "No chunk of "+string(c.NS)+" begins at this key any more.")
	}
	return c, i, nil
}
