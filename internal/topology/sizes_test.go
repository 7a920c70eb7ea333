package topology

import (
	"testing"
	"time"
)

func TestUnknownSizeHasAReason(t *testing.T) {
	at := time.Unix(1_800_000_000, 0)
	read := Sizes{At: at, Shards: map[string]Size{"a": {Bytes: Figure{Known: true, Value: 7}}}}
	tests := []struct {
		name   string
		table  Table
		shard  string
		known  bool
		value  int64
		reason string
	}{
		{"read", Table{Sizes: map[Namespace]Sizes{"d.c": read}}, "a", true, 7, ""},
		{"a shard that the read did not mention", Table{Sizes: map[Namespace]Sizes{"d.c": read}}, "b", true, 0, ""},
		{"never read", Table{}, "a", false, 0, "notLoaded"},
		{"failed", Table{Sizes: map[Namespace]Sizes{"d.c": {Reason: "unreachable"}}}, "a", false, 0, "unreachable"},
		{"denied", Table{Health: map[Part]Health{PartSizes: {Denied: true}}}, "a", false, 0, "notPermitted"},
	}
	for _, tc := range tests {
		if got := tc.table.SizeOn("d.c", tc.shard).Bytes; got.Known != tc.known || got.Value != tc.value || got.Reason != tc.reason {
			t.Errorf("%s: %+v", tc.name, got)
		}
	}
}
