package changing

import (
	"context"
	"fmt"
	"strings"
	"time"

	"shardboard/internal/actions/engine"
	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/message"
)

// batchOf is how far a batch is; nil for another run.
func batchOf(v answer.View, r engine.Run) *api.RunBatch {
	b := r.Batch
	if b == nil {
		return nil
	}
	out := &api.RunBatch{Items: b.Items, Done: b.Done, Skipped: b.Skipped, Groups: b.Groups, Group: b.Group, Checked: b.Checked,
		Open: []api.BatchOpen{}, Problems: []api.BatchTrial{}, Progress: BatchProgress(r, v.Now)}
	out.Rows = api.BatchRows{Same: b.Rows.Same, Different: b.Rows.Different, Unknown: b.Rows.Unknown, Text: b.Rows.Text().String(),
		Counts: RowsOf(b.Rows.Counts)}
	say := func(m message.Message) string { return v.Named(batchText(v, m)).String() }
	out.Health = answer.Map(b.Gates, func(g engine.Gate) api.BatchGate {
		return api.BatchGate{Group: g.Group, At: api.Time(g.At), Findings: answer.Map(g.Findings, say), Unknown: answer.Map(g.Unknown, say)}
	})
	for _, o := range b.Open {
		out.Open = append(out.Open, api.BatchOpen{Item: o.Item, Run: o.Run})
	}
	for _, t := range b.Problems {
		out.Problems = append(out.Problems, api.BatchTrial{Item: t.Item, Run: t.Run, Tries: t.Tries, State: string(t.State), Why: say(t.Why)})
	}
	if h := b.Hold; h != nil {
		out.Paused, out.PausedBy, out.PausedAt, out.Why = true, h.By, api.Time(h.At), say(h.Why)
	}
	if r.State.Open() {
		out.Waits = say(b.Waits)
		if b.Next.After(v.Now) {
			out.NextAt = api.Time(b.Next)
		}
		if left, ok := b.TimeLeft(v.Now); ok {
			seconds := left.Seconds()
			out.Seconds = &seconds
		}
	}
	return out
}

// batchText is a sentence about a batch, as far as those who look may see it.
func batchText(v answer.View, m message.Message) message.Message {
	if v.Table.Hiding() != nil {
		m = answer.HideInMessage(m)
	}
	if v.Hidden.Texts {
		m = hideServerText(m)
	}
	return m
}

// hideServerText takes the words of a server out of a sentence.
func hideServerText(m message.Message) message.Message {
	for _, f := range m.Facts {
		if f.Kind == message.KindServer {
			m = m.With(message.Server(f.Name, answer.HideText(f.Value)))
		}
	}
	return m
}

// BatchProgress is how far a batch is, in one line; "" for another run.
func BatchProgress(r engine.Run, now time.Time) string {
	b := r.Batch
	if b == nil {
		return ""
	}
	text := fmt.Sprintf("Batch: %s of %s", format.Count(int64(b.Done)), answer.Counted(b.Items, "item", "items"))
	if b.Skipped > 0 {
		text += fmt.Sprintf(", %s skipped", format.Count(int64(b.Skipped)))
	}
	switch left, known := b.TimeLeft(now); {
	case !r.State.Open():
		return text
	case r.StopBy != "":
		return text + ", stopping"
	case b.Hold != nil && len(b.Waiting()) > 0:
		return text + ", paused: a failed item waits for a decision"
	case b.Hold != nil && b.Hold.Code == engine.HoldGate:
		return text + ", paused: the health of the cluster"
	case b.Hold != nil:
		return text + ", paused"
	case known:
		return text + ", about " + MillisText(left.Milliseconds()) + " left"
	}
	return text
}

// BatchItems are items of a batch, those after a number.
func BatchItems(ctx context.Context, v answer.View, kept engine.Service, run string, after, limit int) ([]api.BatchItem, error) {
	items, err := kept.BatchItems(ctx, run, after, limit)
	if err != nil {
		return nil, err
	}
	out := make([]api.BatchItem, 0, len(items))
	for _, x := range items {
		out = append(out, api.BatchItem{Item: x.Number, Group: x.Group, Kind: string(x.Kind), Summary: v.Named(batchText(v, x.Summary)).String(),
			State: string(x.State), Run: x.Run, Tries: x.Tries, Why: v.Named(batchText(v, x.Why)).String(),
			StartedAt: api.Time(x.Began), EndedAt: api.Time(x.Ended)})
	}
	return out, nil
}

// BatchBanner is the banner of a batch that has not ended.
func BatchBanner(r engine.Run, now time.Time) message.Message {
	code := BatchBannerCode
	if r.Batch.Hold != nil {
		code = BatchHeldCode
	}
	return message.New(code, "{progress}.", message.Words("progress", strings.TrimSuffix(BatchProgress(r, now), ".")),
		message.Text("run", r.ID))
}

// Codes of the banners of batches: one that runs, and one that is paused.
const (
	BatchBannerCode = "batch"
	BatchHeldCode   = "batch.held"
)
