package logbook

import (
	"context"
	"sync"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/history"
)

// erasKept is for how long the balancer's settings of the past are kept: they are read
// for a region that is drawn with every change of the table.
const (
	erasKept = 30 * time.Second
	erasWait = 2 * time.Second
)

// BalancerEras keeps the balancer's settings of the past that were read last.
type BalancerEras struct {
	mu   sync.Mutex
	at   time.Time
	from time.Time
	eras history.Eras
}

// Of are the balancer's settings over the time of a view's changelog entries. They are
// nil without entries, and where the history cannot be read.
func (k *BalancerEras) Of(v answer.View, from *history.Past) (history.Eras, error) {
	if len(v.Table.Events) == 0 {
		return nil, nil
	}
	oldest := v.Table.Events[len(v.Table.Events)-1].Time
	if v.Past != nil {
		return readEras(v, from, oldest)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if age := v.Now.Sub(k.at); k.eras != nil && age >= 0 && age <= erasKept && !oldest.Before(k.from) {
		return k.eras, nil
	}
	var err error
	k.eras, err = readEras(v, from, oldest)
	k.at, k.from = v.Now, oldest
	return k.eras, err
}

func readEras(v answer.View, from *history.Past, oldest time.Time) (history.Eras, error) {
	ctx, cancel := context.WithTimeout(context.Background(), erasWait)
	defer cancel()
	return from.Eras(ctx, v.Table.ClusterID, oldest, v.Now)
}
