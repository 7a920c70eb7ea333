package actions

import (
	"slices"
	"strings"
	"time"

	"shardboard/internal/topology"
)

// What is assumed when the changelog has no migration to measure. MongoDB 5.0.7 on a laptop needed 0.2 to 1 s for an
// empty chunk; 10 MB/s is the speed of a throttled recipient.
const (
	assumedRate = 10 << 20 // bytes a second
	assumedEach = time.Second
)

// MoveSpeed is how long migrations of a cluster take: each as long as a small one, and the time to copy its bytes.
type MoveSpeed struct {
	Each   time.Duration // of a move, besides copying
	Rate   float64       // bytes a second of one move
	Spread float64       // 0.2: nine of ten past moves took within 20 % of what these figures say; 0: not known
	Method string        // changelogRate: measured from past moves in the changelog; assumedRate: nothing is measured
}

const (
	// recentMoves is how many of the newest moves count.
	recentMoves = 20
	// minCopied is how many bytes a past move must have copied to tell the rate. Smaller ones tell what a move takes
	// besides.
	minCopied = 1 << 20
	// leastForSpread is how many past moves it takes to say how much they differ.
	leastForSpread = 3
)

// MoveSpeedOf measures the newest migrations in the changelog. What they do not tell is assumed.
func MoveSpeedOf(events []topology.Event) MoveSpeed { return speedOf(pastMoves(events)) }

func speedOf(moves []pastMove) MoveSpeed {
	speed := MoveSpeed{Each: assumedEach, Rate: assumedRate, Method: "assumedRate"}
	if len(moves) == 0 {
		return speed
	}
	speed.Method = "changelogRate"
	var small []time.Duration
	for _, m := range moves {
		if m.bytes < minCopied {
			small = append(small, m.took)
		}
	}
	if len(small) > 0 {
		slices.Sort(small)
		speed.Each = small[len(small)/2]
	}
	var bytes, seconds float64
	for _, m := range moves {
		if m.bytes >= minCopied {
			bytes, seconds = bytes+float64(m.bytes), seconds+speed.copying(m).Seconds()
		}
	}
	if seconds > 0 {
		speed.Rate = bytes / seconds
	}
	speed.Spread = speed.spread(moves)
	return speed
}

// copying is the part of a past move in which it copied.
func (s MoveSpeed) copying(m pastMove) time.Duration { return max(m.took-s.Each, m.took/2) }

// spread is by how much nine of ten moves differ from what the speed says of them, as a part of that.
func (s MoveSpeed) spread(moves []pastMove) float64 {
	if len(moves) < leastForSpread {
		return 0
	}
	var off []float64
	for _, m := range moves {
		says := s.Each.Seconds() + float64(m.bytes)/s.Rate
		off = append(off, max(m.took.Seconds()/says-1, 1-m.took.Seconds()/says))
	}
	slices.Sort(off)
	return off[(9*len(off)-1)/10]
}

// time estimates how long it takes to move some chunks, one after another, in milliseconds.
func (s MoveSpeed) time(bytes topology.Figure, chunks int, now time.Time) topology.Figure {
	if !bytes.Known {
		return topology.Figure{Reason: bytes.Reason}
	}
	took := float64(bytes.Value)/s.Rate*1000 + float64(chunks)*float64(s.Each.Milliseconds())
	return topology.Figure{Known: true, Value: int64(took), PlusMinus: int64(float64(bytes.PlusMinus)/s.Rate*1000 + took*s.Spread),
		Method: s.Method, At: now}
}

// moveSpeed is that of the cluster's migrations.
func (d *plannedCluster) moveSpeed() MoveSpeed { return MoveSpeedOf(d.now.Events) }

// slowestMoves is the speed of the slowest of the cluster's recent moves; measured is false where it is assumed.
func slowestMoves(events []topology.Event) (speed MoveSpeed, measured bool) {
	moves := pastMoves(events)
	speed = speedOf(moves)
	for _, m := range moves {
		if m.bytes < minCopied {
			speed.Each = max(speed.Each, m.took)
		} else if rate := float64(m.bytes) / speed.copying(m).Seconds(); !measured || rate < speed.Rate {
			speed.Rate, measured = rate, true
		}
	}
	speed.Spread = 0
	return speed, measured
}

// pastMove is what a finished migration copied, and how long it took.
type pastMove struct {
	bytes int64
	took  time.Duration
}

// pastMoves are the newest finished migrations in the changelog.
func pastMoves(events []topology.Event) (out []pastMove) {
	type key struct{ ns, min, from, to string }
	of := func(e topology.Event) key {
		from, _ := e.Details.Lookup("from").StringValueOK()
		to, _ := e.Details.Lookup("to").StringValueOK()
		return key{e.NS, string(e.Details.Lookup("min").Value), from, to}
	}
	ends, steps := map[key]topology.Event{}, map[key]time.Duration{}
	for _, e := range events { // newest first, so a commit comes before its start
		if len(out) == recentMoves {
			return out
		}
		switch e.What {
		case "moveChunk.from":
			if took, ok := stepTimes(e); ok {
				steps[of(e)] = took
			}
		case "moveChunk.commit":
			ends[of(e)] = e
		case "moveChunk.start":
			end, ok := ends[of(e)]
			took := end.Time.Sub(e.Time)
			if s, known := steps[of(e)]; known {
				took = s
			}
			delete(steps, of(e))
			if !ok {
				continue
			}
			delete(ends, of(e))
			counts, _ := end.Details.Lookup("counts").DocumentOK()
			copied, known := topology.Amount(counts.Lookup("clonedBytes"))
			if took > 0 && known {
				out = append(out, pastMove{copied, took})
			}
		}
	}
	return out
}

// stepTimes adds up what the donor logged of each step of a move but the last, in which it may wait for the deletion
// of the old documents. ok is false where it logged no such times, or the move failed.
func stepTimes(e topology.Event) (sum time.Duration, ok bool) {
	if note, _ := e.Details.Lookup("note").StringValueOK(); note != "success" {
		return 0, false
	}
	elements, err := e.Details.Elements()
	if err != nil {
		return 0, false
	}
	var last time.Duration
	for _, x := range elements {
		if !strings.HasPrefix(x.Key(), "step ") {
			continue
		}
		ms, known := topology.Amount(x.Value())
		if !known {
			return 0, false
		}
		sum, last, ok = sum+last, time.Duration(ms)*time.Millisecond, true
	}
	return sum, ok
}
