package simcluster

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/catalog"
	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
)

// internalCommand marks the context of a command that did not come over a connection: rules
// pass it over, as they are about what a client sees.
type internalCommand struct{}

// inflightKey finds the trip of a command in its context.
type inflightKey struct{}

// inflightCommand is one command on its way through the cluster. Its client may be answered
// before it ends.
type inflightCommand struct {
	db    string
	body  bson.Raw
	twice bool // only its own goroutine uses it
	early chan error
	once  sync.Once
}

func (t *inflightCommand) answer(err error) { t.once.Do(func() { t.early <- err }) }

// addInflight and arrive keep the list of commands that change the cluster and are on
// their way: $currentOp shows them, as a router does.
func (f *Faults) addInflight(t *inflightCommand) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.trips = append(f.trips, t)
}

func (f *Faults) removeInflight(t *inflightCommand) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.trips = slices.DeleteFunc(f.trips, func(o *inflightCommand) bool { return o == t })
}

// inflightRows are their rows.
func (f *Faults) inflightRows() (rows []bson.Raw) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, t := range f.trips {
		var command bson.D
		if bson.Unmarshal(t.body, &command) != nil {
			continue
		}
		rows = append(rows, encode(bson.D{
			{Key: "type", Value: "op"}, {Key: "desc", Value: "conn22"}, {Key: "active", Value: true},
			{Key: "secs_running", Value: int64(0)}, {Key: "op", Value: "command"}, {Key: "ns", Value: t.db + ".$cmd"},
			{Key: "command", Value: command},
		}))
	}
	return rows
}

// outcome is what a handler answers.
type outcome struct {
	fields bson.D
	err    error
}

// runWithFaults runs a command with the faults that are planted for it.
func (f *Faults) runWithFaults(ctx context.Context, r *engine.Request, run engine.Handler) (bson.D, error) {
	if f.armed.Load() == 0 || exemptFromFaults(r.Name) {
		return run(ctx, r)
	}
	if r.Conn == nil {
		o := f.runSteps(ctx, r, run)
		return o.fields, o.err
	}
	t := &inflightCommand{db: r.DB, body: r.Body, early: make(chan error, 1)}
	if changes(r) {
		f.addInflight(t)
	}
	course, cancel := context.WithCancel(context.WithValue(context.WithoutCancel(ctx), inflightKey{}, t))
	if deadline, ok := ctx.Deadline(); ok {
		course, cancel = context.WithDeadline(course, deadline)
	}
	// The caller's end is the command's end unless the caller was answered before.
	unlink := context.AfterFunc(ctx, func() {
		if errors.Is(ctx.Err(), context.Canceled) {
			cancel()
		}
	})
	done := make(chan outcome, 1)
	started := f.cluster.goRun(f.cluster.life, func(life context.Context) {
		defer f.removeInflight(t)
		defer cancel()
		defer context.AfterFunc(life, cancel)()
		done <- f.runSteps(course, r, run)
	})
	if !started {
		f.removeInflight(t)
		unlink()
		cancel()
		return nil, status.Errorf(status.InterruptedAtShutdown, "interrupted at shutdown")
	}
	select {
	case o := <-done:
		unlink()
		select {
		case err := <-t.early: // it came first; both were there when we looked
			return nil, err
		default:
		}
		return o.fields, o.err
	case err := <-t.early:
		unlink()
		return nil, err
	}
}

// runSteps is a command from its arrival to its answer.
func (f *Faults) runSteps(ctx context.Context, r *engine.Request, run engine.Handler) (o outcome) {
	defer func() {
		if p := recover(); p != nil {
			f.cluster.log.Error("command failed", "command", r.Name, "panic", p, "stack", string(debug.Stack()))
			o = outcome{err: status.Errorf(status.InternalError, "%s failed: %v", r.Name, p)}
		}
	}()
	at := catalog.Point{Command: r.Name, Step: Received, NS: namespaceOf(r)}
	if err := f.trigger(ctx, at, r); err != nil {
		return outcome{err: err}
	}
	if err := f.awaitMembers(ctx, r); err != nil {
		return outcome{err: err}
	}
	o.fields, o.err = run(ctx, r)
	if t, ok := ctx.Value(inflightKey{}).(*inflightCommand); ok && t.twice {
		o.fields, o.err = run(ctx, r)
	}
	if o.err == nil {
		at.Step = Replying
		if err := f.trigger(ctx, at, r); err != nil {
			return outcome{err: err}
		}
	}
	return o
}

// atStep is what the catalog asks at the steps that it knows.
func (f *Faults) atStep(ctx context.Context, at catalog.Point) error {
	if err := f.trigger(ctx, at, nil); err != nil {
		return err
	}
	return f.waitThawed(ctx, at.From, at.To, configShard)
}

// exemptFromFaults says whether no rule strikes a command: those by which clients find out where
// they are and who they are, and the one that plants rules.
func exemptFromFaults(name string) bool {
	switch name {
	case "saslStart", "saslContinue", "authenticate", "logout", "ping", "endSessions", faultCommand:
		return true
	}
	return isHello(name)
}

// namespaceOf is the namespace that a command is about, "" when it is about none.
func namespaceOf(r *engine.Request) string {
	s, ok := r.Lookup(r.Name).StringValueOK()
	if !ok {
		return ""
	}
	if r.DB != "admin" {
		return r.DB + "." + s
	}
	if _, _, ok := cut(s); ok {
		return s
	}
	return ""
}
