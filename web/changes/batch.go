package changes

import (
	"net/http"
	"slices"
	"strconv"

	"shardboard/internal/actions/engine"
	"shardboard/internal/answer"
	"shardboard/internal/answer/changing"
	"shardboard/internal/answer/param"
	"shardboard/internal/api"
	"shardboard/web/site"
)

// maxBatchBody is how many bytes a request for a plan may have: a batch names up to 1,000 changes.
const maxBatchBody = 4 << 20

// itemsShown is how many items of a batch are on one page.
const itemsShown = 50

// items are a part of the items of a batch, by number.
func items(s *site.Site, r *http.Request) (out api.List[api.BatchItem], err error) {
	id, err := recordID(r)
	if err != nil {
		return out, err
	}
	q, err := param.Read[itemsQuery](r.URL.Query())
	if err != nil {
		return out, err
	}
	limit := min(q.limit, 200)
	out.Items, err = changing.BatchItems(r.Context(), s.ViewFor(r), s.Deps.Changes.Actions, id, q.after, limit)
	if err != nil {
		return out, err
	}
	out.AsOf = s.Deps.Now()
	if len(out.Items) == limit {
		out.Next = answer.CursorOf(strconv.Itoa(out.Items[limit-1].Item))
	}
	return out, nil
}

// itemsQuery is a part of the items of a batch, or of the commands of a plan.
type itemsQuery struct {
	after int // the number of the last item before it
	limit int
}

// Parameters are those of the address.
func (q *itemsQuery) Parameters() param.List {
	return param.List{param.Place(&q.after), param.Limit(&q.limit)}
}

// batchItems is a part of the items of a batch, for its page.
type batchItems struct {
	Items    []api.BatchItem
	From, To int
	Previous string // addresses; "" for none
	Next     string
}

// batchItemsOf reads the items that the address asks for; nil for a run that is no batch.
func batchItemsOf(s *site.Site, r *http.Request, v answer.View, run engine.Run) (*batchItems, error) {
	if !run.IsBatch() {
		return nil, nil
	}
	q, err := param.Read[itemsQuery](r.URL.Query())
	if err != nil {
		return nil, err
	}
	list, err := changing.BatchItems(r.Context(), v, s.Deps.Changes.Actions, run.ID, q.after, itemsShown)
	if err != nil {
		return nil, err
	}
	out := &batchItems{Items: list, From: q.after + 1, To: q.after + len(list)}
	at := func(n int) string {
		return "/runs/" + run.ID + "?cursor=" + string(answer.CursorOf(strconv.Itoa(n))) + "#items"
	}
	if q.after > 0 {
		out.Previous = at(max(0, q.after-itemsShown))
	}
	if out.To < run.Batch.Items {
		out.Next = at(out.To)
	}
	return out, nil
}

// trialLabel says what happens to an item that has failed.
func trialLabel(t api.BatchTrial) string {
	switch engine.TrialState(t.State) {
	case engine.TrialRetry:
		return "is tried again"
	case engine.TrialWaits:
		return "waits for a decision"
	case engine.TrialSkip:
		return "skipped"
	}
	return t.State
}

// waitsForDecision reports whether an item that failed waits for a person.
func waitsForDecision(b *api.RunBatch) bool {
	return slices.ContainsFunc(b.Problems, func(t api.BatchTrial) bool { return t.State == string(engine.TrialWaits) })
}
