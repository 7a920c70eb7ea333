package actions

import (
	"time"

	"shardboard/internal/topology"
)

// What is assumed of migrations of which none is in the changelog, and of what
// each takes beside its bytes. MongoDB 5.0.7 on a laptop needed 0.2 to 1 s for an
// empty chunk; 10 MB/s is what a throttled recipient keeps up with.
const (
	assumedRate = 10 << 20 // bytes a second
	eachMove    = time.Second
	eachCut     = 100 * time.Millisecond
)

// OrphanDelay is how long a donor keeps what it gave away when nobody waits
// for the clean-up (orphanCleanupDelaySecs, by default).
const OrphanDelay = topology.OrphanDelay

// duration is how long the steps take, and in its method how that is known:
// "changelogRate" is measured from past migrations here, "assumedRate" is not.
func (d *draftBuilder) duration(bytes topology.Figure) topology.Figure {
	out := topology.Figure{Known: true, Method: "assumedRate", At: d.s.Now}
	if len(d.moves) == 0 {
		out.Value = (time.Duration(len(d.steps)) * eachCut).Milliseconds()
		out.Method = "assumedStep"
		return out
	}
	if !bytes.Known {
		return topology.Figure{Reason: bytes.Reason}
	}
	var rate float64
	rate, out.Method = d.copyRate()
	took := time.Duration(
		float64(bytes.Value)/rate*float64(time.Second),
	) + time.Duration(
		d.movedChunks(),
	)*eachMove + time.Duration(
		d.cuts,
	)*eachCut
	out.Value, out.PlusMinus = took.Milliseconds(), int64(float64(bytes.PlusMinus)/rate*1000)
	return out
}

// copyRate is how many bytes a second migrations copy, and how that is known.
func (d *draftBuilder) copyRate() (bytesPerSecond float64, method string) {
	if r, n := pastRate(d.s.Table.Events); n > 0 {
		return r, "changelogRate"
	}
	return assumedRate, "assumedRate"
}

// moveTime is how long one move takes, by itself.
func moveTime(bytes topology.Figure, chunks int, rate float64, method string, now time.Time) topology.Figure {
	if !bytes.Known {
		return topology.Figure{Reason: bytes.Reason}
	}
	took := time.Duration(float64(bytes.Value)/rate*float64(time.Second)) + time.Duration(chunks)*eachMove
	return topology.Figure{
		Known:     true,
		Value:     took.Milliseconds(),
		PlusMinus: int64(float64(bytes.PlusMinus) / rate * 1000),
		Method:    method,
		At:        now,
	}
}

// measurable is how many bytes a past migration must have copied for its time
// to say anything of the rate.
const measurable = 1 << 20

// pastRate is bytes a second over the finished migrations in the changelog,
// from their starts to their commits, and how many they are.
func pastRate(events []topology.Event) (rate float64, n int) {
	type key struct{ ns, min, from, to string }
	of := func(e topology.Event) key {
		from, _ := e.Details.Lookup("from").StringValueOK()
		to, _ := e.Details.Lookup("to").StringValueOK()
		return key{e.NS, string(e.Details.Lookup("min").Value), from, to}
	}
	ends := map[key]topology.Event{}
	var bytes float64
	var took time.Duration
	for _, e := range events { // newest first: an end is met before its start
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
			copied, _ := counts.Lookup("clonedBytes").AsInt64OK()
			if t := end.Time.Sub(e.Time); t > 0 && copied >= measurable {
				bytes, took, n = bytes+float64(copied), took+t, n+1
			}
		}
	}
	if n == 0 {
		return 0, 0
	}
	return bytes / took.Seconds(), n
}

// cleanFrom is from when what the moves leave behind is deleted, if nobody
// waits for it: until then nothing can come back.
func (d *draftBuilder) cleanFrom(took topology.Figure) time.Time {
	return d.s.Now.Add(time.Duration(took.Value)*time.Millisecond + OrphanDelay)
}
