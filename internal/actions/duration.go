package actions

import (
	"time"

	"shardboard/internal/topology"
)

// What is assumed when the changelog has no migration to measure, and what each command
// takes besides copying. MongoDB 5.0.7 on a laptop needed 0.2 to 1 s for an empty chunk;
// 10 MB/s is the speed of a throttled recipient.
const (
	assumedRate = 10 << 20 // bytes a second
	eachMove    = time.Second
	eachCut     = 100 * time.Millisecond
)

// OrphanDelay is how long a donor keeps a range that it gave away, if the move did not
// wait for the clean-up (the default of orphanCleanupDelaySecs).
const OrphanDelay = topology.OrphanDelay

// duration estimates how long the steps take. Its method says how: "changelogRate" is
// measured from past migrations of this cluster, "assumedRate" is not.
func (d *draftBuilder) duration(bytes topology.Figure) topology.Figure {
	out := topology.Figure{Known: true, Method: "assumedRate", At: d.s.Now}
	if len(d.moves) == 0 {
		out.Value = (time.Duration(len(d.steps)) * eachCut).Milliseconds()
		out.Method = "assumedStep"
		return out
	}
	rate, method := d.copyRate()
	out = moveTime(bytes, d.movedChunks(), rate, method, d.s.Now)
	if out.Known {
		out.Value += (time.Duration(d.cuts) * eachCut).Milliseconds()
	}
	return out
}

// copyRate returns how many bytes a second migrations copy, and how that is known.
func (d *plannedCluster) copyRate() (bytesPerSecond float64, method string) {
	return CopyRate(d.now.Events)
}

// CopyRate returns how many bytes a second one migration copies: measured from past migrations in the changelog
// (method "changelogRate"), or else assumed ("assumedRate").
func CopyRate(events []topology.Event) (bytesPerSecond float64, method string) {
	if r, n := pastRate(events); n > 0 {
		return r, "changelogRate"
	}
	return assumedRate, "assumedRate"
}

// EachMove is what a migration takes besides copying.
const EachMove = eachMove

// moveTime estimates how long it takes to move some chunks.
func moveTime(bytes topology.Figure, chunks int, rate float64, method string, now time.Time) topology.Figure {
	if !bytes.Known {
		return topology.Figure{Reason: bytes.Reason}
	}
	took := time.Duration(float64(bytes.Value)/rate*float64(time.Second)) + time.Duration(chunks)*eachMove
	return topology.Figure{Known: true, Value: took.Milliseconds(), PlusMinus: int64(float64(bytes.PlusMinus) / rate * 1000),
		Method: method, At: now}
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
func MoveTime(s Situation, step Step) (took time.Duration, measured, known bool) {
	d := newDraft(s, Description{}, Args{})
	c, lo, hi, err := d.rangeOf(step)
	if err != nil {
		return 0, false, false
	}
	bytes := d.estimate(c, lo, hi, bytesOf)
	if most := d.chunkLimit(c); !bytes.Known && most > 0 && !step.Force {
		bytes = topology.Figure{Known: true, Value: most}
	}
	rate, measured := slowestRate(s.Table.Events)
	f := moveTime(bytes, 1, rate, "", s.Now)
	return time.Duration(f.Value+f.PlusMinus) * time.Millisecond, measured, f.Known
}

// recentMoves is how many of the newest moves count as recent.
const recentMoves = 20

// slowestRate returns how many bytes a second the slowest of the cluster's recent moves copied, or else the assumed
// rate.
func slowestRate(events []topology.Event) (bytesPerSecond float64, measured bool) {
	slowest := 0.0
	for _, m := range pastMoves(events, recentMoves) {
		if r := float64(m.bytes) / m.took.Seconds(); slowest == 0 || r < slowest {
			slowest = r
		}
	}
	if slowest == 0 {
		return assumedRate, false
	}
	return slowest, true
}

// minCopied is how many bytes a past migration must have copied to be used for the rate.
const minCopied = 1 << 20

// pastRate returns the bytes a second of the finished migrations in the changelog, from
// start to commit, and their number.
func pastRate(events []topology.Event) (rate float64, n int) {
	var bytes float64
	var took time.Duration
	for _, m := range pastMoves(events, len(events)) {
		bytes, took, n = bytes+float64(m.bytes), took+m.took, n+1
	}
	if n == 0 {
		return 0, 0
	}
	return bytes / took.Seconds(), n
}

// pastMove is what a finished migration copied, and how long it took from start to commit.
type pastMove struct {
	bytes int64
	took  time.Duration
}

// pastMoves are the finished migrations in the changelog that copied enough to be measured, newest first, at most some.
func pastMoves(events []topology.Event, most int) (out []pastMove) {
	type key struct{ ns, min, from, to string }
	of := func(e topology.Event) key {
		from, _ := e.Details.Lookup("from").StringValueOK()
		to, _ := e.Details.Lookup("to").StringValueOK()
		return key{e.NS, string(e.Details.Lookup("min").Value), from, to}
	}
	ends := map[key]topology.Event{}
	for _, e := range events { // newest first, so a commit comes before its start
		if len(out) == most {
			return out
		}
		switch e.What {
		case "moveChunk.commit":
			ends[of(e)] = e
		case "moveChunk.start":
			end, ok := ends[of(e)]
			if !ok {
				continue
			}
			delete(ends, of(e))
			counts, _ := end.Details.Lookup("counts").DocumentOK()
			copied, _ := topology.Amount(counts.Lookup("clonedBytes"))
			if t := end.Time.Sub(e.Time); t > 0 && copied >= minCopied {
				out = append(out, pastMove{copied, t})
			}
		}
	}
	return out
}

// cleanFrom returns when the donors will have deleted the moved ranges, if the moves do
// not wait for it. Nothing can move back before.
func (d *draftBuilder) cleanFrom(took topology.Figure) time.Time {
	return d.s.Now.Add(time.Duration(took.Value)*time.Millisecond + OrphanDelay)
}
