package app

import (
	"context"
	"fmt"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/alert"
	answers "shardboard/internal/answer"
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
	n       *instance
	config  Config
	now     func() time.Time
	engine  *engine.Engine // nil while actions are off
	alerts  *alert.Engine  // nil without receivers
	advisor *rules.Advisor
	stop    context.CancelFunc
	served  chan error
	sent    chan error
}

// pastGap is longer than any pause between two observations of a past.
const pastGap = 48 * time.Hour

// Past begins a past. Call it between New and Start, and its End before Start.
func (a *App) Past(now func() time.Time) *Past {
	n := a.current()
	ctx, cancel := context.WithCancel(context.Background())
	p := &Past{n: n, config: a.config, now: now, stop: cancel, served: make(chan error, 1), sent: make(chan error, 1)}
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
		p.sent <- nil
		return p
	}
	p.alerts = alert.New(a.config.Alerts, answers.AlertSource(p.advisor, a.config.HideBounds), n.store,
		alert.Options{Log: a.config.Log, Now: now, Every: time.Hour})
	go func() { p.sent <- p.alerts.Run(ctx) }()
	return p
}

// End ends the past: from now on the machine's clock counts.
func (p *Past) End() error {
	p.stop()
	err := <-p.served
	if e := <-p.sent; err == nil {
		err = e
	}
	p.n.history.clock.now = time.Now
	return err
}

// Observe reads the cluster and records its placement and its change log.
func (p *Past) Observe(ctx context.Context) error {
	if err := p.n.watcher.Refresh(ctx); err != nil {
		return fmt.Errorf("observe the past: %w", err)
	}
	t := p.n.watcher.Table()
	if !p.n.keeper.Directory().Loaded() {
		p.n.keeper.Poll(ctx, p.config.profile().Match(t))
	}
	if p.n.history.recorder == nil {
		return nil
	}
	if err := p.n.history.recorder.Note(ctx, t); err != nil {
		return fmt.Errorf("record the past: %w", err)
	}
	return p.n.store.NoteWatched(ctx, t.ClusterID, p.now(), pastGap)
}

// Table is what was observed last.
func (p *Past) Table() *topology.Table { return p.n.watcher.Table() }

// Directory is the projects, as observed first.
func (p *Past) Directory() *placement.Directory { return p.n.keeper.Directory() }

// PastWrites are rows that a document's writers added to a collection, or changed there.
type PastWrites struct {
	Project, Document [12]byte
	Rows              int64
}

// Wrote records the writes to a collection in the minute that begins at a time, for the heat maps.
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
	p.n.pictures.Take(s)
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

// CheckAlerts checks the rules and sends what is due, and waits until the receivers have it.
func (p *Past) CheckAlerts(ctx context.Context) error {
	if p.alerts == nil {
		return nil
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
