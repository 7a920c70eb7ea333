package changes

import (
	"slices"

	"shardboard/internal/actions/engine"
)

// drainedShard is the shard whose draining the run waits for; "" if it waits for none.
func (m region) drainedShard() string {
	i := slices.IndexFunc(m.whole.Steps, func(s engine.Step) bool { return s.AwaitsDrain() && !s.Sent.IsZero() && s.State.Open() })
	if i < 0 {
		return ""
	}
	return m.whole.Steps[i].Shard
}
