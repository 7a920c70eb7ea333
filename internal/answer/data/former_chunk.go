package data

import (
	"context"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/answer/logbook"
	"shardboard/internal/answer/writes"
	"shardboard/internal/api"
	"shardboard/internal/history"
	"shardboard/internal/message"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

const (
	formerEntries  = 20 // of the changelog, listed
	formerCoverers = 20 // chunks listed
)

// FormerChunk is what became of a chunk that is not in the table: it was merged away, or, on a page of the
// past, a later split made it.
type FormerChunk struct {
	NS   topology.Namespace
	Key  string // its lower bound; "" when not known
	What message.Message
	Log  []FormerEntry // about its keys, newest first
	// Whole is true if the upper bound is known too: Now are all chunks with its keys. Else Now is the one with
	// its first key.
	Whole bool
	Now   []FormerCoverer // at most formerCoverers
	More  int
}

// FormerEntry is an entry of the changelog.
type FormerEntry struct {
	At        time.Time
	Text, URL string
}

// FormerCoverer is a chunk with keys of the former one.
type FormerCoverer struct {
	Number     int // from 1, in key order
	URL, Shard string
}

// FormerChunkOf looks for a chunk by its reference, where none begins. kept is nil where no history is recorded.
func FormerChunkOf(ctx context.Context, v answer.View, kept *history.Past, c *topology.Collection, ref string) FormerChunk {
	log := writes.ReadHeatLog(ctx, v, kept, c.NS, time.Time{})
	log.Events = slices.DeleteFunc(slices.Clone(log.Events), func(e topology.Event) bool {
		return e.NS != string(c.NS) || e.Time.Unix() < int64(c.Incarnation.Timestamp.T)
	})
	key, found := formerBound(ctx, v, kept, c, ref, log.Events)
	if !found {
		return FormerChunk{NS: c.NS, What: message.New("nameless", "What became of it is not known: neither the changelog nor the recorded "+
			"history has a chunk with this reference. It is from before they begin, or of another cluster.")}
	}
	out := FormerChunk{NS: c.NS, Key: answer.BoundText(c.Key, key)}
	span, known := shardkey.Range{}, false // of the chunk
	var merged, made *logbook.Event
	for _, e := range log.Events { // newest first
		x := logbook.ReadEvent(e)
		if r, ok := newestWith(c, x, key); ok && !known {
			span, known = r, true
		}
		if change, ok := logbook.RangeChangeOf(c, x); ok && change.Span.Contains(key) && x.Outcome() {
			if change.What == "merge" && merged == nil && change.Span.Min.Compare(key) < 0 {
				merged = &x
			}
			if len(out.Log) < formerEntries {
				out.Log = append(out.Log, formerEntry(c.NS, x))
			}
		}
	}
	if merged == nil && v.Past != nil && kept != nil {
		made, span, known = madeLater(ctx, v, kept, c, key)
	}
	out.What = formerText(v, log, merged, made)
	out.cover(c, key, span, known)
	return out
}

// formerTables is how many past tables are searched for a chunk.
const formerTables = 5

// formerBound is the lower bound that a reference names: that in it, else that of a chunk of an entry, else of
// a chunk that was there right before one of the newest merges.
func formerBound(ctx context.Context, v answer.View, kept *history.Past, c *topology.Collection, ref string, events []topology.Event) (
	key shardkey.Key, found bool) {
	if _, key, err := c.ByRef(ref); err != nil || !key.IsZero() {
		return key, err == nil
	}
	var times []time.Time // of tables
	if v.Past != nil && kept != nil {
		times = append(times, v.Past.Now)
		if later, err := kept.EventsOf(ctx, v.Table.ClusterID, c.NS, v.Past.At, v.Past.Now, writes.HeatLogMost); err == nil {
			events = slices.Concat(later, events)
		}
	}
	for _, e := range events {
		x := logbook.ReadEvent(e)
		for _, r := range rangesOf(c, x) {
			for _, bound := range []shardkey.Key{r.Min, r.Max} {
				if strings.HasSuffix("."+c.Ref(bound), "."+ref) {
					return bound, true
				}
			}
		}
		if x.Kind() == "merge" {
			times = append(times, x.Time.Add(-time.Second))
		}
	}
	if kept == nil {
		return key, false
	}
	for _, at := range times[:min(len(times), formerTables)] {
		past, err := kept.Table(ctx, v.Table.ClusterID, at)
		if err != nil {
			continue
		}
		if was := past.Collection(c.NS); was != nil {
			if _, key, err := was.ByRef(ref); err == nil && !key.IsZero() {
				return key, true
			}
		}
	}
	return key, false
}

// newestWith is the range of the chunk with a lower bound that an entry is about or left behind.
func newestWith(c *topology.Collection, x logbook.Event, key shardkey.Key) (shardkey.Range, bool) {
	for _, r := range rangesOf(c, x) {
		if r.Min.Compare(key) == 0 {
			return r, true
		}
	}
	return shardkey.Range{}, false
}

// rangesOf are the chunks that an entry is about or left behind.
func rangesOf(c *topology.Collection, x logbook.Event) (out []shardkey.Range) {
	pairs := [][2]bson.Raw{}
	switch x.What {
	case "split":
		for _, part := range []string{"left", "right"} {
			d := topology.DocumentField(x.Details, part)
			pairs = append(pairs, [2]bson.Raw{topology.DocumentField(d, "min"), topology.DocumentField(d, "max")})
		}
	case "multi-split":
		d := topology.DocumentField(x.Details, "chunk")
		pairs = append(pairs, [2]bson.Raw{topology.DocumentField(d, "min"), topology.DocumentField(d, "max")})
	case "moveChunk.commit", "merge", "autoMerge":
		pairs = append(pairs, [2]bson.Raw{x.Min, x.Max})
	}
	for _, p := range pairs {
		if r, err := c.Key.Range(p[0], p[1]); err == nil {
			out = append(out, r)
		}
	}
	return out
}

// madeLater is the first split after a past time that began a chunk at a key.
func madeLater(ctx context.Context, v answer.View, kept *history.Past, c *topology.Collection, key shardkey.Key) (*logbook.Event,
	shardkey.Range, bool) {
	later, err := kept.EventsOf(ctx, v.Table.ClusterID, c.NS, v.Past.At, v.Past.Now, writes.HeatLogMost)
	if err != nil || len(later) == writes.HeatLogMost { // the first ones may be missing
		return nil, shardkey.Range{}, false
	}
	for _, e := range slices.Backward(later) {
		x := logbook.ReadEvent(e)
		if r, ok := newestWith(c, x, key); ok && x.Kind() == "split" {
			return &x, r, true
		}
	}
	return nil, shardkey.Range{}, false
}

func formerEntry(ns topology.Namespace, x logbook.Event) FormerEntry {
	m := api.HeatMark{At: x.Time.UTC(), Kind: x.Kind()}
	return FormerEntry{At: m.At, Text: x.Line(), URL: writes.MarkedEntries(ns, m)}
}

// formerText says what became of the chunk, as far as the changelog tells.
func formerText(v answer.View, log writes.HeatLog, merged, made *logbook.Event) message.Message {
	switch {
	case merged != nil && merged.Count > 1:
		return message.New("merged", "At {at} this chunk and its neighbours were merged (chunks merged into one: {n}).",
			message.Text("at", answer.FullInstant(merged.Time)), message.Count("n", merged.Count))
	case merged != nil:
		return message.New("merged", "At {at} this chunk was merged with its neighbours.", message.Text("at", answer.FullInstant(merged.Time)))
	case made != nil:
		return message.New("later", "It did not exist yet: a split made it at {at}.", message.Text("at", answer.FullInstant(made.Time)))
	case log.Since.IsZero():
		return message.New("unknown", "What became of it is not known: the changelog has no entries or cannot be read.")
	case v.Past != nil:
		return message.New("neither", "The changelog has no merge of it since {since}, and no later split that made it.",
			message.Text("since", answer.FullInstant(log.Since)))
	}
	return message.New("neither", "The changelog has no merge of it since {since}. It was merged before that, or the address is "+
		"of another cluster. A move or a split does not change the address.", message.Text("since", answer.FullInstant(log.Since)))
}

// cover lists the chunks that have its keys.
func (f *FormerChunk) cover(c *topology.Collection, key shardkey.Key, span shardkey.Range, known bool) {
	from, _ := c.Chunks.Find(key)
	if from < 0 {
		return
	}
	to := from + 1
	if f.Whole = known; known {
		from, to = c.Chunks.Overlap(span)
	}
	f.More = max(to-from-formerCoverers, 0)
	for i := from; i < to-f.More; i++ {
		ch := c.Chunks.At(i)
		f.Now = append(f.Now, FormerCoverer{Number: i + 1, URL: answer.ChunkURL(c.NS, answer.ChunkRef(c, ch.Min)), Shard: ch.Shard})
	}
}

// CoverText introduces the chunks that have its keys.
func (f FormerChunk) CoverText(past bool) string {
	switch {
	case past && f.Whole:
		return "Its keys were then in:"
	case past:
		return "Its first key was then in:"
	case f.Whole:
		return "Its keys are now in:"
	}
	return "Its first key is now in:"
}
