package placement

import (
	"context"
	"errors"
	"testing"
	"time"

	"shardboard/internal/topology"
)

type askedOwners struct{ times int }

func (a *askedOwners) Owners(context.Context, topology.Namespace) ([]topology.OwnersRow, bool, error) {
	a.times++
	return []topology.OwnersRow{{Shards: []string{"s"}}}, true, errors.New("one row was left out")
}

func TestOwnersAreAskedForOnceInTenSeconds(t *testing.T) {
	src, now := &askedOwners{}, time.Unix(1, 0)
	o := NewOwners(src, func() time.Time { return now })
	for _, step := range []struct {
		after time.Duration
		ns    topology.Namespace
		want  int
	}{{0, "a.b", 1}, {9 * time.Second, "a.b", 1}, {0, "a.c", 2}, {time.Second, "a.b", 3}} {
		now = now.Add(step.after)
		rows, more, err := o.Owners(t.Context(), step.ns)
		if len(rows) != 1 || !more || err == nil || src.times != step.want {
			t.Errorf("%s: asked %d times, want %d; %v %v %v", step.ns, src.times, step.want, rows, more, err)
		}
	}
}
