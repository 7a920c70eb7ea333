package outcome

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
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
	wrong, falseYes, yes, situations := 0, 0, 0, 1000
	for i := range situations {
		rates, after, owners, moved, other := situation(random)
		was := sharesOf(rates, owners)
		hot, p := most(was)
		from := owners[moved]
		stayed := slices.Clone(owners)
		if other >= 0 {
			stayed[other] = "b" // another run moves it meanwhile
		}
		with := slices.Clone(stayed)
		with[moved] = "c"
		_, q := most(sharesOf(after, with))
		without := sharesOf(after, stayed)[hot]
		r := endedRun(actions.MoveChunk, actions.OpMove, keyAt(int64(moved-1)*10), keyAt(int64(moved)*10), "c")
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
		if other >= 0 {
			record.OtherRuns = []string{"x"}
		}
		o := Compare(r, record)
		if o.State == Shared {
			t.Errorf("%d: the other run changed other ranges", i)
		}
		helped := q < .88*p && without > .97*p
		unclear := math.Abs(q/p-.9) < .04 || without < .97*p && without > .85*p // chance decides
		said := o.Verdict == Helped
		if said {
			yes++
		}
		if said != helped && !unclear {
			wrong++
			if said {
				falseYes++
				t.Logf("%d: said yes: hottest %.2f → %.2f, without %.2f, moved from %s, %+v", i, p, q, without, from, o.Credit)
			}
		}
		if share := rates[moved] / sum(rates); said && share <= .03 {
			t.Errorf("yes for a chunk with %.3f of the writes", share)
		}
	}
	t.Logf("%d situations: %d yes, %d wrong, of them %d yes", situations, yes, wrong, falseYes)
	if wrong > situations/20 || falseYes > situations/100 || yes < situations/10 {
		t.Errorf("%d wrong of %d, of them %d yes; %d yes in all", wrong, situations, falseYes, yes)
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
// which another run moves from the same shard to b; -1: none.
func situation(random *rand.Rand) (rates, after []float64, owners []string, moved, other int) {
	other = -1
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
	switch random.IntN(8) {
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
		other = 0
		if random.IntN(2) == 0 {
			rates[0], after[0] = .1, .1
		}
	case 3: // all writes change together
		factor := []float64{1, 1.3, 2}[random.IntN(3)]
		for i := range after {
			after[i] *= factor
		}
	}
	return rates, after, owners, moved, other
}

// What another run moved in the meantime is told from what this one did.
func TestWhatAnotherRunMovedIsNamedAndNotThisRunsDoing(t *testing.T) {
	r := endedRun(actions.MoveChunk, actions.OpMove, keyAt(0), keyAt(10), "b")
	b, a := windows(r.Started, r.Ended)
	was, is := collection(t, []int64{0, 10, 20}, "a", "a", "a", "b"), collection(t, []int64{0, 10, 20}, "c", "b", "a", "b")
	rec := recordOf(r, fullWindow(b, was, 20, 20, 30, 10), fullWindow(a, is, 20, 20, 30, 10))
	rec.OtherRuns = []string{"x"}
	o := Compare(r, rec)
	if c := o.Credit; o.State != Measured || o.Verdict != Unclear || c.Moved != .25 || c.Others != .25 || c.Without != .625 {
		t.Errorf("%s %s %+v", o.State, o.Verdict, c)
	}
	const want = "Without this run it would be about 62% of all: a part is its doing, what others moved from the shard takes 25%."
	if text := strings.ReplaceAll(o.Text().String(), "\u202f", ""); !strings.HasSuffix(text, want) {
		t.Error(text)
	}
}

// An undo within the window ends it: what the run did until then is the answer.
func TestAnUndoDoesNotEraseTheAnswer(t *testing.T) {
	r := endedRun(actions.MoveChunk, actions.OpMove, keyAt(0), keyAt(10), "b")
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
	if o.Verdict != Helped || o.After.Covered != 180 || !slices.Contains(o.Notes, NoteUndone) {
		t.Errorf("%s %s, %v s, %v", o.State, o.Verdict, o.After.Covered, o.Notes)
	}
	if text := fmt.Sprint(o.Note(NoteUndone)); text != "The run has been undone since; the second window ends where the undo began." {
		t.Error(text)
	}
}
