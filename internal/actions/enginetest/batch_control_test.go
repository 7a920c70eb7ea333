package enginetest

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/refused"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// resume lets a batch go on, which must be permitted.
func (r *Rig) resume(run string, q engine.ResumeRequest) {
	r.Helper()
	r.Must(must.Err(r.Engine.Resume(r.Context(), Anna, run, q)))
}

func isHeld(run engine.Run) bool { return run.Batch.Hold != nil }

// ownerOf is the shard of the chunk of NS that begins at a key.
func (r *Rig) ownerOf(at int) string {
	r.Helper()
	return r.ReadFact(operation.Fact{Kind: operation.FactChunk, NS: NS, Min: P(at), Max: P(at + 10)})["shard"]
}

// checkMoved fails the test unless each chunk of NS that begins at one of the keys is on a shard, and
// was moved there once.
func (r *Rig) checkMoved(batch, shard string, from ...int) {
	r.Helper()
	for _, at := range from {
		expect.Equal(r, r.ownerOf(at), shard, "the chunk from %d is on", at)
	}
	sent := 0
	for _, c := range r.children(batch) {
		r.CheckSentOnce(c)
		sent += len(r.Sent(c.ID))
	}
	expect.That(r, sent == len(from), "%d commands for %d moves", sent, len(from))
	if n := len(r.Sent(batch)); n != 0 {
		r.Errorf("the batch itself sent %d commands", n)
	}
}

func TestPausedBatchStaysPausedOverARestart(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		p := r.Plan(actions.Batch, actions.Args{Plans: moves("shard-rs-2", 0, 10, 20)})
		id, rule := r.startAndHold(p, simcluster.Rule{Command: "moveChunk", At: simcluster.Cloned})
		r.Must(must.Err(r.Engine.Pause(r.Context(), Bert, id)))
		rule.Remove()
		run := r.Wait(id, func(run engine.Run) bool { return run.Batch.Done == 1 && len(run.Batch.Open) == 0 })
		time.Sleep(time.Hour)
		r.Restart()
		time.Sleep(time.Hour)
		run = r.runNow(id)
		if run.Batch.Done != 1 || run.Batch.Hold == nil || run.Batch.Hold.By != Bert.ID || run.State != engine.Waiting {
			r.Fatalf("%s: %+v", run.State, run.Batch)
		}
		refused.As(r, must.Err(r.Engine.Undo(r.Context(), Anna, id, "")), fault.Conflict, "an open batch was undone")
		r.resume(id, engine.ResumeRequest{})
		if run = r.WaitEnd(id); run.State != engine.Succeeded || run.Batch.Busy > time.Hour {
			r.Fatalf("%s %v, busy %s", run.State, run.Why, run.Batch.Busy)
		}
		r.checkMoved(id, "shard-rs-2", 0, 10, 20)
	})
}

func TestItemThatFailsIsTriedOnceMoreAndThenWaitsForAPerson(t *testing.T) {
	for _, do := range []string{engine.DoRetry, engine.DoSkip} {
		OnRig(t, Setup{}, func(r *Rig) {
			rule := r.Sim.Faults().Add(simcluster.Rule{Command: "moveChunk", At: simcluster.Received, Times: 2,
				Err: simcluster.Fail(13)})
			id := r.Start(r.Plan(actions.Batch, actions.Args{Plans: moves("shard-rs-2", 0, 10)})).ID
			run := r.Wait(id, isHeld)
			rule.Remove()
			if run.Batch.Hold.Code != engine.HoldItem || len(run.Batch.Waiting()) != 1 || len(r.children(id)) != 2 {
				r.Fatalf("%d runs: %+v", len(r.children(id)), run.Batch)
			}
			if _, err := r.Engine.Resume(r.Context(), Anna, id, engine.ResumeRequest{}); fault.Of(err) != fault.Conflict ||
				!strings.Contains(fault.Text(err), "Item 1") {
				r.Errorf("resumed without a decision: %v", err)
			}
			if _, err := r.Engine.Resume(r.Context(), Anna, id, engine.ResumeRequest{Item: 2, Do: do}); fault.Of(err) != fault.Conflict {
				r.Errorf("item 2 does not wait: %v", err)
			}
			r.resume(id, engine.ResumeRequest{Item: 1, Do: do})
			run = r.WaitEnd(id)
			want := engine.Succeeded
			if do == engine.DoSkip {
				want = engine.Stopped
			}
			expect.That(r, run.State == want && run.Batch.Done+run.Batch.Skipped == 2,
				"%s: %s %v %+v", do, run.State, run.Why, run.Batch)
			items, err := r.Engine.BatchItems(r.Context(), id, 0, 10)
			r.Must(err)
			if do == engine.DoSkip && (items[0].State != engine.Skipped || items[0].Why.IsZero()) || items[1].State != engine.Succeeded {
				r.Errorf("%s: %s %v, %s", do, items[0].State, items[0].Why, items[1].State)
			}
		})
	}
}

// slowShard makes latencies jump after the first look.
type slowShard struct{ looks int }

func (s *slowShard) OperationTimes(context.Context, topology.Namespace) (map[string]operation.OperationTimes, error) {
	s.looks++
	o := operation.OperationTimes{Reads: 10_000, ReadTime: 10 * time.Second} // 1 ms each
	if s.looks > 1 {
		o.Reads, o.ReadTime = o.Reads+100, o.ReadTime+10*time.Second // 100 ms each
	}
	return map[string]operation.OperationTimes{"shard-rs-2": o}, nil
}

func TestCanaryThatSlowsAShardDownPausesTheBatch(t *testing.T) {
	OnRig(t, Setup{Wrap: func(o *engine.Options) { o.Latencies = &slowShard{} }}, func(r *Rig) {
		id := r.Start(r.Plan(actions.Batch, actions.Args{Plans: moves("shard-rs-2", 0, 10)})).ID
		run := r.Wait(id, isHeld)
		if h := run.Batch.Hold; h.Code != engine.HoldGate || !strings.Contains(h.Why.String(), "shard-rs-2 takes 100 ms") || run.Batch.Done != 1 {
			r.Fatalf("%+v", run.Batch)
		}
		r.resume(id, engine.ResumeRequest{})
		if run = r.WaitEnd(id); run.State != engine.Succeeded || run.Batch.Done != 2 {
			r.Errorf("%s: %+v", run.State, run.Batch)
		}
	})
}

// sickTables is a watcher that knows something about the health of the cluster.
type sickTables struct {
	engine.Tables
	of   map[topology.Part]topology.Health
	sick *atomic.Bool
}

func (s sickTables) Table() *topology.Table {
	t := *s.Tables.Table()
	if !s.sick.Load() {
		return &t
	}
	t.Health = maps.Clone(t.Health)
	maps.Copy(t.Health, s.of)
	return &t
}

func TestHealthOfTheClusterIncludesWhatTheWatcherKnows(t *testing.T) {
	gone := fault.New(fault.Unavailable, "The shard shard-rs-3 does not answer.")
	denied := topology.Health{Denied: true, Err: fault.New(fault.Forbidden, "no")}
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		part   topology.Part
		health topology.Health
		finds  string // "": goes on
		says   string // that is not known
	}{
		"statistics":     {topology.PartSizes, topology.Health{At: at, Err: gone}, "shard-rs-3 does not answer", ""},
		"routing":        {topology.PartRouting, topology.Health{At: at, Err: gone}, "routing table could not be read since", ""},
		"not permitted":  {topology.PartSizes, denied, "", "may not read the statistics"},
		"never read":     {topology.PartSizes, topology.Health{}, "", "have not been read"},
		"nothing wrong":  {topology.PartSizes, topology.Health{At: at}, "", ""},
		"something else": {topology.PartSizes, topology.Health{At: at, Err: errors.New("odd")}, "", "have not been read"},
	} {
		var sick atomic.Bool
		OnRig(t, Setup{Wrap: func(o *engine.Options) {
			o.Tables = sickTables{o.Tables, map[topology.Part]topology.Health{c.part: c.health}, &sick}
		}},
			func(r *Rig) {
				r.Sim.Faults().Add(simcluster.Rule{Command: "moveChunk", At: simcluster.Replying,
					Do: func(context.Context, *simcluster.Cluster) error { sick.Store(true); return nil }})
				id := r.Start(r.Plan(actions.Batch, actions.Args{Plans: moves("shard-rs-2", 0, 10)})).ID
				run := r.Wait(id, func(run engine.Run) bool { return hasEnded(run) || isHeld(run) })
				if isHeld(run) != (c.finds != "") || isHeld(run) && !strings.Contains(run.Batch.Hold.Why.String(), c.finds) {
					r.Errorf("%s: %s %+v", name, run.State, run.Batch)
				}
				all := ""
				for _, m := range run.Batch.Gates[0].Unknown {
					all += m.String() + "\n"
				}
				if !strings.Contains(all, "Not known: secondaries, replication lag and tickets.") ||
					strings.Contains(all, "whether all shards answer") != (c.says != "" || c.part == topology.PartRouting) ||
					!strings.Contains(all, c.says) {
					r.Errorf("%s: not known is %q", name, all)
				}
			})
	}
}

// shardAway does not answer a number of looks after the first.
type shardAway struct{ looks, away int }

func (s *shardAway) OperationTimes(context.Context, topology.Namespace) (map[string]operation.OperationTimes, error) {
	if s.looks++; s.looks > 1 && s.looks <= 1+s.away {
		return nil, fault.Wrap(fault.Unavailable, errors.New("gone"), "The shard shard-rs-2 does not answer.")
	}
	return nil, nil
}

func TestShardThatDoesNotAnswerForAMomentDoesNotPauseTheBatch(t *testing.T) {
	for away, pauses := range map[int]bool{2: false, 3: true} {
		OnRig(t, Setup{Wrap: func(o *engine.Options) { o.Latencies = &shardAway{away: away} }}, func(r *Rig) {
			id := r.Start(r.Plan(actions.Batch, actions.Args{Plans: moves("shard-rs-2", 0, 10)})).ID
			run := r.Wait(id, func(run engine.Run) bool { return hasEnded(run) || isHeld(run) })
			expect.Equal(r, isHeld(run), pauses, "whether it pauses: %d looks without an answer: %s %+v", away, run.State, run.Batch)
		})
	}
}

func TestBatchIsStoppedWhileItWaitsForAShardToAnswer(t *testing.T) {
	OnRig(t, Setup{Wrap: func(o *engine.Options) { o.Latencies = &shardAway{away: 100} }}, func(r *Rig) {
		id := r.Start(r.Plan(actions.Batch, actions.Args{Plans: moves("shard-rs-2", 0, 10)})).ID
		r.Wait(id, func(run engine.Run) bool { return run.Batch.Done == 1 })
		time.Sleep(time.Second)
		r.stop(id)
		begun := time.Now()
		if run := r.WaitEnd(id); run.State != engine.Stopped || time.Since(begun) > time.Second || len(r.children(id)) != 1 {
			r.Errorf("%s after %s: %+v", run.State, time.Since(begun), run.Batch)
		}
	})
}

func TestBatchKeepsItsLimitsPerHour(t *testing.T) {
	for name, c := range map[string]struct {
		limit func(*actions.Args)
		after [3]time.Duration // each move begins at the earliest
	}{
		// The size of an empty collection's chunks is not known, so each move counts as 128 MiB.
		"bytes":  {func(a *actions.Args) { a.BytesPerHour = 512 << 20 }, [3]time.Duration{0, 15 * time.Minute, 30 * time.Minute}},
		"chunks": {func(a *actions.Args) { a.ChunksPerHour = 2 }, [3]time.Duration{0, 30 * time.Minute, time.Hour}},
	} {
		OnRig(t, Setup{}, func(r *Rig) {
			split := actions.PlannedChange{Kind: actions.Split, Args: actions.Args{NS: NS, At: P(35)}} // moves nothing, so it does not wait
			args := actions.Args{Plans: append(moves("shard-rs-2", 0, 10, 20), split)}
			c.limit(&args)
			begun := time.Now()
			id := r.Start(r.Plan(actions.Batch, args)).ID
			run := r.Wait(id, func(run engine.Run) bool { return !run.Batch.Waits.IsZero() })
			expect.That(r, !run.Batch.Next.IsZero() && run.State == engine.Waiting, "%s: %s: %+v", name, run.State, run.Batch)
			r.Restart()
			run = r.WaitEnd(id)
			children := r.children(id)
			must.That(r, run.State == engine.Succeeded && len(children) == 4,
				"%s: %s %v, %d runs", name, run.State, run.Why, len(children))
			for _, child := range children {
				after := time.Duration(0)
				if child.Kind == actions.MoveChunk {
					after = c.after[child.Item-1]
				}
				if at := child.Started.Sub(begun); at < after || at > after+5*time.Minute {
					r.Errorf("%s: item %d began after %s", name, child.Item, at)
				}
			}
		})
	}
}

func TestBatchWaitsForItsMaintenanceWindow(t *testing.T) {
	OnRig(t, maintenanceWindow(t, "00:00-01:10", "04:00-05:00"), func(r *Rig) {
		begun := time.Now()
		id := r.Start(r.Plan(actions.Batch, actions.Args{Plans: moves("shard-rs-2", 0, 10), ChunksPerHour: 4})).ID
		time.Sleep(20 * time.Minute) // the second item may begin after a quarter of an hour, when the window has closed
		run := r.runNow(id)
		must.That(r, run.State == engine.Waiting && run.Batch.Done == 1 && run.Batch.Waits.Code == "batch.maintenance",
			"%s: %+v", run.State, run.Batch)
		r.Restart()
		time.Sleep(2 * time.Hour)
		if run = r.runNow(id); run.Batch.Done != 1 || len(r.children(id)) != 1 {
			r.Fatalf("%s: %+v", run.State, run.Batch)
		}
		run = r.WaitEnd(id)
		children := r.children(id)
		must.That(r, run.State == engine.Succeeded && len(children) == 2, "%s %v, %d runs", run.State, run.Why, len(children))
		if h := children[1].Started.UTC().Hour(); h != 4 || children[1].Started.Sub(begun) < 2*time.Hour {
			r.Errorf("item 2 began at %s", children[1].Started)
		}
	})
}

func TestStoppedBatchStopsItsOpenItemAndItsRestCanBePlanned(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		p := r.Plan(actions.Batch, actions.Args{Plans: moves("shard-rs-2", 0, 10, 20)})
		id, rule := r.startAndHold(p, simcluster.Rule{Command: "moveChunk", At: simcluster.Cloned})
		r.stop(id)
		rule.Remove()
		run := r.WaitEnd(id)
		must.That(r, run.State == engine.Stopped && run.StopBy == Bert.ID && len(r.children(id)) == 1,
			"%s %v, %d runs", run.State, run.Why, len(r.children(id)))
		p, err := r.Engine.Finish(r.Context(), Anna, id, "")
		r.Must(err)
		must.That(r, len(p.Steps) == 2, "%d items are left", len(p.Steps))
		r.succeeds(r.Start(p).ID)
	})
}

func TestBatchIsUndoneGroupByGroup(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		plans := append(moves("shard-rs-2", 0, 10), actions.PlannedChange{Kind: actions.Split, Args: actions.Args{NS: NS, At: P(25)}})
		run := r.PlanAndRun(actions.Batch, actions.Args{Plans: plans, Group: 2})
		children := r.children(run.ID)
		must.That(r, run.State == engine.Succeeded && len(children) == 3 && run.CanUndo(),
			"%s %v: %+v", run.State, run.Why, run.Batch)
		// Item 2 is undone by itself; the undo of the batch leaves it out.
		one := r.undo(children[1].ID)
		r.succeeds(r.Start(one).ID)
		p := r.undo(run.ID)
		if len(p.Steps) != 2 || p.Steps[0].Item.UndoOf != children[2].ID || p.Steps[0].Item.Group != 1 || p.Steps[1].Item.Group != 2 ||
			p.Kind != actions.Batch || p.UndoOf != run.ID {
			r.Fatalf("%+v", p.Steps)
		}
		undo := r.WaitEnd(r.Start(p).ID)
		must.That(r, undo.State == engine.Succeeded && undo.UndoOf == run.ID, "%s %v: %+v", undo.State, undo.Why, undo.Batch)
		for _, at := range []int{0, 10, 20} {
			expect.Equal(r, r.ownerOf(at), "shard-rs-1", "the chunk from %d is on", at)
		}
		after := r.runNow(run.ID)
		expect.That(r, after.State == engine.Undone && after.UndoneBy == undo.ID, "%s by %q", after.State, after.UndoneBy)
		refused.As(r, must.Err(r.Engine.Undo(r.Context(), Anna, run.ID, "")), fault.Conflict, "undone twice")
	})
}

func TestUndoOfAStoppedUndoHasWhatIsLeft(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		run := r.PlanAndRun(actions.Batch, actions.Args{Plans: moves("shard-rs-2", 0, 10, 20)})
		p := r.undo(run.ID)
		undo, rule := r.startAndHold(p, simcluster.Rule{Command: "moveChunk", At: simcluster.Cloned, Nth: 2})
		r.stop(undo)
		rule.Remove()
		if half := r.WaitEnd(undo); half.State != engine.Stopped {
			r.Fatalf("%s %v", half.State, half.Why)
		}
		p = r.undo(run.ID)
		must.That(r, len(p.Steps) != 0 && len(p.Steps) <= 2, "%d items are left", len(p.Steps))
		r.succeeds(r.Start(p).ID)
		after := r.runNow(run.ID)
		expect.Equal(r, after.State, engine.Undone, "the batch")
	})
}
