package outcome

import (
	"context"
	"slices"
	"sync"
	"testing/synctest"

	"shardboard/internal/actions/engine"
	"shardboard/internal/fault"
	"shardboard/internal/store"
	"shardboard/internal/topology"
)

// fakes are an engine, a table and a store in memory.
type fakes struct {
	mu         sync.Mutex
	runs       []engine.Run // newest first
	table      *topology.Table
	rows       map[string]store.RunOutcome
	fail       error
	runChanged chan struct{}
	noTables   chan struct{}
	saves      int
}

func newFakes(c *topology.Collection) *fakes {
	return &fakes{table: &topology.Table{ClusterID: "c", Loaded: true, Collections: []*topology.Collection{c}},
		rows: map[string]store.RunOutcome{}, runChanged: make(chan struct{}, 1), noTables: make(chan struct{})}
}

func (w *fakes) Runs(_ context.Context, _ string, limit int) ([]engine.Run, string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.runs[:min(limit, len(w.runs))]), "", nil
}

func (w *fakes) RunByID(_ context.Context, id string) (engine.Run, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.runs {
		if r.ID == id {
			return r, nil
		}
	}
	return engine.Run{}, fault.New(fault.NotFound, "none")
}

// fakeRuns gives the fakes the Subscribe method of Runs; Tables has one as well.
type fakeRuns struct{ *fakes }

func (w fakeRuns) Subscribe() (<-chan struct{}, func()) { return w.runChanged, func() {} }

func (w *fakes) Table() *topology.Table {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.table
}

func (w *fakes) Subscribe() (*topology.Table, <-chan struct{}, func()) {
	return w.Table(), w.noTables, func() {}
}

func (w *fakes) SaveRunOutcome(_ context.Context, _ string, o store.RunOutcome) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fail != nil {
		return w.fail
	}
	w.rows[o.Run], w.saves = o, w.saves+1
	return nil
}

func (w *fakes) RunOutcome(_ context.Context, _, run string) (store.RunOutcome, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if o, ok := w.rows[run]; ok {
		return o, nil
	}
	return store.RunOutcome{}, fault.New(fault.NotFound, "none")
}

func (w *fakes) OpenRunOutcomes(context.Context, string) (out []store.RunOutcome, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, o := range w.rows {
		if o.Open {
			out = append(out, o)
		}
	}
	return out, w.fail
}

// setRun adds or replaces a run and notifies the recorder.
func (w *fakes) setRun(r engine.Run) {
	w.mu.Lock()
	i := slices.IndexFunc(w.runs, func(o engine.Run) bool { return o.ID == r.ID })
	if i < 0 {
		w.runs = slices.Insert(w.runs, 0, r)
	} else {
		w.runs[i] = r
	}
	w.mu.Unlock()
	select {
	case w.runChanged <- struct{}{}:
	default:
	}
	synctest.Wait()
}
