package app

import (
	"context"
	"log/slog"
	"time"

	"shardboard/internal/clock"
	"shardboard/internal/fault"
	"shardboard/internal/placement"
	"shardboard/internal/store"
	"shardboard/internal/topology"
)

const (
	// namesKept bounds how many projects are stored by name, some 100 bytes each.
	namesKept = 5000
	// namesEvery is how often changed names are stored at most.
	namesEvery = 10 * time.Minute
)

// projectNames stores the projects' names, so that the recorded past has them while the cluster is not
// reached. Keys and counts are not stored.
type projectNames struct {
	store store.Store
	log   *slog.Logger
}

func namesSetting(cluster string) string { return "projects." + cluster }

// read is the list that was stored last; nil when there is none.
func (n projectNames) read(ctx context.Context, cluster string) *placement.Directory {
	if cluster == "" {
		return nil
	}
	text, err := n.store.Setting(ctx, namesSetting(cluster))
	var was *placement.Directory
	if err == nil {
		was, err = placement.DecodeNames(text)
	}
	if err != nil && fault.Of(err) != fault.NotFound {
		n.log.Warn("the stored names of projects cannot be read", "err", err)
	}
	return was
}

// run stores changed names while this process leads, until the context ends.
func (n projectNames) run(ctx context.Context, keeper *placement.Keeper, tables *topology.Watcher) error {
	return n.store.Lead(ctx, func(ctx context.Context) error {
		var last uint64
		_, news, end := keeper.Subscribe()
		defer end()
		for {
			d, id := keeper.Directory(), tables.Table().ServerInfo.ClusterID
			if d.Loaded() && id != "" && d.Seq() != last {
				if err := n.write(ctx, id, d); err != nil {
					n.log.Warn("the names of projects are not stored", "err", err)
				} else {
					last = d.Seq()
				}
				if err := clock.Sleep(ctx, namesEvery); err != nil {
					return err
				}
				continue
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-news:
			}
		}
	})
}

func (n projectNames) write(ctx context.Context, cluster string, d *placement.Directory) error {
	text, err := d.EncodeNames(namesKept)
	if err != nil {
		return err
	}
	return n.store.SetSetting(ctx, namesSetting(cluster), text)
}
