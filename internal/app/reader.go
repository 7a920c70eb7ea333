package app

import (
	"context"
	"crypto/rand"
	"log/slog"

	"shardboard/internal/cluster"
	"shardboard/internal/fault"
	"shardboard/internal/store"
)

// readerOf is what the reads of this process are marked with: the installation that the store belongs to, and this
// opening of it. A process that does not own the data is of no installation, because the owner does not know whether
// it lives.
func readerOf(ctx context.Context, s store.Store, log *slog.Logger) cluster.Reader {
	if !s.Owner() {
		return cluster.Reader{}
	}
	r := cluster.Reader{Process: s.Opening()}
	id, err := s.Setting(ctx, store.InstallationSetting)
	if fault.Of(err) == fault.NotFound {
		// Replicas that begin together all write, and take what the last one wrote.
		if err = s.SetSetting(ctx, store.InstallationSetting, rand.Text()); err == nil {
			id, err = s.Setting(ctx, store.InstallationSetting)
		}
	}
	if err != nil {
		log.Warn("the id of this installation is not stored: after a crash, the next start does not find the cursors that this one leaves",
			"err", err)
		return r
	}
	r.Installation = id
	return r
}
