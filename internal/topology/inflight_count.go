package topology

import (
	"context"
	"slices"
	"time"
)

// count asks how many documents the recipients have: of collections that
// somebody looks at, and of migrations that are not over at once.
func (f *flights) count(ctx context.Context, now time.Time) {
	var wanted []*flight
	for _, x := range f.list {
		old := now.Sub(x.row.Since) >= countAfter || now.Sub(x.first) >= countAfter
		if (old || f.w.viewed.recently(x.NS, now)) && f.due(x.counted, x.first, now) && now.Sub(x.counted) >= f.rest(x.failed) {
			wanted = append(wanted, x)
		}
	}
	// Who waits longest is first; the others have their turn later.
	slices.SortStableFunc(wanted, func(a, b *flight) int { return a.counted.Compare(b.counted) })
	var asked []Namespace
	for _, x := range wanted {
		if slices.Contains(asked, x.NS) || len(asked) == countsPerTurn {
			continue
		}
		asked = append(asked, x.NS)
		read, cancel := context.WithTimeout(ctx, min(f.w.o.Timeout, shardsWait))
		counts, err := f.src.Counts(read, x.NS)
		cancel()
		if ctx.Err() != nil {
			return
		}
		at := time.Now()
		for _, y := range f.list {
			if y.NS == x.NS {
				y.count(counts, err, at)
			}
		}
	}
}

// count takes one read of the counts over.
func (x *flight) count(counts map[string]int64, err error, at time.Time) {
	x.counted, x.failed = at, err
	if err != nil {
		// What was copied when it could last be counted stays, with its time.
		if !x.row.Copied.Known {
			x.row.Copied = Figure{Reason: reasonOf(err), At: at}
		}
		return
	}
	n, told := counts[x.To]
	switch {
	case !told:
		x.row.Copied = Figure{Reason: "recipientNotAsked", At: at}
	case x.baseAt.IsZero():
		x.base, x.baseAt = n, at
		x.row.Copied = Figure{Reason: "countedOnce", At: at}
	case n < x.base:
		x.row.Copied = Figure{Reason: "countFell", At: at}
	default:
		x.row.Copied = Figure{Known: true, Value: n - x.base, Method: "recipientCount", At: at}
	}
}

// A donor has six steps: with the third the recipient has begun to copy, with the
// fourth it has all documents. A recipient has seven, and copies from the second
// on. Source: MongoDB 5.0, migration_source_manager, its caller, and migration_destination_manager. On 8.0.10 a
// recipient has eight, and is at its third while it copies.
var recipientSteps = []int{7, 8}

const (
	donorSteps      = 6
	startedStep     = 3
	copiedStep      = 4
	recipientCopies = 2
)

// unseenLimit is how much of a migration may have gone by before the first
// count for what was copied to stand for all of it: this long, or a tenth.
const unseenLimit = 5 * time.Second

// A rate from less than a fiftieth of the documents is chance, unless it lasts: a donor
// that has just begun would seem to need hours.
const (
	firstShare  = 50
	firstCopies = 30 * time.Second
)

// left estimates the time that copying still takes from its rate so far.
func (x *flight) left() TimeLeft {
	c, e := x.row.Copied, x.row.Estimate
	switch {
	case x.row.Steps == donorSteps && x.row.Step >= copiedStep:
		return TimeLeft{Reason: "copied"}
	case !c.Known:
		return TimeLeft{Reason: c.Reason}
	case !e.Known:
		return TimeLeft{Reason: e.Reason}
	}
	took := c.At.Sub(x.baseAt)
	missed := x.baseAt.Sub(x.row.Since)
	switch {
	case x.row.AtLeast || missed > max(unseenLimit, took/10):
		return TimeLeft{Reason: "beginUnseen"}
	case c.Value >= e.Value:
		return TimeLeft{Reason: "beyondEstimate"}
	case c.Value == 0 || took < time.Second, c.Value < e.Value/firstShare && took < firstCopies:
		return TimeLeft{Reason: "noRate"}
	}
	left := float64(e.Value-c.Value) / float64(c.Value) * took.Seconds()
	const longest = 30 * 24 * 60 * 60 // beyond a month the rate says nothing
	if left > longest {
		return TimeLeft{Reason: "noRate"}
	}
	return TimeLeft{Known: true, For: max(time.Duration(left)*time.Second, time.Second)}
}

// estimateRows is how many documents a range has, from the donor's average per
// chunk. A range that is a part of a chunk (6.0 and later cut it when it moves)
// has no more than fit into a full chunk.
func estimateRows(t *Table, m InFlight) Figure {
	size := t.SizeOn(m.NS, m.From)
	docs := size.Documents
	if !docs.Known {
		return Figure{Reason: docs.Reason}
	}
	c := t.Collection(m.NS)
	from, to := m.Positions(c)
	if from == to {
		return Figure{Reason: "notLoaded"}
	}
	chunks := c.Chunks.CountByShard()[m.From]
	if chunks == 0 {
		return Figure{Reason: "notLoaded"} // it has arrived: the donor has none of it
	}
	rows := docs.Value * int64(to-from) / int64(chunks)
	if rows == 0 && docs.Value > 0 {
		rows = 1
	}
	limit := c.MaxChunkBytes
	if limit == 0 {
		limit = t.Balancer.ChunkBytes
	}
	part := to-from == 1 && !m.fills(c, from)
	if bytes := size.Bytes; part && limit > 0 && bytes.Known && bytes.Value > 0 {
		rows = min(rows, max(int64(float64(docs.Value)*float64(limit)/float64(bytes.Value)), 1))
	}
	return Figure{Known: true, Value: rows, Method: "chunkShare", At: docs.At}
}

// fills tells whether the range is the whole chunk at a position.
func (m InFlight) fills(c *Collection, i int) bool {
	ch := c.Chunks.At(i)
	lower, err := c.Key.Bound(m.Min)
	if err != nil || lower.Compare(ch.Min) != 0 {
		return false
	}
	upper, err := c.Key.Bound(m.Max)
	return err != nil && len(m.Max) == 0 || err == nil && upper.Compare(ch.Max) == 0
}
