package spread

import (
	"math"
	"time"

	"shardboard/internal/answer/writes"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/heat"
	"shardboard/internal/heat/survey"
	"shardboard/internal/topology"
)

// amount is a number of a cell of the matrix: bytes, documents, or writes or reads per second. The zero
// value is an unknown one.
type amount struct {
	known     bool
	value     float64
	low, high float64       // between which it is; both are value if it is exact
	atLeast   bool          // parts of it are not known
	rough     bool          // an estimate without an interval
	since, at time.Time     // when it was read; of samples, when the first and the last row was
	moved     time.Time     // when a chunk of it last left or reached the shard after that; zero: none did
	mean      time.Duration // of operations, the mean time of one; 0 if none was timed
	reason    string        // catalogue code if it is not known
	why       string        // as a sentence, where the code does not tell
}

// nothing is the amount of what is certainly not there.
func nothing() amount { return amount{known: true} }

func unknownAmount(reason, why string) amount { return amount{reason: reason, why: why} }

// amountOf is a figure of the routing table.
func amountOf(f topology.Figure) amount {
	if !f.Known {
		return amount{reason: f.Reason}
	}
	v, pm := float64(f.Value), float64(f.PlusMinus)
	return amount{known: true, value: v, low: max(0, v-pm), high: v + pm, at: f.At, atLeast: f.Method == "partial"}
}

// rateAmount is a rate of writes that was counted until a time.
func rateAmount(r heat.Rate, at time.Time) amount {
	v := r.PerSecond
	return amount{known: true, value: v, low: max(0, v-r.PlusMinus), high: v + r.PlusMinus, atLeast: r.AtLeast, at: at}
}

// plus adds amounts. Intervals add up too, since their errors may depend on each other. A sum with
// an unknown part is a lower bound.
func (a amount) plus(b amount) amount {
	switch {
	case !a.known && !b.known:
		if a.reason == "" && a.why == "" {
			return b
		}
		return a
	case !a.known && a.reason == "" && a.why == "": // the beginning of a sum
		return b
	case !a.known:
		b.atLeast = true
		return b
	case !b.known:
		a.atLeast = true
		return a
	}
	if all := a.value + b.value; all > 0 {
		a.mean = time.Duration((a.value*float64(a.mean) + b.value*float64(b.mean)) / all)
	}
	a.value, a.low, a.high = a.value+b.value, a.low+b.low, a.high+b.high
	a.atLeast, a.rough = a.atLeast || b.atLeast, a.rough || b.rough
	a.moved = writes.LaterOf(a.moved, b.moved)
	if a.since.IsZero() || !b.since.IsZero() && b.since.Before(a.since) {
		a.since = b.since
	}
	if a.at.IsZero() || !b.at.IsZero() && b.at.Before(a.at) {
		a.at = b.at
	}
	return a
}

const noneSeen = "No row seen so far."

// estimateOf is an estimate from sampled rows.
func estimateOf(e survey.Estimate, since, at time.Time) amount {
	if e.AtLeast && e.Value == 0 {
		return unknownAmount("noneSeen", noneSeen)
	}
	out := amount{known: true, value: float64(e.Value), low: float64(e.Low), high: float64(e.High), atLeast: e.AtLeast, since: since, at: at}
	if e.Exact || e.AtLeast {
		out.low, out.high = out.value, out.value
	}
	return out
}

func (a amount) exact() bool { return a.known && !a.estimated() && !a.atLeast }

func (a amount) estimated() bool { return a.low != a.high || a.rough }

// none tells that nothing was seen, though there may be something.
func (a amount) none() bool { return a.known && a.value == 0 && a.high > 0 }

// of is the share of another amount; negative if unknown.
func (a amount) of(all amount) float64 {
	if !a.known || !all.known || all.value <= 0 {
		return -1
	}
	return min(1, a.value/all.value)
}

// order is the number that rows are sorted by; what is not known comes last.
func (a amount) order() float64 {
	if !a.known {
		return -1
	}
	return a.value
}

// text is the amount as cells show it; "–" if it is not known.
func (a amount) text(write func(float64) string) string {
	switch {
	case !a.known:
		return format.Unknown
	case a.none():
		return "≤\u202f" + write(a.high)
	case a.atLeast:
		return "≥\u202f" + write(a.value)
	case a.value < 0:
		return "−\u202f" + write(-a.value)
	case a.estimated():
		return "≈\u202f" + write(a.value)
	}
	return write(a.value)
}

// detail says how exact and how old the amount is, or why it is not known.
func (a amount) detail(write func(float64) string) string {
	switch {
	case !a.known && a.why != "":
		return a.why
	case !a.known:
		return topology.ReasonText(a.reason)
	}
	out := ""
	switch {
	case a.none():
		out = "none seen, at most " + write(a.high)
	case a.low != a.high:
		out = write(a.low) + " to " + write(a.high)
	}
	if a.mean > 0 {
		out = joinNotEmpty(out, format.Millis(float64(a.mean)/float64(time.Millisecond))+" each")
	}
	if a.atLeast {
		out = joinNotEmpty(out, "unknown parts are left out")
	}
	switch {
	case a.at.IsZero():
	case !a.since.IsZero() && a.since.Before(a.at):
		out = joinNotEmpty(out, "rows read "+format.Clock(a.since)+" to "+format.Clock(a.at))
	default:
		out = joinNotEmpty(out, "read at "+format.Clock(a.at))
	}
	if !a.moved.IsZero() {
		out = joinNotEmpty(out, a.movedText())
	}
	return out
}

// movedText says that chunks moved after the amount was read.
func (a amount) movedText() string {
	if !a.moved.After(a.since) && !a.since.IsZero() {
		return "chunks moved since"
	}
	return "chunks moved since, the last at " + format.Clock(a.moved)
}

func joinNotEmpty(a, b string) string {
	if a == "" {
		return b
	}
	return a + ", " + b
}

// figure is the amount as scripts read it.
func (a amount) figure(now time.Time) api.MatrixFigure {
	out := api.MatrixFigure{Exact: a.exact(), AtLeast: a.atLeast, At: api.Time(a.at), AgeSeconds: ageSeconds(a.at, now)}
	if !a.known {
		out.Reason = a.code()
		return out
	}
	value, low, high := int64(math.Round(a.value)), int64(math.Round(a.low)), int64(math.Round(a.high))
	out.Value, out.Low, out.High = &value, &low, &high
	return out
}

// rate is a rate as scripts read it.
func (a amount) rate(now time.Time) api.MatrixRate {
	out := api.MatrixRate{Exact: a.exact(), AtLeast: a.atLeast, At: api.Time(a.at), AgeSeconds: ageSeconds(a.at, now)}
	if !a.known {
		out.Reason = a.code()
		return out
	}
	out.Value, out.Low, out.High = &a.value, &a.low, &a.high
	return out
}

func (a amount) code() string {
	if a.reason == "" {
		return "notLoaded"
	}
	return a.reason
}

func ageSeconds(at, now time.Time) *int64 {
	if at.IsZero() {
		return nil
	}
	age := int64(max(0, now.Sub(at)).Seconds())
	return &age
}
