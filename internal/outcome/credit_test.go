package outcome

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/actions/operation"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/heat"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

// poisson draws a count with a mean.
func poisson(random *rand.Rand, mean float64) int64 {
	if mean > 30 {
		return max(0, int64(math.Round(mean+math.Sqrt(mean)*random.NormFloat64())))
	}
	n, p, limit := int64(0), random.Float64(), math.Exp(-mean)
	for p > limit {
		n, p = n+1, p*random.Float64()
	}
	return n
}

// sharesOf are the shares of the shards.
func sharesOf(rates []float64, owners []string) (shares map[string]float64) {
	shares = map[string]float64{}
	total := 0.0
	for i, r := range rates {
		shares[owners[i]] += r
		total += r
	}
	for s := range shares {
		shares[s] /= total
	}
	return shares
}

func most(shares map[string]float64) (name string, share float64) {
	for s, x := range shares {
		if x > share {
			name, share = s, x
		}
	}
	return name, share
}

// In random situations a run is said to have helped only where the share would not have fallen without it, and what is
// said is right in at least 95 of 100: the same writes are looked at with the move and without it.
func TestARunHelpedOnlyWhereItsMoveDid(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 7))
	wrong, falseYes, yes, yesBesideOthers, wrongBesideOthers, situations := 0, 0, 0, 0, 0, 1000
	for i := range situations {
		rates, after, owners, moved, others := situation(random)
		was := sharesOf(rates, owners)
		hot, p := most(was)
		from := owners[moved]
		stayed := slices.Clone(owners)
		for other, to := range others { // another run or the balancer moves them meanwhile
			stayed[other] = to
		}
		with := slices.Clone(stayed)
		with[moved] = "c"
		_, q := most(sharesOf(after, with))
		without := sharesOf(after, stayed)[hot]
		_, mostWithout := most(sharesOf(after, stayed))
		left := min(p, sharesOf(rates, stayed)[hot]) // what the others' moves leave on it
		r := endedRun(actions.MoveChunk, operation.OpMove, keyAt(int64(moved-1)*10), keyAt(int64(moved)*10), "c")
		b, a := windows(r.Started, r.Ended)
		var at []int64
		for j := range len(rates) - 1 {
			at = append(at, int64(j)*10)
		}
		var before, then []sample
		wasTable, isTable := collection(t, at, owners...), collection(t, at, with...)
		for _, w := range fullWindow(b, wasTable) {
			before = append(before, tenSeconds(wasTable, w.slot.From, draw(random, rates)...))
		}
		for _, w := range fullWindow(a, isTable) {
			then = append(then, tenSeconds(isTable, w.slot.From, draw(random, after)...))
		}
		record := recordOf(r, before, then)
		if len(others) == 1 {
			record.OtherRuns = []string{"x"}
		}
		record.OtherMoves = len(others)
		o := Compare(r, record)
		expect.That(t, o.State != Shared, "%d: the other run changed other ranges", i)
		helped := q < .88*p && q < .88*mostWithout && without > .97*left
		near := func(x, of float64) bool { return math.Abs(x-.9*of) < .04*of }
		unclear := near(q, p) || near(q, mostWithout) || without < .97*left && without > .85*left // chance decides
		said := o.Verdict == Helped
		if said {
			if yes++; len(others) > 0 {
				yesBesideOthers++
			}
		}
		if said != helped && !unclear {
			wrong++
			if len(others) > 0 {
				wrongBesideOthers++
			}
			if said {
				falseYes++
				t.Logf("%d: said yes: hottest %.2f → %.2f, without %.2f, moved from %s, %+v", i, p, q, without, from, o.Credit)
			}
		}
		if share := rates[moved] / sum(rates); said && share <= .03 {
			t.Errorf("yes for a chunk with %.3f of the writes", share)
		}
	}
	t.Logf("%d situations: %d yes, %d of them beside moves of others; %d wrong, %d of them beside others; %d false yes", situations, yes,
		yesBesideOthers, wrong, wrongBesideOthers, falseYes)
	if wrong > situations/20 || falseYes > 0 || yes < situations/10 || yesBesideOthers < 20 {
		t.Errorf("%d wrong of %d, of them %d yes; %d yes in all, %d beside moves of others", wrong, situations, falseYes, yes, yesBesideOthers)
	}
}

func sum(list []float64) (s float64) {
	for _, x := range list {
		s += x
	}
	return s
}

func draw(random *rand.Rand, rates []float64) (rows []int64) {
	for _, r := range rates {
		rows = append(rows, poisson(random, r*10))
	}
	return rows
}

// situation is the rates of chunks before and after a move, their owners, which chunk is moved to the shard c, and
// which others move, and where to.
func situation(random *rand.Rand) (rates, after []float64, owners []string, moved int, others map[int]string) {
	n := 6 + random.IntN(8)
	for i := range n {
		rates = append(rates, .2+random.Float64()*2)
		owners = append(owners, []string{"a", "b", "c"}[i%3])
	}
	hot := 3 * (1 + random.IntN(n/3-1)) // on a, and no end of the keys
	rates[hot] += 5 + random.Float64()*40
	rates[0] += rates[hot] * random.Float64() * 1.5 // so that a move of one divides them
	after = slices.Clone(rates)
	moved = hot
	switch random.IntN(12) {
	case 0: // the load of the moved chunk stops
		after[hot] = 0
	case 1: // a cold chunk of the shard moves, and the hot load stops or not
		moved = 3
		if moved == hot {
			rates[hot], after[hot] = .1, .1
			rates[0], after[0] = 30, 30
		}
		if random.IntN(2) == 0 {
			after[hot], after[0] = .1, .1
		}
	case 2: // others move the hot load away at the same time: it is elsewhere, and a cold chunk moves
		moved = 3
		if moved == hot {
			rates[hot] = .2
			rates[0] = 30
		}
		after = slices.Clone(rates)
		after[0], after[hot] = .1, .1
		after[1] += 20
	case 4: // another chunk of the shard gets fewer writes at the same time, or those of other shards get more
		if random.IntN(2) == 0 {
			after[0] *= .2 + .6*random.Float64()
			break
		}
		for i := range after {
			if owners[i] != "a" {
				after[i] *= 2 + 2*random.Float64()
			}
		}
	case 6, 7: // another run moves the first chunk of the shard, hot or cold
		others = map[int]string{0: "b"}
		if random.IntN(2) == 0 {
			rates[0], after[0] = .1, .1
		}
	case 8: // others move two chunks of the shard to both of the others
		others = map[int]string{0: "b", 3: "c"}
		if hot == 3 {
			others = map[int]string{0: "c"}
		}
		rates[0], after[0] = 12, 12
	case 9: // others move chunks to the shard from which this run moves the hot one, or between the others
		others = map[int]string{1: "a", 4: "c"}
		rates[1] += 10 * random.Float64()
		after[1] = rates[1]
	case 10: // others move the hot load, and this run a cold chunk
		moved, others = 3, map[int]string{0: []string{"b", "c"}[random.IntN(2)]}
		rates[hot], after[hot] = .2, .2
		rates[0], after[0] = 20, 20
	case 11: // others move a chunk whose load stops or begins meanwhile
		others = map[int]string{0: "b"}
		if rates[0], after[0] = 15, .1; random.IntN(2) == 0 {
			rates[0], after[0] = .1, 15
		}
	case 3: // all writes change together
		factor := []float64{1, 1.3, 2}[random.IntN(3)]
		for i := range after {
			after[i] *= factor
		}
	}
	return rates, after, owners, moved, others
}

// What another run moved in the meantime is told from what this one did.
func TestWhatAnotherRunMovedIsNamedAndNotThisRunsDoing(t *testing.T) {
	r := endedRun(actions.MoveChunk, operation.OpMove, keyAt(0), keyAt(10), "b")
	b, a := windows(r.Started, r.Ended)
	was, is := collection(t, []int64{0, 10, 20}, "a", "a", "a", "b"), collection(t, []int64{0, 10, 20}, "c", "b", "a", "b")
	rec := recordOf(r, fullWindow(b, was, 20, 20, 30, 10), fullWindow(a, is, 20, 20, 30, 10))
	rec.OtherRuns = []string{"x"}
	o := Compare(r, rec)
	if c := o.Credit; o.State != Measured || o.Verdict != Helped || c.Moved != .25 || c.Others != .25 || c.Without != .625 {
		t.Errorf("%s %s %+v", o.State, o.Verdict, c)
	}
	const want = "fell from 88% to 38% of all. Of that, others moved what had 25% of the writes; without this run it would be about 62%."
	if text := strings.ReplaceAll(o.Text().String(), "\u202f", ""); !strings.HasSuffix(text, want) {
		t.Error(text)
	}
}

// An undo within the window ends it: what the run did until then is the answer.
func TestAnUndoDoesNotEraseTheAnswer(t *testing.T) {
	r := endedRun(actions.MoveChunk, operation.OpMove, keyAt(0), keyAt(10), "b")
	b, a := windows(r.Started, r.Ended)
	was, is := collection(t, []int64{0, 10}, "a", "a", "b"), collection(t, []int64{0, 10}, "a", "b", "b")
	k := measurement{run: r, scope: scopeOf(r)}
	undo := r
	undo.ID, undo.UndoOf, undo.Started = "u", r.ID, a.From.Add(3*60e9)
	k.cutAtUndo([]engine.Run{undo})
	then := append(fullWindow(Span{a.From, k.until}, is, 30, 20, 10), fullWindow(Span{k.until, a.To}, was, 30, 20, 10)...)
	_, cut := k.windows()
	rec := recordOf(r, fullWindow(b, was, 30, 20, 10), nil)
	rec.Until = k.until
	rec.Collections[0].After = countWindow(then, cut, k.scope.spans[ns], a.To)
	r.State = "undone"
	o := Compare(r, rec)
	expect.That(t, o.Verdict == Helped && o.After.Covered == 180 && slices.Contains(o.Notes, NoteUndone),
		"%s %s, %v s, %v", o.State, o.Verdict, o.After.Covered, o.Notes)
	if text := fmt.Sprint(o.Note(NoteUndone)); text != "The run has been undone since; the second window ends where the undo began." {
		t.Error(text)
	}
}

// A load that has just begun is compared from there on. Where it began with the run, the shares before it say nothing.
func TestALoadThatHasJustBegunIsNotMixedWithTheTimeBeforeIt(t *testing.T) {
	for _, x := range []struct {
		begun time.Duration // before the run's minute
		hot   []int64       // rows in ten seconds
		want  Verdict
		from  time.Duration // of the first window's begin, before the run's minute
	}{
		{3 * time.Minute, []int64{10, 400, 10, 10}, NoChange, 3 * time.Minute}, // it was moved as a whole
		{3 * time.Minute, []int64{400, 400, 10, 10}, Helped, 3 * time.Minute},
		{0, []int64{10, 400, 10, 10}, Unclear, Window},
		{0, []int64{400, 400, 10, 10}, Unclear, Window},
		{Window, []int64{400, 400, 10, 10}, Helped, Window},
	} {
		r := endedRun(actions.MoveChunk, operation.OpMove, keyAt(0), keyAt(10), "b")
		b, a := windows(r.Started, r.Ended)
		was, is := collection(t, []int64{0, 10, 20}, "a", "a", "b", "b"), collection(t, []int64{0, 10, 20}, "a", "b", "b", "b")
		begun := b.To.Add(-x.begun)
		k := &measurement{run: r, scope: scopeOf(r), closed: true, after: map[topology.Namespace][]sample{ns: fullWindow(a, is, x.hot...)},
			before: map[topology.Namespace][]sample{
				ns: append(fullWindow(Span{b.From, begun}, was, 10, 10, 10, 10), fullWindow(Span{begun, b.To}, was, x.hot...)...)}}
		rec := New(Options{Profile: &profile.Profile{}}).toRecord(&topology.Table{Collections: []*topology.Collection{is}}, k)
		o := Compare(r, rec)
		expect.That(t, o.Verdict == x.want && o.Begun == (x.want == Unclear) && o.Before.From.Equal(b.To.Add(-x.from)),
			"%s before: %s %s from %s, %s", x.begun, o.State, o.Verdict, o.Before.From, o.Text())
		expect.Equal(t, slices.Contains(o.Notes, NoteOnset), (x.from < Window), "%s before: %v", x.begun, o.Notes)
		if text := o.Text().String(); o.Begun && !strings.Contains(text, "too little of them was counted before it") {
			t.Error(text)
		}
	}
}

// A collection that is not in the sums says nothing about when the writes of the others rose.
func TestOnlyCountsOfTheSumsTellWhenALoadBegan(t *testing.T) {
	r := endedRun(actions.MoveChunk, operation.OpMove, keyAt(0), keyAt(10), "b")
	b, _ := windows(r.Started, r.Ended)
	c, begun := collection(t, []int64{0, 10, 20}, "a", "a", "b", "b"), b.To.Add(-3*time.Minute)
	steady, risen := fullWindow(b, c, 10, 10, 10, 10), fullWindow(Span{begun, b.To}, c, 400)
	for i := range risen {
		risen[i].slot.Method = heat.ChangedRows
	}
	for _, x := range []struct {
		before map[topology.Namespace][]sample
		want   time.Time
	}{
		{map[topology.Namespace][]sample{ns: steady, "y.documents": append(fullWindow(Span{b.From, begun}, c, 1), risen...)}, time.Time{}},
		{map[topology.Namespace][]sample{"y.documents": append(fullWindow(Span{b.From, begun}, c, 1), risen...)}, begun},
	} {
		if got := (&measurement{before: x.before}).onset(b); !got.Equal(x.want) {
			t.Errorf("%d collections: the load began at %s, want %s", len(x.before), got, x.want)
		}
	}
}
