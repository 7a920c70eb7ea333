package actions

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/natural"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// PlanUndo drafts the undo of steps that have had their effect, from the current
// situation. done is in the order in which the steps were run. Zones are restored
// first, because a move against a zone is refused; then chunks, the last step first.
// was is the summary of the run that is undone. effect is the effect of its plan, which
// lists the moves that the run left to the balancer. It returns an *UndoConflictError
// when something else has since changed what the steps did.
func PlanUndo(s Situation, kind Kind, a Args, was message.Message, done []operation.Step, effect Effect) (Draft, error) {
	return planUndo(newDraft(s, Describe(kind), a), was, done, effect)
}

// planUndo drafts the undo of steps. d is new.
func planUndo(d *draftBuilder, was message.Message, done []operation.Step, effect Effect) (Draft, error) {
	d.isUndo = true
	// The run has turned on again what it had paused.
	done = slices.DeleteFunc(slices.Clone(done), func(s operation.Step) bool { return s.Pauses || s.Restores })
	slices.Reverse(done)
	for _, late := range []bool{false, true} {
		for _, s := range done {
			of := draftings[s.Op]
			if of.undo == nil || of.late != late {
				continue
			}
			if err := of.undo(d, s, effect); err != nil {
				return Draft{}, err
			}
		}
	}
	out, _, err := d.finish(d.undoTitle(was), Undo{Text: message.New("redo", "To reverse this, plan the change again.")})
	return out, err
}

// undoSummary is the summary of what is undone, after the word "Undo".
func undoSummary(was message.Message) message.Message {
	if was.Pattern == "" { // of a run whose record has no text
		was.Pattern = "{of}"
	}
	return message.New("undo", "Undo: "+lowerFirst(was.Pattern), was.Facts...).With(message.Words("of", was.Code))
}

var fromTo = regexp.MustCompile(`from \{(\w+)\} to \{(\w+)\}`)

// undoTitle is undoSummary with the way that data takes back: shards change places where the summary names both, else
// the shards of the moves follow.
func (d *draftBuilder) undoTitle(was message.Message) message.Message {
	out := undoSummary(was)
	if x := fromTo.FindStringSubmatch(out.Pattern); x != nil {
		from, _ := out.Fact(x[1])
		to, _ := out.Fact(x[2])
		if from.Kind == message.KindShard && to.Kind == message.KindShard {
			out.Pattern = strings.Replace(out.Pattern, x[0], "back from {"+x[2]+"} to {"+x[1]+"}", 1)
			return out
		}
	}
	from, to := map[string]bool{}, map[string]bool{}
	for _, m := range d.moves {
		from[m.from], to[m.to] = true, true
	}
	if len(from) == 0 {
		return out
	}
	out.Pattern = strings.TrimSuffix(out.Pattern, ".") + "; data goes back"
	for _, side := range []struct {
		word   string
		shards map[string]bool
	}{{"from", from}, {"to", to}} {
		if n := len(side.shards); n > titleShards {
			name := side.word + "Count"
			out.Pattern += " " + side.word + " {" + name + "} shards"
			out = out.With(message.Count(name, n))
			continue
		}
		var names []string
		for i, shard := range natural.Sorted(maps.Keys(side.shards)) {
			name := side.word + strconv.Itoa(i)
			names = append(names, "{"+name+"}")
			out = out.With(message.Shard(name, shard))
		}
		out.Pattern += " " + side.word + " " + strings.Join(names, ", ")
	}
	out.Pattern += "."
	return out
}

// titleShards is how many shards of one side a title names; more are counted.
const titleShards = 3

// undoMembership takes a shard out of a zone again, or puts it back.
func (d *draftBuilder) undoMembership(s operation.Step) error {
	s.Op = s.Inverse()
	return d.remainingMembership(s)
}

func (d *draftBuilder) undoSetRange(s operation.Step) error {
	z, ok := rangeWithBounds(d.ranges(s.NS), s.Min, s.Max)
	if !ok && d.description.Adapts && d.isRangeFree(s) {
		return nil // removed already, by an earlier try of this undo or by somebody else
	}
	if !ok || z.Zone != s.Zone {
		return undoConflict("a zone range is no longer as this run set it", d.differences(zoneOfRange(s.NS, s.Min, s.Max, s.Zone))...)
	}
	d.removeRange(z)
	return nil
}

// setRangeOf assigns the range of a step to its zone, unless that overlaps another one.
func (d *draftBuilder) setRangeOf(s operation.Step) error {
	c, lo, hi, err := d.rangeOf(s)
	if err != nil {
		return err
	}
	if len(operation.OverlappingRanges(d.ranges(s.NS), lo, hi)) > 0 {
		return undoConflict("another zone range overlaps it now", d.differences(overlapCount(s.NS, s.Min, s.Max, 0))...)
	}
	d.setRange(c, lo, hi, s.Zone)
	return nil
}

func (d *draftBuilder) undoBalancer(s operation.Step) error {
	on := s.Op == operation.OpBalancerOff
	d.step(operation.Step{Op: s.Inverse(), Needs: []operation.Fact{balancerIs(!on)}, Proof: []operation.Fact{balancerIs(on)}})
	return nil
}

func (d *draftBuilder) undoWindow(s operation.Step) error {
	for _, f := range s.Needs {
		if start, ok := f.Want["windowStart"]; ok && f.Kind == operation.FactBalancer {
			stop, days := f.Want["windowStop"], f.Want["windowDays"]
			d.step(operation.Step{Op: operation.OpBalancerWindow, Start: start, Stop: stop, Days: days,
				Needs: []operation.Fact{windowIs(s.Start, s.Stop, s.Days)}, Proof: []operation.Fact{windowIs(start, stop, days)}})
			return nil
		}
	}
	return fault.New(fault.Conflict, "This cannot be undone: the previous window is not known.")
}

// isRangeFree reports whether no zone range overlaps the range of a step.
func (d *plannedCluster) isRangeFree(s operation.Step) bool {
	_, lo, hi, err := d.rangeOf(s)
	return err == nil && len(operation.OverlappingRanges(d.ranges(s.NS), lo, hi)) == 0
}

func (d *plannedCluster) keyOf(ns topology.Namespace, doc bson.Raw) (*topology.Collection, shardkey.Key, error) {
	c := d.now.Collection(ns)
	if c == nil || c.Chunks.Len() == 0 {
		return nil, shardkey.Key{}, collectionGone(ns)
	}
	k, err := c.Key.Bound(doc)
	if err != nil {
		return nil, k, keyChanged(c, doc)
	}
	return c, k, nil
}

func (d *plannedCluster) rangeOf(s operation.Step) (*topology.Collection, shardkey.Key, shardkey.Key, error) {
	c, lo, err := d.keyOf(s.NS, s.Min)
	if err != nil {
		return nil, lo, lo, err
	}
	_, hi, err := d.keyOf(s.NS, s.Max)
	return c, lo, hi, err
}
