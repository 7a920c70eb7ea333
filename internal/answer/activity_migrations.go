package answer

import (
	"fmt"
	"strconv"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/history"
	"shardboard/internal/topology"
	"shardboard/web/words"
)

func MigrationOf(v View, m history.Migration) api.Migration {
	out := api.Migration{NS: string(m.NS), Min: v.document(m.Min), Max: v.document(m.Max), From: m.From, To: m.To, Begin: m.Begin.UTC(), End: api.Time(m.End),
		State: string(m.Outcome), DonorMillis: stepMillis(m.Donor), DonorSteps: m.DonorSteps, RecipientMs: stepMillis(m.Recipient), RecipientSteps: m.RecipientSteps,
		Internal: topology.IsInternal(m.NS), Cause: *whoDid(m.Cause)}
	if m.Outcome == history.Aborted || m.Reason != "" {
		out.FailureReason = failureReason(m.Why())
	}
	if m.Documents >= 0 {
		out.Documents = &m.Documents
	}
	if m.Bytes >= 0 {
		out.Bytes = &m.Bytes
	}
	if e := m.ETA; e != nil {
		out.ETA = &api.MigrationEstimate{At: e.At.UTC(), Overdue: v.Now.After(e.At), Basis: e.Basis, SameCollection: e.SameColl}
	}
	return out
}

func stepMillis(list []time.Duration) []int64 {
	out := make([]int64, len(list))
	for i, d := range list {
		out[i] = d.Milliseconds()
	}
	return out
}

// movesShown is how many ended moves have their steps drawn, and reasonsShown
// how many reasons of failures are listed.
const (
	MovesShown   = 12
	ReasonsShown = 10
)

// donorSteps is how many steps of the donor have names: those of a move as
// releases up to 7.0 log it. Source: MongoDB 5.0, migration_source_manager and
// its caller.
const DonorSteps = 6

// withoutInternal leaves out the ended moves of the server's own collections.
func WithoutInternal(all []history.Migration, internal bool) []history.Migration {
	if internal {
		return all
	}
	out := make([]history.Migration, 0, len(all))
	for _, m := range all {
		if !topology.IsInternal(m.NS) || UnderWay(m) {
			out = append(out, m)
		}
	}
	return out
}

// underWay tells whether a move may still keep two shards busy.
func UnderWay(m history.Migration) bool {
	return m.Outcome == history.Running || m.Outcome == history.Committed
}

func StepsSum(list []time.Duration) time.Duration {
	var sum time.Duration
	for _, d := range list {
		sum += d
	}
	return sum
}

func StepName(i, of int) string {
	if of == DonorSteps {
		return words.T("moves.step." + strconv.Itoa(i+1))
	}
	return fmt.Sprintf("step %s of %s", strconv.Itoa(i+1), strconv.Itoa(of))
}

// duration is precise where Span is not: steps take milliseconds.
func Duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + " ms"
	case d < 10*time.Second:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	}
	return format.Span(d)
}

// chunkOfBound is the short name of the chunk that holds a lower bound now.
func ChunkOfBound(t *topology.Table, ns topology.Namespace, min bson.Raw) string {
	c := t.Collection(ns)
	if c == nil || c.Chunks.Len() == 0 || len(min) == 0 {
		return ""
	}
	k, err := c.Key.Bound(min)
	if err != nil {
		return ""
	}
	_, ch := c.Chunks.Find(k)
	return ChunkName(c, ch.Min)
}
