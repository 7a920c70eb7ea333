package chunksize

import (
	"context"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// Viewed says that somebody looks at these chunks of a collection, by position:
// they are estimated in the background during the next two minutes, those of
// the last look first, in the order given.
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
		p := place{identityOf(c), ch.Min.Encoded()}
		if _, known := b.wanted[p]; !known && len(b.wanted) >= wantedMost && !b.drop(now) {
			break
		}
		b.wanted[p] = want{c: c, r: shardkey.Range{Min: ch.Min, Max: ch.Max}, until: now.Add(wantedFor), look: b.looked, order: n}
	}
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// drop makes room: what nobody looks at any more, else what was looked at
// longest ago. False when everything is of this look.
func (b *Book) drop(now time.Time) bool {
	var oldest place
	look := b.looked
	for p, w := range b.wanted {
		if now.After(w.until) {
			delete(b.wanted, p)
			continue
		}
		if w.look < look {
			oldest, look = p, w.look
		}
	}
	if len(b.wanted) < wantedMost {
		return true
	}
	delete(b.wanted, oldest)
	return look < b.looked
}

// Run measures what is looked at until ctx ends.
func (b *Book) Run(ctx context.Context) error {
	const every = time.Minute / PerMinute
	for {
		pause := every
		if c, r, ok := b.next(); ok {
			pause = max(every, b.fill(ctx, c, r))
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

// idle is how long nothing has to be looked for: while somebody looks, a
// measurement may become too old.
func (b *Book) idle() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.wanted) > 0 {
		return 10 * time.Second
	}
	return time.Hour
}

// fill estimates one chunk and gives how long to rest after it.
func (b *Book) fill(ctx context.Context, c *topology.Collection, r shardkey.Range) time.Duration {
	ctx, cancel := context.WithTimeout(ctx, estimateTime)
	defer cancel()
	begun := time.Now()
	_, err := b.ask(ctx, c, r, false)
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

// next is the chunk to estimate: of those looked at, one that was never
// measured, else the one measured longest ago.
func (b *Book) next() (*topology.Collection, shardkey.Range, bool) {
	t := b.tables.Table()
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	var best want
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

// due tells when a chunk was measured last, and whether it is time again.
func (b *Book) due(p place, max string, now time.Time) (time.Time, bool) {
	e, ok := b.entries.Peek(p)
	if !ok || e.max != max {
		return time.Time{}, true
	}
	if e.reason != "" && now.Sub(e.failed) < retryAfter {
		return time.Time{}, false
	}
	return e.size.At, now.Sub(e.size.At) >= renewAfter
}

// before orders what is due: never measured first, then the last look, then the
// place in it; of what was measured, the oldest.
func before(at time.Time, w want, otherAt time.Time, other want) bool {
	if !at.Equal(otherAt) {
		return at.Before(otherAt)
	}
	if w.look != other.look {
		return w.look > other.look
	}
	return w.order < other.order
}
