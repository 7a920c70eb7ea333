package chunksize

import (
	"context"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// Viewed registers that a user looks at these chunks of a collection (positions). They
// are estimated in the background during the next two minutes, those of the latest view
// first, in the given order.
func (b *Book) Viewed(c *topology.Collection, positions []int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	b.looked++
	for n, i := range positions {
		if i < 0 || i >= c.Chunks.Len() {
			continue
		}
		ch := c.Chunks.At(i)
		p := chunkKey{collectionIDOf(c), ch.Min.Encoded()}
		if _, known := b.wanted[p]; !known && len(b.wanted) >= wantedMost && !b.evictViewed(now) {
			break
		}
		b.wanted[p] = viewedChunk{c: c, r: shardkey.Range{Min: ch.Min, Max: ch.Max}, until: now.Add(wantedFor), view: b.looked, order: n}
	}
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// evictViewed removes chunks that are no longer viewed, or else those of the oldest
// view. False when all are of the current view.
func (b *Book) evictViewed(now time.Time) bool {
	var oldest chunkKey
	look := b.looked
	for p, w := range b.wanted {
		if now.After(w.until) {
			delete(b.wanted, p)
			continue
		}
		if w.view < look {
			oldest, look = p, w.view
		}
	}
	if len(b.wanted) < wantedMost {
		return true
	}
	delete(b.wanted, oldest)
	return look < b.looked
}

// Run estimates viewed chunks until ctx ends.
func (b *Book) Run(ctx context.Context) error {
	const every = time.Minute / PerMinute
	for {
		pause := every
		if c, r, ok := b.next(); ok {
			pause = max(every, b.estimateOne(ctx, c, r))
		} else {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-b.wake:
				continue
			case <-time.After(b.idle()):
				continue
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// idle is how long to wait when nothing is due; a measurement of a viewed chunk may
// become too old.
func (b *Book) idle() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.wanted) > 0 {
		return 10 * time.Second
	}
	return time.Hour
}

// estimateOne estimates one chunk and returns how long to pause after it.
func (b *Book) estimateOne(ctx context.Context, c *topology.Collection, r shardkey.Range) time.Duration {
	ctx, cancel := context.WithTimeout(ctx, estimateTime)
	defer cancel()
	begun := time.Now()
	_, err := b.measureOnce(ctx, c, r, false)
	rest := dutyCycle * time.Since(begun)
	switch {
	case err == nil:
		return rest
	case fault.Of(err) == fault.Forbidden:
		b.mu.Lock()
		b.denied[c.NS] = b.now().Add(retryAfter)
		b.mu.Unlock()
	case ReasonOf(err) == "unreachable":
		rest = max(rest, restAfter)
	}
	b.log.Debug("estimate a chunk", "ns", string(c.NS), "err", err)
	return rest
}

// next is the chunk to estimate: a viewed chunk without a measurement, or else the one
// with the oldest.
func (b *Book) next() (*topology.Collection, shardkey.Range, bool) {
	t := b.tables.Table()
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	var best viewedChunk
	var bestAt time.Time
	found := false
	for p, w := range b.wanted {
		if now.After(w.until) {
			delete(b.wanted, p)
			continue
		}
		c := t.Collection(p.of.ns)
		if c == nil || c.Incarnation != p.of.life {
			delete(b.wanted, p)
			continue
		}
		if i, ch := c.Chunks.FindEncoded(p.min); i < 0 || ch.Min.Encoded() != p.min || ch.Max.Compare(w.r.Max) != 0 {
			delete(b.wanted, p)
			continue
		}
		if now.Before(b.denied[p.of.ns]) {
			continue
		}
		at, due := b.due(p, w.r.Max.Encoded(), now)
		if !due || found && !before(at, w, bestAt, best) {
			continue
		}
		w.c = c
		best, bestAt, found = w, at, true
	}
	return best.c, best.r, found
}

// due returns when a chunk was last measured and whether it is due again.
func (b *Book) due(p chunkKey, max string, now time.Time) (time.Time, bool) {
	e, ok := b.entries.Peek(p)
	if !ok || e.max != max {
		return time.Time{}, true
	}
	if e.reason != "" && now.Sub(e.failed) < retryAfter {
		return time.Time{}, false
	}
	return e.size.At, now.Sub(e.size.At) >= renewAfter
}

// before orders due chunks: those never measured first, by latest view and position in
// it; then the oldest measurement.
func before(at time.Time, w viewedChunk, otherAt time.Time, other viewedChunk) bool {
	if !at.Equal(otherAt) {
		return at.Before(otherAt)
	}
	if w.view != other.view {
		return w.view > other.view
	}
	return w.order < other.order
}
