package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"slices"
	"strings"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

// lastCluster remembers which cluster was last seen at an address. What is stored of a cluster is
// stored under its id, so without it nothing could be shown until the cluster is reached.
type lastCluster struct {
	store store.Store
	key   string
	log   *slog.Logger
}

// lastClusterKey is the name of the setting for the hosts of an address.
func lastClusterKey(hosts string) string { return "cluster.at." + hashOfHosts(hosts) }

// hashOfHosts stands for the hosts of an address, whose names need not be in a backup of the store.
func hashOfHosts(hosts string) string {
	names := strings.Split(strings.ToLower(hosts), ",")
	slices.Sort(names)
	sum := sha256.Sum256([]byte(strings.Join(names, ",")))
	return hex.EncodeToString(sum[:8])
}

// read is the id of the cluster; "" when none is known.
func (l lastCluster) read(ctx context.Context) string {
	id, err := l.store.Setting(ctx, l.key)
	if err != nil && fault.Of(err) != fault.NotFound {
		l.log.Warn("which cluster was last seen at the address cannot be read", "err", err)
	}
	return id
}

// run stores the id of the cluster that answers, until the context ends. A write that failed is tried
// again with the next table.
func (l lastCluster) run(ctx context.Context, tables tables) error {
	if !l.store.Owner() {
		return nil
	}
	known, failed := l.read(ctx), false
	t, changed, end := tables.Subscribe()
	defer end()
	for {
		if id := t.ServerInfo.ClusterID; id != "" && id != known {
			if known != "" && !failed {
				l.log.Warn("another cluster than before is at the address", "cluster", id, "before", known)
			}
			err := l.store.SetSetting(ctx, l.key, id)
			if err != nil && !failed && ctx.Err() == nil {
				l.log.Warn("which cluster is at the address is not stored; trying again", "err", err)
			}
			if failed = err != nil; !failed {
				known = id
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
			t = tables.Table()
		}
	}
}
