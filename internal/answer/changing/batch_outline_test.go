package changing

import (
	"strings"
	"testing"

	"shardboard/internal/actions"
	"shardboard/internal/actions/operation"
)

func TestOutlineOfABatchSaysHowItsItemsFollow(t *testing.T) {
	no := false
	batch := func(a actions.Args, groups ...int) actions.Plan {
		p := actions.Plan{Kind: actions.Batch, Args: a}
		for group, n := range groups {
			for range n {
				p.Steps = append(p.Steps, operation.Step{Op: operation.OpItem, Item: &operation.Item{Group: group + 1}})
			}
		}
		return p
	}
	tests := []struct {
		plan actions.Plan
		want string
	}{
		{batch(actions.Args{}, 1, 10, 4), "The first runs alone as the canary, then 2 groups of up to 10"},
		{batch(actions.Args{}, 1, 10), "The first runs alone as the canary, then the others as one group"},
		{batch(actions.Args{}, 1), "All of them are one group"},
		{batch(actions.Args{Canary: &no}, 5, 5), "They run in 2 groups of up to 5"},
		{batch(actions.Args{PerShard: 3}, 1, 2), "Up to 3 items at a time move chunks of a shard"},
		{batch(actions.Args{ChunksPerHour: 90, BytesPerHour: 2 << 30}, 1, 2), "At most 90 chunks an hour|At most 2.00\u202fGiB an hour"},
		{actions.Plan{Kind: actions.Pin}, ""},
	}
	for _, x := range tests {
		var got []string
		for _, line := range batchLines(x.plan) {
			got = append(got, line.Text.String())
		}
		if text := strings.Join(got, "|"); !strings.Contains(text, x.want) || x.want == "" && text != "" {
			t.Errorf("got %q, expected %q", text, x.want)
		}
	}
}
