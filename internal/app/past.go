package app

import (
	"context"
	"fmt"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/alert"
	"shardboard/internal/answer/problems"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/heat"
	"shardboard/internal/placement"
	"shardboard/internal/rules"
	"shardboard/internal/topology"
)

// Past records the past of a simulated cluster before the dashboard starts, with the parts that
// record the present: history, heat maps, runs and alerts. Their clock is the cluster's, which the
// caller sets forward between the calls. Not for concurrent use.
type Past struct {
	of      *clusterParts
	config  ClusterConfig
	now     func() time.Time
	engine  *engine.Engine // nil while actions are off
	alerts  *alert.Engine  // nil without receivers
	advisor *rules.Advisor
	wrote   []heat.Slot
	stop    context.CancelFunc
	served  chan error
	send    func()     // starts sending alerts, after the first observation
	sent    chan error // nil before send
}

// pastGap is longer than any pause between two observations of a past.
const pastGap = 48 * time.Hour

// Past begins a past. Call it between New and Start, and its End before Start.
func (a *App) Past(now func() time.Time) *Past {
	n := a.current().only.now()
	ctx, cancel := context.WithCancel(context.Background())
	p := &Past{of: n, config: a.config.cluster(), now: now, stop: cancel, served: make(chan error, 1)}
	n.history.clock.now = now
	if n.engine != nil {
		parts := n.engineParts
		parts.now = now
		p.engine = newEngine(parts)
		go func() { p.served <- p.engine.Serve(ctx) }()
	} else {
		p.served <- nil
	}
	from := n.advising.sources
	from.Now, from.Heat, from.Pins, from.Paused = now, nil, nil, nil
	p.advisor = rules.NewAdvisor(from)
	if n.advising.alerts == nil {
		return p
	}
	p.alerts = alert.New(p.config.Alerts, problems.AlertSource(p.advisor, p.config.HideBounds), n.store,
		alert.Options{Log: p.config.Log, Now: now, Every: time.Hour})
	p.send = func() { p.sent = make(chan error, 1); go func() { p.sent <- p.alerts.Run(ctx) }() }
	return p
}

// End ends the past: from now on the machine's clock counts.
func (p *Past) End() error {
	p.stop()
	err := <-p.served
	if p.sent != nil {
		if e := <-p.sent; err == nil {
			err = e
		}
	}
	p.of.history.clock.now = time.Now
	p.of.heat.Recall(p.wrote)
	if p.of.outcomes != nil { // what was written before the first runs of the present
		for _, s := range p.wrote {
			if time.Since(s.To) < time.Hour {
				p.of.outcomes.Take(s)
			}
		}
	}
	return err
}

// Observe reads the cluster and records its placement and its change log.
func (p *Past) Observe(ctx context.Context) error {
	if err := p.of.watcher.Refresh(ctx); err != nil {
		return fmt.Errorf("observe the past: %w", err)
	}
	t := p.of.watcher.Table()
	if !p.of.keeper.Directory().Loaded() {
		p.of.keeper.Poll(ctx, p.config.profile().Match(t))
	}
	if p.of.history.recorder == nil {
		return nil
	}
	if err := p.of.history.recorder.Note(ctx, t); err != nil {
		return fmt.Errorf("record the past: %w", err)
	}
	if err := p.of.store.NoteWatched(ctx, t.ClusterID, p.now(), pastGap); err != nil {
		return err
	}
	return p.of.advising.history.Observe(ctx, t.ClusterID, p.advisor.Refresh(), pastGap)
}

// Table is what was observed last.
func (p *Past) Table() *topology.Table { return p.of.watcher.Table() }

// Directory is the projects, as observed first.
func (p *Past) Directory() *placement.Directory { return p.of.keeper.Directory() }

// MostProjects is the chunk of a collection that holds most whole projects. It is false unless there are
// two of them in one chunk, which can be split between them.
func (p *Past) MostProjects(c *topology.Collection) (chunk int, ok bool) {
	projects := map[int]int{} // by chunk
	for _, of := range p.Directory().All() {
		if of.Documents.Known && of.Documents.Value == 0 {
			continue
		}
		r, err := c.Key.PrefixRange(of.IDValue())
		if err != nil {
			return 0, false // the key says nothing of projects
		}
		if from, to := c.Chunks.Overlap(r); to == from+1 {
			if projects[from]++; projects[from] > projects[chunk] {
				chunk = from
			}
		}
	}
	return chunk, projects[chunk] > 1
}

// PastWrites are rows that a document's writers added to a collection, or changed there.
type PastWrites struct {
	Project, Document [12]byte
	Rows              int64
}

// Wrote records the writes to a collection in the minute that begins at a time, for the heat maps and
// for rates. Minutes come in their order.
// Where only changed rows can be counted they are a project's, and its document is not known.
func (p *Past) Wrote(ns topology.Namespace, at time.Time, writes []PastWrites) {
	s := heat.Slot{NS: ns, From: at, To: at.Add(time.Minute), Every: 1}
	for _, w := range writes {
		s.Counts = append(s.Counts, heat.Count{Project: w.Project, Document: w.Document, Rows: w.Rows})
	}
	t := p.Table()
	if !heat.Place(t, p.config.profile(), &s) {
		return
	}
	s.Capped = s.Method == heat.ChangedRows
	p.of.pictures.Take(s)
	p.wrote = append(p.wrote, s)
}

// pastOperator is who acted in the past: the identity of every visitor of a demo.
var pastOperator = auth.Principal{ID: "demo", Name: "demo", Role: auth.Operator, Method: auth.ByDemo}

// Run plans a change, runs the plan and waits for its end.
func (p *Past) Run(ctx context.Context, kind actions.Kind, args actions.Args, reason string) (engine.Run, error) {
	if p.engine == nil {
		return engine.Run{}, fault.New(fault.Unavailable, "Actions are off.")
	}
	plan, err := p.engine.Plan(ctx, pastOperator, engine.Request{Kind: kind, Args: args, Reason: reason})
	if err != nil {
		return engine.Run{}, err
	}
	return p.run(ctx, plan)
}

// Undo undoes a run.
func (p *Past) Undo(ctx context.Context, run, reason string) (engine.Run, error) {
	plan, err := p.engine.Undo(ctx, pastOperator, run, reason)
	if err != nil {
		return engine.Run{}, err
	}
	return p.run(ctx, plan)
}

func (p *Past) run(ctx context.Context, plan actions.Plan) (engine.Run, error) {
	for _, c := range plan.Checks {
		if c.Verdict == actions.Block {
			return engine.Run{}, fault.New(fault.Conflict, "A check blocks this plan: %s", c.Text.String())
		}
	}
	changed, end := p.engine.Subscribe()
	defer end()
	run, _, err := p.engine.Run(ctx, pastOperator, plan.ID, engine.RunRequest{Hash: plan.Hash, Confirm: plan.Confirm})
	for err == nil && run.State.Open() {
		select {
		case <-changed:
		case <-time.After(50 * time.Millisecond): // a waiting step tells nobody
		case <-ctx.Done():
			return run, ctx.Err()
		}
		run, err = p.engine.RunByID(ctx, run.ID)
	}
	return run, err
}

// CheckAlerts observes the cluster, checks the rules and sends what is due, and waits until the
// receivers have it.
func (p *Past) CheckAlerts(ctx context.Context) error {
	if p.alerts == nil {
		return nil
	}
	if err := p.Observe(ctx); err != nil {
		return err
	}
	if p.sent == nil {
		p.send()
	}
	p.advisor.Refresh()
	if err := p.alerts.Check(ctx); err != nil {
		return err
	}
	for waiting := true; waiting; {
		waiting = false
		for _, t := range p.alerts.Status().Targets {
			waiting = waiting || t.Due > 0 && t.Last.Failed == 0
		}
		if !waiting {
			break
		}
		select {
		case <-time.After(2 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
