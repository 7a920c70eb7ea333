package app

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/store"
	"shardboard/internal/topology"
)

// failingSettings is a store that does not take a setting at first.
type failingSettings struct {
	store.Store
	fails  int
	stored string
}

func (f *failingSettings) Owner() bool                                     { return true }
func (f *failingSettings) Setting(context.Context, string) (string, error) { return "", nil }

func (f *failingSettings) SetSetting(_ context.Context, _, value string) error {
	if f.fails--; f.fails >= 0 {
		return errors.New("the store does not answer")
	}
	f.stored = value
	return nil
}

// sameTable is a cluster whose table is published again and again.
type sameTable struct {
	table   topology.Table
	changed chan struct{}
}

func (s *sameTable) Table() *topology.Table { return &s.table }

func (s *sameTable) Subscribe() (*topology.Table, <-chan struct{}, func()) {
	return &s.table, s.changed, func() {}
}

func TestTheLastClusterIsStoredWhenTheStoreAnswersAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := &failingSettings{fails: 1}
		tables := &sameTable{changed: make(chan struct{})}
		tables.table.ServerInfo.ClusterID = "c1"
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			done <- lastCluster{store: kept, key: "k", log: slog.New(slog.DiscardHandler)}.run(ctx, tables)
		}()
		tables.changed <- struct{}{}
		synctest.Wait()
		cancel()
		<-done
		expect.Equal(t, kept.stored, "c1", "stored")
	})
}
