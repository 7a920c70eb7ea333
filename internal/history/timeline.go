package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/store"
	"shardboard/internal/topology"
)

// Query selects changes in [From, To).
type Query struct {
	NS       topology.Namespace // "" = any
	From, To time.Time
	Limit    int
	// Skip skips so many items of the first moment; with From it continues where a page ended.
	Skip int
	// Internal includes the server's own collections (topology.IsInternal); NS can name one of them
	// without it.
	Internal bool
	Runs     []OurRun // our runs in that time, for the causes
	// Rounds are the balancer's logged rounds, also for the causes.
	Rounds topology.Rounds
}

// Timeline is a page of changes, oldest first. Next and Skip are where the next page begins; a zero
// Next is the end.
type Timeline struct {
	Items []Item
	Gaps  []Gap
	Next  time.Time
	Skip  int
	// Hidden is how many changes and entries of internal collections were left out of this page's
	// time span.
	Hidden int
	// Unreadable is how many stored changes of this page's time span were left out because they
	// cannot be decoded.
	Unreadable int
}

// undecodable reports whether an error concerns one stored row: its body is damaged or does not fit
// the rows before it. Other errors are failures to read.
func undecodable(err error) bool {
	return err != nil && fault.Of(err) != fault.Unavailable && !errors.Is(err, context.Canceled)
}

// hides reports whether a collection is left out.
func (q Query) hides(ns topology.Namespace) bool {
	return !q.Internal && q.NS == "" && topology.IsInternal(ns)
}

// entriesRead is how many stored changes one page reads at most; with more changes the page is
// shorter.
const entriesRead = 1000

// Timeline returns the observed and logged changes.
func (p *Past) Timeline(ctx context.Context, cluster string, q Query) (Timeline, error) {
	var hidden []time.Time // times of what was left out
	out := Timeline{}
	observed, until, err := p.observed(ctx, cluster, q, &hidden, &out.Unreadable)
	if err != nil {
		return Timeline{}, err
	}
	to := q.To
	if !until.IsZero() {
		to = until
	}
	logged, until, err := p.logged(ctx, cluster, q, to, &hidden)
	if err != nil {
		return Timeline{}, err
	}
	if !until.IsZero() {
		to = until
	}
	items := slices.DeleteFunc(slices.Concat(observed, logged), func(i Item) bool {
		if i.Kind != Logged && q.hides(i.NS) {
			hidden = append(hidden, i.At)
			return true
		}
		return !i.At.Before(to) || q.NS != "" && i.NS != q.NS && i.NS != ""
	})
	slices.SortStableFunc(items, func(a, b Item) int { return a.At.Compare(b.At) })
	skip := 0
	for skip < len(items) && skip < q.Skip && items[skip].At.Equal(q.From) {
		skip++
	}
	end := min(len(items), skip+q.Limit)
	out.Items = items[skip:end]
	switch {
	case end < len(items):
		out.Next = items[end].At
		for i := end - 1; i >= 0 && items[i].At.Equal(out.Next); i-- {
			out.Skip++
		}
	case to.Before(q.To):
		out.Next = to
	}
	for _, at := range hidden {
		if at.Before(to) && (out.Next.IsZero() || at.Before(out.Next)) {
			out.Hidden++
		}
	}
	if err := p.causes(ctx, cluster, out.Items, q.Runs, q.Rounds); err != nil {
		return Timeline{}, err
	}
	if err := p.reasons(ctx, cluster, out.Items, q.Runs); err != nil {
		return Timeline{}, err
	}
	out.Gaps, err = p.Gaps(ctx, cluster, q.From, q.To)
	return out, err
}

// entries reads stored changes. When there are too many it returns only complete moments, and the
// time from which on entries are missing.
func (p *Past) entries(ctx context.Context, cluster, prefix string, from, to time.Time) ([]store.HistoryEntry, time.Time, error) {
	for limit := entriesRead; ; limit *= 8 {
		list, err := p.kept.HistoryBetween(ctx, cluster, prefix, from, to, limit)
		if err != nil || len(list) < limit {
			return list, time.Time{}, err
		}
		until := list[len(list)-1].At
		if list[0].At.Before(until) {
			return slices.DeleteFunc(list, func(e store.HistoryEntry) bool { return !e.At.Before(until) }), until, nil
		}
	}
}

// observed makes items of stored changes; until is where it stopped, if before q.To.
func (p *Past) observed(
	ctx context.Context,
	cluster string,
	q Query,
	hidden *[]time.Time,
	unreadable *int,
) (items []Item, until time.Time, err error) {
	frames, cut, err := p.entries(ctx, cluster, frameStream, q.From, q.To)
	if err != nil {
		return nil, until, err
	}
	to := q.To
	if !cut.IsZero() {
		to, until = cut, cut
	}
	prefix := chunksPrefix
	if q.NS != "" {
		prefix += string(q.NS) + "/"
	}
	changes, cut, err := p.entries(ctx, cluster, prefix, q.From, to)
	if err != nil {
		return nil, until, err
	}
	if !cut.IsZero() {
		to, until = cut, cut
	}
	keys := map[string]topology.Meta{} // collections by stream
	var last *pastFrame
	take := func(e store.HistoryEntry, quiet bool) error {
		f, err := readFrame(e.Body)
		if undecodable(err) {
			if !quiet {
				*unreadable++
			}
			return nil // the change appears with the next frame
		}
		if err != nil {
			return err
		}
		for _, m := range f.metas {
			keys[chunksStream(m)] = m
		}
		if last != nil && !quiet {
			items = append(items, diffFrames(*last, f, e.At)...)
		}
		last = &f
		return nil
	}
	before, err := p.kept.HistoryOf(ctx, cluster, frameStream, q.From.Add(-time.Millisecond))
	if err != nil {
		return nil, until, err
	}
	for _, e := range before {
		if err := take(e, true); err != nil {
			return nil, until, err
		}
	}
	for _, e := range frames {
		if !e.At.Before(to) {
			break
		}
		if err := take(e, false); err != nil {
			return nil, until, err
		}
	}
	maps := map[string]*topology.ChunkMap{}
	for _, e := range changes {
		meta, known := keys[e.Stream]
		if !known {
			continue
		}
		if q.hides(meta.NS) {
			if !e.Whole { // a full state is not a change
				*hidden = append(*hidden, e.At)
			}
			continue
		}
		more, err := p.chunkItems(ctx, cluster, maps, meta, e, q.From)
		if undecodable(err) {
			*unreadable++
			continue
		}
		if err != nil {
			return nil, until, err
		}
		items = append(items, more...)
	}
	return items, until, nil
}

// chunkItems applies one stored change to the map before it.
func (p *Past) chunkItems(
	ctx context.Context,
	cluster string,
	maps map[string]*topology.ChunkMap,
	meta topology.Meta,
	e store.HistoryEntry,
	from time.Time,
) ([]Item, error) {
	m, begun := maps[e.Stream]
	if !begun {
		c, _, err := p.chunks(ctx, cluster, meta, from.Add(-time.Millisecond))
		if err != nil {
			return nil, err
		}
		if c != nil {
			m = c.Chunks
		}
	}
	body, err := unpack(e.Body)
	if err != nil {
		return nil, err
	}
	rows, err := decodeChunks(body)
	if err != nil {
		return nil, fmt.Errorf("chunks of %s: %w", meta.NS, err)
	}
	if m == nil || e.Whole {
		whole, err := topology.BuildChunks(meta.Key, newest(rows))
		if err != nil {
			return nil, fmt.Errorf("chunks of %s at %s: %w", meta.NS, e.At, err)
		}
		if m == nil {
			maps[e.Stream] = whole
			return nil, nil
		}
		rows = whole.Delta(m)
	}
	// Flags change without a new version and are no change of placement.
	flagged, _ := m.Reflag(slices.Clone(rows))
	next, changes, err := flagged.Apply(rows)
	if errors.Is(err, topology.ErrTorn) {
		if c, _, aerr := p.chunks(ctx, cluster, meta, e.At); aerr == nil && c != nil {
			next, changes, err = c.Chunks, nil, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("chunks of %s at %s: %w", meta.NS, e.At, err)
	}
	maps[e.Stream] = next
	out := make([]Item, 0, len(changes))
	for _, c := range changes {
		kind := map[topology.ChangeKind]Kind{topology.Moved: Moved, topology.Split: Split, topology.Merged: Merged}[c.Kind]
		if kind == "" {
			continue
		}
		out = append(out, Item{At: e.At, Kind: kind, NS: meta.NS, Key: meta.Key, Min: c.Min, Max: c.Max, From: c.From, To: c.To})
	}
	return out, nil
}

// logged makes items of stored changelog entries.
func (p *Past) logged(
	ctx context.Context,
	cluster string,
	q Query,
	to time.Time,
	hidden *[]time.Time,
) (items []Item, until time.Time, err error) {
	limit := q.Limit + q.Skip + 1
	ask := store.HistoryEvents{From: q.From, To: to, NS: string(q.NS), Ascending: true, Limit: limit}
	if !q.Internal && q.NS == "" {
		ask.Without = func(e store.HistoryEvent) bool {
			internal := keptEvent(e).Internal()
			if internal {
				*hidden = append(*hidden, e.At)
			}
			return internal
		}
	}
	list, err := p.kept.Events(ctx, cluster, ask)
	if err != nil {
		return nil, until, err
	}
	if len(list) == limit && list[0].At.Before(list[limit-1].At) {
		until = list[limit-1].At
	}
	for _, e := range list {
		items = append(items, loggedItem(e))
	}
	return items, until, nil
}

func loggedItem(e store.HistoryEvent) Item {
	x := keptEvent(e)
	i := Item{At: e.At, Kind: Logged, NS: topology.Namespace(e.NS), Event: &x, Failed: e.Failed && !x.MoveToSelf()}
	i.From, i.To = topology.TextField(x.Details, "from"), topology.TextField(x.Details, "to")
	i.RawMin, i.RawMax = topology.DocumentField(x.Details, "min"), topology.DocumentField(x.Details, "max")
	if b := topology.DocumentField(x.Details, "before"); b != nil {
		i.RawMin, i.RawMax = topology.DocumentField(b, "min"), topology.DocumentField(b, "max")
	}
	if i.Failed {
		if i.Reason = topology.TextField(x.Details, "errmsg"); i.Reason != "" {
			i.ReasonFrom = x.What
		}
		i.ReasonCode = CodeOf(i.Reason)
	}
	return i
}

func keptEvent(e store.HistoryEvent) topology.Event {
	return topology.Event{ID: e.ID, Time: e.At, What: e.What, NS: e.NS, Shard: e.Shard, Details: bson.Raw(e.Details)}
}

// reasonsRead bounds the entries read for the reasons of one page.
const reasonsRead = 5000

// reasons sets why moves failed: a failure's entry rarely has the reason, and the entries that do
// may be on another page.
func (p *Past) reasons(ctx context.Context, cluster string, items []Item, runs []OurRun) error {
	var from, to time.Time
	for _, i := range items {
		if i.Event == nil || !i.Event.FailedMove() {
			continue
		}
		if from.IsZero() {
			from = i.At.Add(-lateEntry)
		}
		to = i.At.Add(lateEntry)
	}
	if from.IsZero() {
		return nil
	}
	list, err := p.kept.Events(ctx, cluster, store.HistoryEvents{From: from, To: to, OnlyFailed: true, Limit: reasonsRead})
	if err != nil {
		return err
	}
	events := make([]topology.Event, 0, len(list))
	for _, e := range list {
		events = append(events, keptEvent(e))
	}
	why := Reasons(events, func() []OurRun { return runs })
	for n := range items {
		if i := &items[n]; i.Event != nil && i.Event.FailedMove() {
			r := why[i.Event.ID]
			i.Reason, i.ReasonFrom, i.ReasonCode = r.Text, r.From, cmp.Or(r.Code, NoReason)
		}
	}
	return nil
}
