package app

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"shardboard/internal/alert"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/rules"
	"shardboard/internal/topology"
)

// loadingTables is a routing table that is loaded when told.
type loadingTables struct {
	mu      sync.Mutex
	table   *topology.Table
	changed chan struct{}
}

func (l *loadingTables) Table() *topology.Table {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.table
}

func (l *loadingTables) Subscribe() (*topology.Table, <-chan struct{}, func()) {
	return l.Table(), l.changed, func() {}
}

func (l *loadingTables) Directory() *placement.Directory {
	return placement.NewDirectory(0, nil, nil, topology.Health{})
}

func (l *loadingTables) publish(t *topology.Table) {
	l.mu.Lock()
	l.table = t
	l.mu.Unlock()
	l.changed <- struct{}{}
}

// firstCheck is how long after the start alerts are checked first, while act is done.
func firstCheck(t *testing.T, act func(*loadingTables)) (after time.Duration, loaded bool) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := &loadingTables{table: &topology.Table{}, changed: make(chan struct{}, 1)}
		ctx, cancel := context.WithCancel(t.Context())
		start, checked := time.Now(), make(chan struct{})
		var once sync.Once
		source := func(context.Context) (alert.Observed, error) {
			once.Do(func() {
				after, loaded = time.Since(start), l.Table().Loaded
				close(checked)
			})
			return alert.Observed{}, context.Canceled
		}
		a := advising{tables: l, alerts: alert.New(&alert.Config{}, source, nil, alert.Options{}),
			advisor: rules.NewAdvisor(rules.Sources{Tables: l, Directories: l, Profile: profile.Yorkie(), Log: slog.New(slog.DiscardHandler)})}
		var all sync.WaitGroup
		all.Go(func() { _ = a.runAlerts(ctx) })
		act(l)
		<-checked
		cancel()
		all.Wait()
	})
	return after, loaded
}

func TestAlertsAreCheckedFirstWhenTheRoutingTableIsLoaded(t *testing.T) {
	after, loaded := firstCheck(t, func(l *loadingTables) {
		time.Sleep(2 * time.Second)
		l.publish(&topology.Table{ClusterID: "c"}) // not loaded yet
		time.Sleep(2 * time.Second)
		l.publish(&topology.Table{ClusterID: "c", Loaded: true})
	})
	expect.That(t, after == 4*time.Second && loaded, "the first check came after %s, loaded %v", after, loaded)
}

func TestAlertsAreCheckedEvenIfTheRoutingTableStaysUnread(t *testing.T) {
	after, loaded := firstCheck(t, func(*loadingTables) {})
	expect.That(t, after == alert.Every && !loaded, "the first check came after %s, loaded %v; want %s", after, loaded, alert.Every)
}
