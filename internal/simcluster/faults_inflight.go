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

// internalCommand marks the context of a command that did not arrive over a connection.
// Rules ignore it: they simulate what clients experience.
type internalCommand struct{}

// inflightKey is the context key of a command's inflightCommand.
type inflightKey struct{}

// inflightCommand is a running command. Its client may be answered before it ends.
type inflightCommand struct {
	db    string
	body  bson.Raw
	twice bool // only its own goroutine uses it
	early chan error
	once  sync.Once
}

func (t *inflightCommand) answer(err error) { t.once.Do(func() { t.early <- err }) }

// addInflight and removeInflight maintain the list of running commands that change the
// cluster: $currentOp shows them, as on mongos.
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

// inflightRows are the rows of $currentOp for them; without moves where the shards show what the config server asked.
func (f *Faults) inflightRows(relayed bool) (rows []bson.Raw) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, t := range f.trips {
		var command bson.D
		if name := commandName(t.body); relayed && (name == "moveChunk" || name == "moveRange") {
			continue
		}
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

// outcome is the result of a handler.
type outcome struct {
	fields bson.D
	err    error
}

// runWithFaults runs a command and applies the rules that match it.
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
	// The end of the caller's context ends the command, unless the caller already has an
	// answer.
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
		case err := <-t.early: // both channels were ready; the early answer came first
			return nil, err
		default:
		}
		return o.fields, o.err
	case err := <-t.early:
		unlink()
		return nil, err
	}
}

// runSteps runs a command from its arrival to its answer.
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

// atStep is the catalog's hook: it applies rules at the steps inside of commands and
// migrations.
func (f *Faults) atStep(ctx context.Context, at catalog.Point) error {
	if err := f.trigger(ctx, at, nil); err != nil {
		return err
	}
	members := []string{at.From, at.To, configShard}
	if f.cluster.relaysMoves() {
		// The config server begins a move that no client waits for any more, and the donor waits for the recipient.
		switch at.Step {
		case Targeted:
			members = members[2:]
		case Started:
			members = []string{at.From, configShard}
		}
	}
	return f.waitThawed(ctx, members...)
}

// exemptFromFaults reports whether rules do not apply to a command: handshakes,
// authentication, and the command that adds rules.
func exemptFromFaults(name string) bool {
	switch name {
	case "saslStart", "saslContinue", "authenticate", "logout", "ping", "endSessions", faultCommand:
		return true
	}
	return isHello(name)
}

// namespaceOf is the namespace that a command is about, "" when the command names none.
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
