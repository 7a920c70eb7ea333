package topology

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"shardboard/internal/clock"
	"shardboard/internal/fault"
)

const (
	// deniedFor is for how long a read that was not permitted is not tried again.
	deniedFor = time.Minute
	// countsPerTurn is how many collections are counted at most in one turn.
	countsPerTurn = 2
	// countAfter is the age from which a migration's documents are counted when
	// nobody looks at its collection: most are over sooner.
	countAfter = 2 * time.Second
	// shardsWait is how long the shards may take to tell what they do, or to count:
	// one that hangs must not hold the list up.
	shardsWait = 3 * time.Second
	// slowest is the longest pause between two looks at a migration that takes
	// long: a sixtieth of its age, within the poll's pause and this.
	slowest = time.Minute
	// unconfirmedFor is how long a migration that only the changelog tells of
	// counts as under way: a donor that fails over never logs the end.
	unconfirmedFor = 15 * time.Minute
	// unseenTurns is how often a donor must not show the command of a migration
	// that only the changelog tells of until it counts as over.
	unseenTurns = 2
)

// watchMoves keeps the list of migrations under way: one small read a turn while
// nothing moves. Not to be able to tell is no failure of the watcher.
func (w *Watcher) watchMoves(ctx context.Context) error {
	src, ok := w.src.(MoveSource)
	if !ok {
		return nil
	}
	select {
	case <-w.loaded:
	case <-ctx.Done():
		return ctx.Err()
	}
	f := flights{w: w, src: src}
	failed := 0
	for {
		pause := w.o.Routing
		if err := f.turn(ctx); err != nil {
			failed++
			pause = min(w.o.Routing<<min(failed-1, 16), max(w.o.MaxBackoff, w.o.Routing))
		} else {
			failed = 0
		}
		if err := f.untilTurn(ctx, pause); err != nil {
			return err
		}
	}
}

// untilTurn waits until migrations are looked at again. While the changelog is followed that is when it tells of one,
// and as long as one is known after the pause, too.
func (f *flights) untilTurn(ctx context.Context, pause time.Duration) error {
	if f.w.follower.isLive() && len(f.list) == 0 {
		pause = max(pause, followedMoves)
	}
	if err := clock.Sleep(ctx, min(pause, followGap)); err != nil {
		return err
	}
	return sleepOr(ctx, pause-min(pause, followGap), f.w.follower.moving)
}

// flights is the state of the poll of migrations; one goroutine's.
type flights struct {
	w         *Watcher
	src       MoveSource
	list      []*flight
	over      []Migration // of the changelog, found to be over although no entry tells it
	refused   error       // why the list may not be read
	refusedAt time.Time   // when it was asked for last
	asked     time.Time   // when the shards were asked for operations
	steps     error       // why operations could not be read
}

// flight is one migration and what was seen of it.
type flight struct {
	listed
	row     InFlight
	first   time.Time // when it was first seen
	unseen  int       // turns in which its donor did not show it
	counted time.Time // when counting was last tried
	failed  error     // why that failed
	base    int64     // the recipient's first count, and when
	baseAt  time.Time
}

// turn looks once. The error is the list's: what else could not be read is told
// with the migrations that it concerns.
func (f *flights) turn(ctx context.Context) error {
	now := time.Now()
	rows, fromLog, err := f.read(ctx, now)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil {
		ended := f.take(rows, now)
		if len(f.list) > 0 {
			f.look(ctx, now)
		} else if fault.Of(f.steps) != fault.Forbidden {
			f.steps, f.asked = nil, time.Time{} // what is not permitted is so for the next move, too
		}
		if ended && !fromLog {
			// What came of it is in the changelog now: not to be seen only at the
			// next slow poll.
			_, _ = f.w.pollEvents(ctx)
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	f.publish(err, fromLog)
	return err
}

// read gives the list of the config server, and where that is not complete or
// may not be read what the changelog tells too.
func (f *flights) read(ctx context.Context, now time.Time) (rows []listed, fromLog bool, err error) {
	if f.refused == nil || now.Sub(f.refusedAt) >= deniedFor {
		read, cancel := context.WithTimeout(ctx, f.w.o.Timeout)
		list, complete, err := f.src.Migrations(read)
		cancel()
		f.refused, f.refusedAt = nil, now
		switch {
		case fault.Of(err) == fault.Forbidden:
			f.refused = err
		case err != nil:
			return nil, false, err
		}
		for _, m := range list {
			rows = append(rows, listed{Migration: m})
		}
		if err == nil && complete {
			return rows, false, nil
		}
	}
	if _, err := f.w.pollEvents(ctx); err != nil {
		return nil, true, err
	}
	f.over = slices.DeleteFunc(f.over, func(m Migration) bool { return now.Sub(m.Begun) > 2*unconfirmedFor })
	for _, m := range LoggedMoves(f.w.Table().Events) {
		if i := slices.IndexFunc(rows, func(o listed) bool { return o.is(m) }); i >= 0 {
			continue
		}
		isOver := slices.ContainsFunc(f.over, func(o Migration) bool { return o.is(m) && o.Begun.Equal(m.Begun) })
		confirmed := slices.ContainsFunc(f.list, func(o *flight) bool { return o.is(m) && o.row.By != "" && o.unseen == 0 })
		if !isOver && (confirmed || now.Sub(m.Begun) <= unconfirmedFor) {
			rows = append(rows, listed{m, true})
		}
	}
	return rows, true, nil
}

// listed is a migration and whether only the changelog tells of it.
type listed struct {
	Migration
	logged bool
}

// take compares the list with what was known and tells whether something ended.
func (f *flights) take(rows []listed, now time.Time) (ended bool) {
	list := make([]*flight, 0, len(rows))
	for _, m := range rows {
		i := slices.IndexFunc(f.list, func(o *flight) bool { return o.is(m.Migration) && (o.logged != m.logged || o.Begun.Equal(m.Begun)) })
		if i >= 0 {
			f.list[i].logged = m.logged
			list = append(list, f.list[i])
			continue
		}
		n := &flight{listed: m, first: now}
		n.Min, n.Max = bytes.Clone(m.Min), bytes.Clone(m.Max)
		n.row = InFlight{NS: m.NS, Min: n.Min, Max: n.Max, From: m.From, To: m.To, Since: m.Begun, Wait: m.Wait,
			Copied: Figure{Reason: "notLoaded"}, Left: TimeLeft{Reason: "notLoaded"}}
		if m.Begun.IsZero() {
			n.row.Since, n.row.AtLeast = now, true
		}
		list = append(list, n)
	}
	for _, o := range f.list {
		ended = ended || !slices.Contains(list, o)
	}
	f.list = list
	return ended
}

// look asks the shards about the migrations: what they do, and how many
// documents the recipients have.
func (f *flights) look(ctx context.Context, now time.Time) {
	youngest := f.list[0].first
	for _, x := range f.list {
		if x.first.After(youngest) {
			youngest = x.first
		}
	}
	if fresh := !youngest.Before(now); fresh || f.due(f.asked, youngest, now) {
		f.operations(ctx, now)
	}
	f.count(ctx, now)
	t := f.w.Table()
	for _, x := range f.list {
		// The first estimate stays: what it is made from changes with the commit.
		if !x.row.Estimate.Known {
			x.row.Estimate = estimateRows(t, x.row)
		}
		x.row.Left = x.left()
	}
}

// due tells whether to look again at what began then: the longer it takes, the
// rarer.
func (f *flights) due(last, begun, now time.Time) bool {
	pause := min(max(now.Sub(begun)/60, f.w.o.Routing), max(slowest, f.w.o.Routing))
	return now.Sub(last) >= pause-f.w.o.Routing/2
}

// rest is how long to leave alone what failed.
func (f *flights) rest(err error) time.Duration {
	switch {
	case err == nil:
		return 0
	case fault.Of(err) == fault.Forbidden:
		return deniedFor
	}
	return f.w.o.Slow
}

// operations asks what the shards do and gives it to the migrations.
func (f *flights) operations(ctx context.Context, now time.Time) {
	if now.Sub(f.asked) < f.rest(f.steps) {
		return
	}
	f.asked = now
	read, cancel := context.WithTimeout(ctx, min(f.w.o.Timeout, shardsWait))
	defer cancel()
	ops, err := f.src.MoveOperations(read)
	if f.steps = err; err != nil {
		return
	}
	b := f.w.Table().Balancer
	f.list = slices.DeleteFunc(f.list, func(x *flight) bool {
		if seen := x.reported(ops, b, now); seen || !x.logged {
			return false
		}
		if x.unseen++; x.unseen < unseenTurns {
			return false
		}
		f.over = append(f.over, x.Migration)
		return true
	})
}

// reported takes over what shards say of a migration, and tells whether the
// donor shows its command. A shard takes part in one migration at a time, so a
// step belongs to the one that its shard is in.
func (x *flight) reported(ops []MoveOperation, b Balancer, now time.Time) (seen bool) {
	for _, o := range ops {
		switch {
		case o.Command && (o.NS != x.NS || o.From != x.From || o.Min != nil && !bytes.Equal(o.Min, x.Min)):
			continue
		case o.Command:
			seen = true
			if x.row.By == "" {
				x.row.By, x.row.App, x.row.Relayed = o.requester(b), o.App, o.Relayed
			}
			if o.Running > 0 && (x.row.AtLeast || x.row.Since.After(now)) {
				x.row.Since, x.row.AtLeast = now.Add(-o.Running).Truncate(time.Second), false
			}
		}
		if o.Steps == 0 {
			continue
		}
		// Steps only go forward: a thread that does not show for a moment has not
		// gone back.
		switch o.Shard {
		case x.From:
			if x.row.Steps = o.Steps; o.Step >= x.row.Step {
				x.row.Step, x.row.StepInferred = o.Step, false
			}
		case x.To:
			x.row.RecipientStep, x.row.RecipientSteps = max(x.row.RecipientStep, o.Step), o.Steps
		}
	}
	x.inferStep()
	if seen {
		x.unseen = 0
	}
	return seen
}

// requester is who asked for the migration. Of one that the config server relays only a balancer that moves
// nothing tells: then it was a client.
func (o MoveOperation) requester(b Balancer) MoveBy {
	switch {
	case o.App != "", o.Relayed && b.StatusKnown && b.Known && !b.Moves() && !b.InRound:
		return MoveByClient
	case o.Relayed:
		return ""
	}
	return MoveByBalancer
}

// inferStep says how far the donor is while the recipient copies: a real donor
// shows its thread for moments only, and waits for the recipient once it has done
// its third step (seen on 5.0.7, whose recipient has seven).
func (x *flight) inferStep() {
	known := x.row.Steps == donorSteps || x.row.Steps == 0 && slices.Contains(recipientSteps, x.row.RecipientSteps)
	if known && x.row.RecipientStep >= recipientCopies && x.row.Step < startedStep {
		x.row.Step, x.row.Steps, x.row.StepInferred = startedStep, donorSteps, true
	}
}

// publish swaps the list in. Nobody is told when it looks as before.
func (f *flights) publish(err error, fromLog bool) {
	next := Moves{FromLog: fromLog}
	var lacking *DeniedError
	if errors.As(f.refused, &lacking) {
		next.ListPrivilege = lacking.Privilege
	}
	if f.steps != nil {
		next.StepsReason = reasonOf(f.steps)
		var denied *DeniedError
		if errors.As(f.steps, &denied) {
			next.StepsPrivilege = denied.Privilege
		}
	}
	for _, x := range f.list {
		next.List = append(next.List, x.row)
	}
	slices.SortStableFunc(next.List, func(a, b InFlight) int { return a.Since.Compare(b.Since) })
	was := f.w.Table().Health[PartMoves]
	f.w.publish(func(t *Table) bool {
		loud := t.note(PartMoves, err)
		if err != nil {
			return loud // what was known stays, with its time
		}
		loud = loud || !t.Moves.equal(next)
		t.Moves = next
		return loud
	})
	f.w.logHealth(PartMoves, was, f.w.Table().Health[PartMoves])
}
