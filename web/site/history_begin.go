package site

import (
	"context"
	"sync"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/api"
)

// beginKept is how long the begin of the history is taken for the same: it moves only when
// old rows are deleted.
const beginKept = time.Minute

// historyBegin is the begin of a cluster's history, as it was read last.
type historyBegin struct {
	mu      sync.Mutex
	cluster string
	begin   time.Time
	read    time.Time
}

// HistorySince is from when on there is a past to look at; nil if there is none.
func (s *Views) HistorySince(ctx context.Context, v answer.View) *time.Time {
	if s.KeepsHistory(v) != nil {
		return nil
	}
	b, now := &s.begin, s.deps.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cluster == v.Table.ClusterID && now.Sub(b.read) < beginKept && !now.Before(b.read) {
		return api.Time(b.begin)
	}
	begin, err := s.deps.Past.History.Begin(ctx, v.Table.ClusterID)
	if err != nil {
		return nil // none yet, or a failing store, which the banner tells
	}
	b.cluster, b.begin, b.read = v.Table.ClusterID, begin, now
	return api.Time(begin)
}
