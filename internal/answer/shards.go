package answer

import (
	"net/url"
	"strconv"
	"strings"

	"shardboard/internal/api"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
)

func RowShareOf(s placement.RowShare) api.RowShare {
	if !s.Known {
		return api.RowShare{Reason: s.Reason}
	}
	return api.RowShare{Low: ShareOf(s.Low), High: ShareOf(s.High), Exact: s.Exact, Method: s.Method, At: api.Time(s.At)}
}

func CollectionOnOf(t *topology.Table, c placement.CollectionOn) api.ShardCollection {
	_, all, _ := SizeOf(t, c.NS)
	return api.ShardCollection{
		RowShare: documentShare(c.Size.Documents, all),
		NS:       string(c.NS), Sharded: c.Sharded, Chunks: c.Chunks, Of: c.Of,
		Bytes: FigureOf(c.Size.Bytes), Documents: FigureOf(c.Size.Documents), Share: ShareOf(c.Share),
	}
}

// documentShare is the part of a collection's documents that is on a shard.
func documentShare(here, all topology.Figure) *float64 {
	if !here.Known || !all.Known || all.Value == 0 {
		return nil
	}
	return ShareOf(Share(here.Value, all.Value))
}

// notNil keeps empty lists lists on the wire.
func NotNil(in []string) []string {
	if in == nil {
		return []string{}
	}
	return in
}

// paletteSize is how many colours there are before they repeat.
const PaletteSize = 12

// shardLabels shortens names to what tells them apart: shard-rs-1, shard-rs-2
// become 1, 2. Where that is longer than three characters the place in the
// list stands for the name.
func ShardLabels(shards []topology.Shard) []string {
	out := make([]string, len(shards))
	prefix := commonPrefix(shards)
	for i, s := range shards {
		rest := strings.TrimLeft(s.Name[len(prefix):], "-_.")
		if rest == "" || len(rest) > 3 || !isLabel(rest) {
			return numbered(len(shards))
		}
		out[i] = rest
	}
	return out
}

func numbered(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = strconv.Itoa(i + 1)
	}
	return out
}

// commonPrefix never ends inside a number, so that rs10 and rs11 stay 10, 11.
func commonPrefix(shards []topology.Shard) string {
	if len(shards) < 2 {
		return ""
	}
	p := shards[0].Name
	for _, s := range shards[1:] {
		for !strings.HasPrefix(s.Name, p) {
			p = p[:len(p)-1]
		}
	}
	return strings.TrimRight(p, "0123456789")
}

func isLabel(s string) bool {
	for _, r := range s {
		if (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
			return false
		}
	}
	return true
}

func ShardURL(name string) string { return "/shards/" + url.PathEscape(name) }

func CollectionURL(ns topology.Namespace) string {
	return "/collections/" + url.PathEscape(string(ns))
}

// visible tells whether a tracked collection belongs on pages: not the
// server's own, not a copy that resharding is filling.
func Visible(c *topology.Collection) bool {
	return !c.Temporary && !topology.IsInternal(c.NS)
}

// sharded tells whether a visible collection is really cut into chunks.
func Sharded(c *topology.Collection) bool { return Visible(c) && !c.Unsplittable }
