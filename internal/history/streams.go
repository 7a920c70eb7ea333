package history

import (
	"fmt"
	"strings"

	"shardboard/internal/topology"
)

// The streams of a cluster.
const (
	frameStream  = "frame"
	chunksPrefix = "chunks/"
	sizesPrefix  = "sizes/"
)

// chunksStream is the stream of one incarnation of a collection, so versions of different
// incarnations are never mixed.
func chunksStream(m topology.Meta) string {
	i := m.Incarnation
	return fmt.Sprintf("%s%s/%x-%s-%d.%d", chunksPrefix, m.NS, i.UUID, i.Epoch.Hex(), i.Timestamp.T, i.Timestamp.I)
}

// streamNS is the collection of a chunks stream.
func streamNS(stream string) topology.Namespace {
	name := strings.TrimPrefix(stream, chunksPrefix)
	return topology.Namespace(name[:max(0, strings.LastIndexByte(name, '/'))])
}

func sizesStream(ns topology.Namespace) string { return sizesPrefix + string(ns) }
