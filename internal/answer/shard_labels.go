package answer

import (
	"strconv"
	"strings"

	"shardboard/internal/topology"
)

// PaletteSize is how many colours there are before they repeat.
const PaletteSize = 12

// ShardLabels shortens names to what tells them apart: shard-rs-1, shard-rs-2
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
