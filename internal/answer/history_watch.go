package answer

import (
	"errors"
	"hash/fnv"
	"strconv"

	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// maxWatched is how many things can be watched at once.
const MaxWatched = 20

// Watched things as an address has them: chunk:<namespace>:<reference> and
// project:<id>.
const (
	WatchChunk   = "chunk:"
	WatchProject = "project:"
)

var ErrNotWatchable = errors.New("not a chunk or a project")

func ChunkItem(c *topology.Collection, ref string) string {
	if ref == "" {
		return ""
	}
	return WatchChunk + string(c.NS) + ":" + ref
}

// chunkName is a short name for a chunk of any collection within a page, for
// a script to find what shows it.
func ChunkName(c *topology.Collection, min shardkey.Key) string {
	if hiding := c.Key.Hiding(); hiding != nil {
		return hiding.Name(string(c.NS) + "\x00" + min.Encoded())
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(string(c.NS) + "\x00" + min.Encoded())) // a hash does not fail
	return strconv.FormatUint(h.Sum64()>>16, 36)
}
