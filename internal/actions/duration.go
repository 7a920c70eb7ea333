package actions

import (
	"time"

	"shardboard/internal/actions/operation"
	"shardboard/internal/topology"
)

// eachCut is what a split takes.
const eachCut = 100 * time.Millisecond

// OrphanDelay is how long a donor keeps a range that it gave away, if the move did not
// wait for the clean-up (the default of orphanCleanupDelaySecs).
const OrphanDelay = topology.OrphanDelay

// duration estimates how long the steps take, with the wait for ranges that their shards still
// have to delete. Its method is that of MoveSpeed.
func (d *draftBuilder) duration(bytes topology.Figure) topology.Figure {
	out := topology.Figure{Known: true, Method: "assumedRate", At: d.s.Now}
	if len(d.moves) == 0 {
		out.Value = (time.Duration(len(d.steps)) * eachCut).Milliseconds()
		out.Method = "assumedStep"
		return out
	}
	out = d.moveSpeed().time(bytes, d.movedChunks(), d.s.Now)
	if out.Known {
		out.Value += (time.Duration(d.cuts) * eachCut).Milliseconds()
		if c, ok := d.lastCleanup(); ok {
			out.Value += max(c.Until.Sub(d.s.Now), 0).Milliseconds()
		}
	}
	return out
}

const (
	// leastResharding is how long a resharding, and what is built on it, takes at least
	// (reshardingMinimumOperationDurationMillis).
	leastResharding = 5 * time.Minute
	// waitsBeforeSwitch is how long 8.0 lets the shards apply writes before it asks them how much is left, and then blocks
	// writes and switches (reshardingDelayBeforeRemainingOperationTimeQueryMillis).
	waitsBeforeSwitch = 30 * time.Second
)

// reshardTime is the time of some operations that are reshardings, one after another, of which only the copying is
// estimated.
func (d *draftBuilder) reshardTime(copying topology.Figure, operations int) topology.Figure {
	if !copying.Known {
		return copying
	}
	if d.s.Release.AtLeast(8, 0, 0) {
		copying.Value += int64(operations) * waitsBeforeSwitch.Milliseconds()
	}
	copying.Value = max(copying.Value, int64(operations)*leastResharding.Milliseconds())
	return copying
}

// MoveTime estimates how long the move of a step takes at most, from the sizes in the table and the slowest of the
// cluster's recent moves, or an assumed rate; measured tells which. A range whose size is not known is as large as a
// chunk may be that moves. known is false when that is not known either.
func MoveTime(s Situation, step operation.Step) (took time.Duration, measured, known bool) {
	d := newDraft(s, Description{}, Args{})
	c, lo, hi, err := d.rangeOf(step)
	if err != nil {
		return 0, false, false
	}
	bytes := d.estimate(c, lo, hi, bytesOf)
	if most := d.chunkLimit(c); !bytes.Known && most > 0 && !step.Force {
		bytes = topology.Figure{Known: true, Value: most}
	}
	speed, measured := slowestMoves(s.Table.Events)
	f := speed.time(bytes, 1, s.Now)
	return time.Duration(f.Value+f.PlusMinus) * time.Millisecond, measured, f.Known
}

// cleanFrom returns when the donors will have deleted the moved ranges, if the moves do
// not wait for it. Nothing can move back before.
func (d *draftBuilder) cleanFrom(took topology.Figure) time.Time {
	return d.s.Now.Add(time.Duration(took.Value)*time.Millisecond + OrphanDelay)
}
