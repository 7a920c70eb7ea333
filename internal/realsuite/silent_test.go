package realsuite_test

import (
	"context"
	"fmt"
	"maps"
	"time"

	"shardboard/internal/realcluster"
)

// namedWithin is how soon a server that hangs is named, and how soon it is over when it goes on.
const namedWithin = 20 * time.Second

// silent freezes shards and the config servers in turn. Each is named, nothing else is, and it is over when they go on.
func silent(w *world) {
	d := w.serve()
	is := func(want map[string]string) {
		w.Helper()
		d.eventually(namedWithin, fmt.Sprintf("%v", want), func(ctx context.Context) error {
			var c struct{ ConfigServers struct{ State string } }
			var s struct {
				Items []struct {
					Name      string
					Answering struct{ State, Reason string }
				}
			}
			if err := d.get(ctx, "/api/v1/cluster", &c); err != nil {
				return err
			}
			if err := d.get(ctx, "/api/v1/shards", &s); err != nil {
				return err
			}
			got := map[string]string{realcluster.ConfigServer: c.ConfigServers.State}
			for _, shard := range s.Items {
				got[shard.Name] = shard.Answering.State
			}
			if !maps.Equal(got, want) {
				return fmt.Errorf("%v: %v", got, s.Items)
			}
			return nil
		})
	}
	all := func(state string) map[string]string {
		out := map[string]string{realcluster.ConfigServer: "answers"}
		for _, name := range w.cluster.Shards() {
			out[name] = state
		}
		return out
	}
	is(all("answers"))
	for _, member := range append(w.cluster.Shards()[:w.form.count(3, 1)], realcluster.ConfigServer) {
		want := all("answers")
		if member == realcluster.ConfigServer {
			want = all("notAsked")
		}
		want[member] = "silent"
		w.must(w.cluster.Freeze(w.Context(), member))
		is(want)
		w.must(w.cluster.Thaw())
		is(all("answers"))
	}
}
