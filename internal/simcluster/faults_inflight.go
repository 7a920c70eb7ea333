package simcluster

import (
	"context"
	"errors"
	"maps"
	"runtime/debug"
	"slices"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/catalog"
	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/pipeline"
	"shardboard/internal/simcluster/engine/query"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
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
		rows = append(rows, encode(value.D("type", "op", "desc", "conn22", "active", true, "secs_running", int64(0),
			"op", "command", "ns", t.db+".$cmd", "command", command)))
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
		f.mu.Lock()
		f.trips = append(f.trips, t)
		f.mu.Unlock()
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
	started := f.cluster.life.run(f.cluster.life.ctx, func(life context.Context) {
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
	_, err := f.waitThawed(ctx, members)
	if errors.Is(err, context.DeadlineExceeded) {
		return status.Errorf(status.MaxTimeMSExpired, "operation exceeded time limit")
	}
	return err
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

// Freeze stops a member ("config" or a shard's name) as SIGSTOP does. Operations that
// need it wait for Thaw, or fail at their time limit without any effect.
func (f *Faults) Freeze(member string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.frozen[member] == nil {
		f.frozen[member] = make(chan struct{})
		f.armed.Add(1)
	}
}

// Thaw resumes a member. It does nothing for one that is not frozen.
func (f *Faults) Thaw(member string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c := f.frozen[member]; c != nil {
		close(c)
		delete(f.frozen, member)
		f.armed.Add(-1)
		f.cluster.late.thaw(member, f.cluster.catalog.Now())
	}
}

// Frozen lists the frozen members, sorted.
func (f *Faults) Frozen() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string{}, slices.Sorted(maps.Keys(f.frozen))...)
}

// firstFrozen is the first of the members that is frozen.
func (f *Faults) firstFrozen(members []string) (string, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range members {
		if c := f.frozen[m]; c != nil {
			return m, c
		}
	}
	return "", nil
}

// waitThawed waits until none of the members is frozen. With an error it names one that is.
func (f *Faults) waitThawed(ctx context.Context, members []string) (blocking string, err error) {
	for {
		name, c := f.firstFrozen(members)
		if c == nil {
			return "", nil
		}
		if err := wait(ctx, nil, c); err != nil {
			return name, err
		}
	}
}

// awaitMembers waits for the members that a command needs; at its time limit it fails
// with the recorded error.
func (f *Faults) awaitMembers(ctx context.Context, r *engine.Request) error {
	if len(f.Frozen()) == 0 || answeredByRouter(r.Name) {
		return nil
	}
	const late = "operation exceeded time limit"
	if _, err := f.waitThawed(ctx, []string{configShard}); errors.Is(err, context.DeadlineExceeded) {
		if r.Name == "aggregate" && beginsWithStage(r, "$collStats") {
			return status.Errorf(status.MaxTimeMSExpired, "Unable to retrieve information for $collStats stage :: caused by :: %s", late)
		}
		if r.Name == "find" && r.DB == "config" && f.cluster.version.atLeast(8, 0, 0) {
			return status.Errorf(status.MaxTimeMSExpired, queryFailed+late)
		}
		return status.Errorf(status.MaxTimeMSExpired, late)
	} else if err != nil {
		return err
	}
	shard, err := f.waitThawed(ctx, f.cluster.requiredShards(ctx, r))
	if err != nil {
		f.cluster.giveUp(shard, r)
	}
	why := late
	if errors.Is(err, context.DeadlineExceeded) && f.cluster.version.atLeast(8, 0, 0) && !f.firstOn(shard) {
		why = noConnection
	}
	switch {
	case !errors.Is(err, context.DeadlineExceeded):
		return err
	case r.Name == "find" && f.cluster.version.atLeast(8, 0, 0):
		return status.Errorf(status.MaxTimeMSExpired, "%s", queryFailed+why)
	case r.Name == "find":
		return status.Errorf(status.NetworkInterfaceExceededTimeLimit, "%s", queryFailed+noConnection)
	case r.Name == "count":
		return status.Errorf(status.MaxTimeMSExpired, "failed on: %s :: caused by :: %s", shard, why)
	case r.Name == "explain":
		return status.Errorf(status.MaxTimeMSExpired, "Explain command on shard %s failed :: caused by :: %s", shard, why)
	}
	return status.Errorf(status.MaxTimeMSExpired, "%s", why)
}

// What the router says of a read that got no answer in time, and of one for which it got no connection.
const (
	queryFailed  = "Encountered non-retryable error during query :: caused by :: "
	noConnection = "Couldn't get a connection within the time limit"
)

// firstOn reports whether a command is the first that a frozen shard keeps waiting: it has the only open connection of
// the router, and those after it get none (seen on 8.0.10).
func (f *Faults) firstOn(member string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	frozen := f.frozen[member]
	if frozen == nil || f.used[member] == frozen {
		return false
	}
	f.used[member] = frozen
	return true
}

// answeredByRouter reports whether mongos answers a command without contacting another
// member.
func answeredByRouter(name string) bool {
	switch name {
	case "connPoolStats", "serverStatus", "buildInfo", "whatsmyuri", "hostInfo", "getCmdLineOpts", "getLog", "getParameter",
		"isdbgrid", "startSession", "refreshSessions", "killCursors":
		return true
	}
	return exemptFromFaults(name)
}

func beginsWithStage(r *engine.Request, stage string) bool {
	stages, err := pipeline.List(r.Lookup("pipeline"))
	return err == nil && pipeline.First(stages) == stage
}

// requiredShards lists the shards that a command needs, or more: writes and pipelines
// count every shard of their collection.
func (c *Cluster) requiredShards(ctx context.Context, r *engine.Request) []string {
	c.catalog.Mu.RLock()
	defer c.catalog.Mu.RUnlock()
	body, name, key := r.Body, r.Name, ""
	if name == "explain" {
		body, _ = r.Lookup("explain").DocumentOK()
		name = commandName(body)
	}
	switch name {
	case "find":
		key = "filter"
	case "count", "distinct", "findAndModify":
		key = "query"
	case "aggregate", "insert", "update", "delete", "collStats", "listIndexes", "createIndexes", "dropIndexes", "create", "drop":
	case "commitTransaction":
		return transactionOf(ctx).writtenShards()
	case "listCollections":
		_, home := c.home(r.DB)
		return []string{home}
	case "listDatabases", "dbStats", "dropDatabase", "currentOp", "killSessions", "killAllSessionsByPattern":
		return c.catalog.ShardNames()
	default:
		return nil // handled by the config server, or checked at the command's own steps
	}
	coll, ok := body.Lookup(name).StringValueOK()
	if !ok {
		return c.catalog.ShardNames()
	}
	var filter *query.Filter
	if d, ok := body.Lookup(key).DocumentOK(); ok {
		filter, _ = query.Parse(d, nil)
	}
	var shards []string
	for _, s := range c.target(r.DB, coll, filter).sources {
		if s.shard != configShard {
			shards = append(shards, s.shard)
		}
	}
	return shards
}
