package enginetest

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/change"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/refused"
	"shardboard/internal/topology"
)

func TestBatchesThatCannotBePlannedAreRefused(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		move := moves("shard-rs-2", 0)[0]
		for name, c := range map[string]struct {
			args actions.Args
			kind fault.Kind
			says string
		}{
			"no items":          {actions.Args{}, fault.Invalid, `"plans"`},
			"too many":          {actions.Args{Plans: slices.Repeat([]actions.PlannedChange{move}, 1001)}, fault.Invalid, "1001"},
			"a batch":           {actions.Args{Plans: []actions.PlannedChange{move, {Kind: actions.Batch}}}, fault.Invalid, "Item 2: A batch"},
			"unknown kind":      {actions.Args{Plans: []actions.PlannedChange{{Kind: "mend"}}}, fault.Invalid, `"mend"`},
			"a setting":         {actions.Args{Plans: []actions.PlannedChange{{Kind: actions.BalancerOff}}}, fault.Invalid, "not run in batches"},
			"the same twice":    {actions.Args{Plans: []actions.PlannedChange{move, move}}, fault.Invalid, "Items 1 and 2"},
			"no such shard":     {actions.Args{Plans: moves("shard-rs-9", 0)}, fault.NotFound, "Item 1"},
			"two lists":         {actions.Args{Plans: []actions.PlannedChange{move}, Projects: []string{"a"}}, fault.Invalid, "once"},
			"no kind":           {actions.Args{Projects: []string{"a"}}, fault.Invalid, `"each"`},
			"kind of chunks":    {actions.Args{Projects: []string{"a"}, Each: "move"}, fault.Invalid, `"each"`},
			"shared with plans": {actions.Args{Plans: []actions.PlannedChange{move}, To: "shard-rs-2"}, fault.Invalid, `"to"`},
			"group of 1,001":    {actions.Args{Plans: []actions.PlannedChange{move}, Group: 1001}, fault.Invalid, `"group"`},
		} {
			_, err := r.Engine.Plan(r.Context(), Anna, engine.Request{Kind: actions.Batch, Args: c.args, Reason: "a test"})
			expect.That(r, fault.Of(err) == c.kind && strings.Contains(fault.Text(err), c.says), "%s: %v", name, err)
		}
	})
}

func TestABlockedItemBlocksItsBatchAndIsNamed(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		p := r.Plan(actions.Batch, actions.Args{Plans: append(moves("shard-rs-2", 0), moves("shard-rs-1", 10)...)})
		i := slices.IndexFunc(p.Checks, func(c actions.Check) bool { return c.Verdict == actions.Block })
		if i < 0 || !strings.HasPrefix(p.Checks[i].Text.String(), "Item 2: The chunk is already on shard-rs-1") {
			r.Fatalf("%+v", p.Checks)
		}
		if _, _, err := r.RunPlan(Anna, p); err == nil {
			r.Error("it runs")
		}
		two := append(moves("shard-rs-2", 0), moves("shard-rs-3", 0)...)
		expect.That(r, r.Plan(actions.Batch, actions.Args{Plans: two}).Blocked(), "two items move the same chunk")
	})
}

func TestTheHashOfABatchChangesWithItsItems(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		seen := map[string]string{}
		for name, a := range map[string]actions.Args{
			"one":       {Plans: moves("shard-rs-2", 0, 10)},
			"other way": {Plans: moves("shard-rs-2", 10, 0)},
			"elsewhere": {Plans: moves("shard-rs-3", 0, 10)},
			"no canary": {Plans: moves("shard-rs-2", 0, 10), Canary: new(bool)},
		} {
			hash := r.Plan(actions.Batch, a).Hash
			expect.Equal(r, seen[hash], "", "%s: what has the same hash", name)
			seen[hash] = name
		}
		before := r.Plan(actions.Batch, actions.Args{Plans: moves("shard-rs-2", 0, 10)})
		r.Must(change.Send(r.Context(), r.Client, "", operation.Step{Op: operation.OpSplitAt, NS: NS, At: P(35)})) // another chunk
		expect.Equal(r, r.Plan(actions.Batch, actions.Args{Plans: moves("shard-rs-2", 0, 10)}).Hash, before.Hash,
			"the hash depends on other chunks")
		r.Must(change.Send(r.Context(), r.Client, "", operation.Step{Op: operation.OpMove, NS: NS, Min: P(10), Max: P(20), Shard: "shard-rs-3"}))
		expect.That(r, r.Plan(actions.Batch, actions.Args{Plans: moves("shard-rs-2", 0, 10)}).Hash != before.Hash,
			"the hash does not depend on where its chunks are")
	})
}

// other creates a collection like NS.
func (r *Rig) other(ns topology.Namespace) {
	r.Helper()
	r.Admin(bson.D{{Key: "shardCollection", Value: ns}, {Key: "key", Value: bson.D{{Key: "p", Value: 1}}}})
	r.Admin(bson.D{{Key: "split", Value: ns}, {Key: "middle", Value: bson.D{{Key: "p", Value: 0}}}})
}

func TestItemsOfOtherCollectionsRunAtTheSameTimeWithinTheLimitPerShard(t *testing.T) {
	for perShard, most := range map[int]int{1: 1, 2: 2} {
		OnRig(t, Setup{}, func(r *Rig) {
			plans := moves("shard-rs-2", 0)
			for i := range 3 {
				ns := topology.Namespace(fmt.Sprintf("app.c%d", i))
				r.other(ns)
				bounds := [2]bson.Raw{P(bson.MinKey{}), P(0)}
				plans = append(plans, actions.PlannedChange{Kind: actions.Split, Args: actions.Args{NS: ns, At: P(5)}},
					actions.PlannedChange{Kind: actions.MoveChunk, Args: actions.Args{NS: ns, Bounds: bounds, To: "shard-rs-2"}})
			}
			id := r.Start(r.Plan(actions.Batch, actions.Args{Plans: plans, Canary: new(bool), PerShard: perShard})).ID
			at, moving := 0, 0
			run := r.Wait(id, func(run engine.Run) bool {
				at = max(at, len(run.Batch.Open))
				n := 0
				for _, o := range run.Batch.Open {
					if child, err := r.Engine.RunByID(r.Context(), o.Run); err == nil && child.Kind == actions.MoveChunk {
						n++
					}
				}
				moving = max(moving, n)
				return hasEnded(run)
			})
			expect.That(r, run.State == engine.Succeeded && moving <= most,
				"%s %v, %d moves at a time", run.State, run.Why, moving)
		})
	}
}

func TestBatchOfAThousandItemsIsSavedInSmallWrites(t *testing.T) {
	items := sampleSize(60, 150, 1000)
	OnRig(t, Setup{}, func(r *Rig) {
		var plans []actions.PlannedChange
		for i := range items {
			plans = append(plans, actions.PlannedChange{Kind: actions.Split, Args: actions.Args{NS: NS, At: P(1000 + i)}})
		}
		begun := time.Now()
		p := r.Plan(actions.Batch, actions.Args{Plans: plans, Group: 100})
		id := r.Start(p).ID
		saves, size := 0, 0
		r.Disk.Fail(nil, func(w Write) error {
			if w.Run == id && w.What != "audit" {
				saves++
			}
			return nil
		})
		run := r.Wait(id, func(run engine.Run) bool { return hasEnded(run) || isHeld(run) })
		r.Disk.Fail(nil, nil)
		must.That(r, run.State == engine.Succeeded && run.Batch.Done == items, "%s %v: %+v", run.State, run.Why, run.Batch)
		record, err := r.handle.RunRecord(r.Context(), id)
		r.Must(err)
		if size = len(record.Body); size > 16<<10 || saves > 5*items {
			r.Errorf("%d bytes, %d writes", size, saves)
		}
		t.Logf("%d items: %s of the cluster's time, %d writes of the batch, its record has %d bytes", items, time.Since(begun), saves, size)
		page, err := r.Engine.BatchItems(r.Context(), id, items-10, 50)
		r.Must(err)
		expect.That(r, len(page) == 10 && page[9].Number == items && page[9].State == engine.Succeeded,
			"%d items: %+v", len(page), page)
	})
}

func TestBlockedItemsAreLeftOutAndListedWhenSomebodyAsksForIt(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		flagFirstChunk(r)
		plans := moves("shard-rs-2", 0, 10)               // the first is jumbo
		plans = append(plans, moves("shard-rs-1", 20)...) // is there already
		plans = append(plans, moves("shard-rs-3", 10)...) // overlaps the second
		plans = append(plans, moves("shard-rs-9", 20)...) // no such shard
		for i := range 12 {                               // no such chunks
			plans = append(plans, moves("shard-rs-2", 1001+i)...)
		}
		with := engine.Request{Kind: actions.Batch, Args: actions.Args{Plans: plans}, Reason: "a test"}
		expect.That(r, must.Err(r.Engine.Plan(r.Context(), Anna, with)) != nil, "planned with items that cannot be")
		p := r.Plan(actions.Batch, actions.Args{Plans: plans, LeaveOut: true})
		must.That(r, !p.Blocked() && len(p.Steps) == 1 && len(p.Args.Plans) == 1 && !p.Args.LeaveOut,
			"%d items, %+v", len(p.Steps), p.Checks)
		var texts []string
		for _, c := range p.Checks {
			if c.ID == "leftOut" && c.Verdict == actions.Warn {
				texts = append(texts, c.Text.String())
			}
		}
		all := strings.Join(texts, "\n")
		expect.ContainsAll(r, all, []string{"Item 1 of the request is left out", "jumbo", "Item 3", "already on shard-rs-1", "Item 4",
			"an earlier item moves", "Item 5", "shard-rs-9", "6 more items of the request are left out: 12, 13, 14, 15, 16, 17."},
			"lacks")
		run := r.WaitEnd(r.Start(p).ID)
		expect.That(r, run.State == engine.Succeeded && run.Batch.Items == 1, "%s %v: %+v", run.State, run.Why, run.Batch)
		_, err := r.Engine.Plan(r.Context(), Anna, engine.Request{Kind: actions.Batch, Reason: "a test",
			Args: actions.Args{Plans: moves("shard-rs-1", 20, 30), LeaveOut: true}})
		refused.With(r, err, fault.Conflict, "every item", "nothing is left")
	})
}

// moves are items that move chunks of NS, which are on shard-rs-1, to a shard.
func moves(to string, from ...int) (out []actions.PlannedChange) {
	for _, at := range from {
		out = append(out, actions.PlannedChange{Kind: actions.MoveChunk, Args: moveArgs(at, to)})
	}
	return out
}

func moveArgs(from int, to string) actions.Args {
	a := actions.Args{NS: NS, To: to}
	a.Bounds[0], a.Bounds[1] = P(from), P(from+10)
	return a
}

// children are the runs of a batch, in the order in which they began.
func (r *Rig) children(batch string) (out []engine.Run) {
	r.Helper()
	runs, _, err := r.Engine.Runs(r.Context(), "", 200)
	r.Must(err)
	for i := len(runs) - 1; i >= 0; i-- {
		if runs[i].Parent == batch {
			out = append(out, runs[i])
		}
	}
	return out
}

// timeBatch plans and runs a batch of splits, the first at a key, and returns how long each took for an item.
func (r *Rig) timeBatch(from, items int) (planning, running time.Duration) {
	r.Helper()
	var plans []actions.PlannedChange
	for i := range items {
		plans = append(plans, actions.PlannedChange{Kind: actions.Split, Args: actions.Args{NS: NS, At: P(1000 + from + i)}})
	}
	begun := time.Now()
	p := r.Plan(actions.Batch, actions.Args{Plans: plans, Group: 100})
	planning = time.Since(begun) / time.Duration(items)
	begun = time.Now()
	if run := r.WaitEnd(r.Start(p).ID); run.State != engine.Succeeded || run.Batch.Done != items {
		r.Fatalf("%s %v: %+v", run.State, run.Why, run.Batch)
	}
	return planning, time.Since(begun) / time.Duration(items)
}

// BenchmarkBatch plans and runs a batch of 300 items, 1,000 with SHARDBOARD_LONG, in real time, and compares the cost
// of an item with that of one of a batch of 100 in the same process.
func BenchmarkBatch(b *testing.B) {
	r := newRig(b, Setup{})
	defer func() { _ = r.Sim.Close() }()
	r.Boot()
	defer r.Kill()
	var plan, run [2]time.Duration
	from, many := 0, 300
	if os.Getenv("SHARDBOARD_LONG") != "" {
		many = actions.MostItems // 24 s each time
	}
	for b.Loop() {
		for i, items := range []int{100, many} {
			planning, running := r.timeBatch(from, items)
			plan[i], run[i] = plan[i]+planning, run[i]+running
			from += items
		}
	}
	b.ReportMetric(float64(plan[1].Microseconds())/float64(b.N), "planning-µs/item")
	b.ReportMetric(float64(run[1].Microseconds())/float64(b.N), "running-µs/item")
	b.ReportMetric(float64(plan[1])/float64(plan[0]), "planning-ratio-to-100")
	b.ReportMetric(float64(run[1])/float64(run[0]), "running-ratio-to-100")
}
