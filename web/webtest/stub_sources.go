package webtest

import (
	"context"
	"slices"
	"strings"
	"sync"

	"shardboard/internal/notify"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
)

// feed is a value that is published to subscribers, as the watcher and the
// keeper do.
type feed[T any] struct {
	mu          sync.Mutex
	Value       T
	subscribers notify.Subscribers
}

func (f *feed[T]) Get() T {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.Value
}

func (f *feed[T]) Subscribe() (T, <-chan struct{}, func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	newer, end := f.subscribers.Subscribe()
	return f.Value, newer, end
}

func (f *feed[T]) Publish(v T) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Value = v
	f.subscribers.Notify()
}

// StubWatcher publishes tables that a test gives it.
type StubWatcher struct {
	feed[*topology.Table]
	Seen []topology.Namespace
}

func (w *StubWatcher) Table() *topology.Table { return w.Get() }

func (w *StubWatcher) Viewed(ns topology.Namespace) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.Seen = append(w.Seen, ns)
}

// StubKeeper publishes directories that a test gives it.
type StubKeeper struct{ feed[*placement.Directory] }

func (k *StubKeeper) Directory() *placement.Directory { return k.Get() }

// StubLocator answers with a function of the test.
type StubLocator struct {
	Answer func(placement.Query) ([]placement.Item, error)
	Listed []placement.PlacedDocument // of every project, by key
}

// Documents answers a page of those that are listed.
func (l *StubLocator) Documents(_ context.Context, _ placement.Project, page placement.DocumentPage) ([]placement.PlacedDocument, error) {
	from := slices.IndexFunc(l.Listed, func(d placement.PlacedDocument) bool {
		return d.Key >= page.From && strings.HasPrefix(d.Key, page.Prefix)
	})
	if from < 0 {
		return nil, nil
	}
	rest := l.Listed[min(from+page.Skip, len(l.Listed)):]
	return rest[:min(len(rest), page.Limit)], nil
}

func (l *StubLocator) Locate(_ context.Context, q placement.Query) ([]placement.Item, error) {
	return l.Answer(q)
}

// Ask answers the items of the fixture's function, as one targeted query.
func (l *StubLocator) Ask(_ context.Context, q placement.Query) (placement.Answer, error) {
	a := placement.Answer{Cost: placement.Cost{Targeted: 1}}
	if q.NS == "" {
		in, err := placement.ReadInput(q.Text)
		if err != nil {
			return a, err
		}
		a.Input = in
	}
	items, err := l.Answer(q)
	a.Items = items
	return a, err
}
