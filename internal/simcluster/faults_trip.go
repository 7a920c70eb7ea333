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

// insider marks the context of a command that did not come over a connection: rules
// pass it over, as they are about what a client sees.
type insider struct{}

// tripKey finds the trip of a command in its context.
type tripKey struct{}

// trip is one command on its way through the cluster. Its client may be answered
// before it ends.
type trip struct {
	db    string
	body  bson.Raw
	twice bool // only its own goroutine uses it
	early chan error
	once  sync.Once
}

func (t *trip) answer(err error) { t.once.Do(func() { t.early <- err }) }

// depart and arrive keep the list of commands that change the cluster and are on
// their way: $currentOp shows them, as a router does.
func (f *Faults) depart(t *trip) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.trips = append(f.trips, t)
}

func (f *Faults) arrive(t *trip) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.trips = slices.DeleteFunc(f.trips, func(o *trip) bool { return o == t })
}

// underway are their rows.
func (f *Faults) underway() (rows []bson.Raw) {
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

// around runs a command with the faults that are planted for it.
func (f *Faults) around(ctx context.Context, r *engine.Request, run engine.Handler) (bson.D, error) {
	if f.armed.Load() == 0 || spared(r.Name) {
		return run(ctx, r)
	}
	if r.Conn == nil {
		o := f.course(ctx, r, run)
		return o.fields, o.err
	}
	t := &trip{db: r.DB, body: r.Body, early: make(chan error, 1)}
	if changes(r) {
		f.depart(t)
	}
	course, cancel := context.WithCancel(context.WithValue(context.WithoutCancel(ctx), tripKey{}, t))
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
		defer f.arrive(t)
		defer cancel()
		defer context.AfterFunc(life, cancel)()
		done <- f.course(course, r, run)
	})
	if !started {
		f.arrive(t)
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

// course is a command from its arrival to its answer.
func (f *Faults) course(ctx context.Context, r *engine.Request, run engine.Handler) (o outcome) {
	defer func() {
		if p := recover(); p != nil {
			f.cluster.log.Error("command failed", "command", r.Name, "panic", p, "stack", string(debug.Stack()))
			o = outcome{err: status.Errorf(status.InternalError, "%s failed: %v", r.Name, p)}
		}
	}()
	at := catalog.Point{Command: r.Name, Step: Received, NS: subject(r)}
	if err := f.strike(ctx, at, r); err != nil {
		return outcome{err: err}
	}
	if err := f.await(ctx, r); err != nil {
		return outcome{err: err}
	}
	o.fields, o.err = run(ctx, r)
	if t, ok := ctx.Value(tripKey{}).(*trip); ok && t.twice {
		o.fields, o.err = run(ctx, r)
	}
	if o.err == nil {
		at.Step = Replying
		if err := f.strike(ctx, at, r); err != nil {
			return outcome{err: err}
		}
	}
	return o
}

// hook is what the catalog asks at the steps that it knows.
func (f *Faults) hook(ctx context.Context, at catalog.Point) error {
	if err := f.strike(ctx, at, nil); err != nil {
		return err
	}
	return f.thawed(ctx, at.From, at.To, configShard)
}

// spared says whether no rule strikes a command: those by which clients find out where
// they are and who they are, and the one that plants rules.
func spared(name string) bool {
	switch name {
	case "saslStart", "saslContinue", "authenticate", "logout", "ping", "endSessions", faultCommand:
		return true
	}
	return isHello(name)
}

// subject is the namespace that a command is about, "" when it is about none.
func subject(r *engine.Request) string {
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
