package changing

import (
	"slices"
	"testing"

	"shardboard/internal/actions"
	"shardboard/internal/answer"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/topology"
)

func TestFormOfABatchAsksForWhatItsChangesTake(t *testing.T) {
	v := answer.View{Table: &topology.Table{Shards: []topology.Shard{{Name: "rs-1"}}}}
	for each, want := range map[actions.Kind]struct{ asks, not []string }{
		"": {[]string{"plans", "projects", "chunks", "each", "parts", "canary"}, nil},
		actions.Pin: {[]string{"projects", "each", "shard", "canary", "group", "bytesPerHour"},
			[]string{"plans", "chunks", "ns", "parts", "force"}},
		actions.MoveChunk: {[]string{"chunks", "each", "ns", "to", "force", "perShard"},
			[]string{"plans", "projects", "shard", "parts", "expires"}},
	} {
		var names []string
		for _, f := range PlanFormOf(v, actions.Batch, func(name string) string {
			if name == "each" {
				return string(each)
			}
			return ""
		}).Fields {
			names = append(names, f.Name)
			if f.Name == "shard" && f.Choices[0].Value != "" {
				t.Errorf("%q: the shard is %s unless another is chosen", each, f.Choices[0].Value)
			}
		}
		for _, name := range want.asks {
			expect.That(t, slices.Contains(names, name), "%q: %s is not asked for: %v", each, name, names)
		}
		for _, name := range want.not {
			expect.That(t, !slices.Contains(names, name), "%q: %s is asked for", each, name)
		}
	}
}
