package heat

import (
	"context"
	"sync"
	"time"

	"shardboard/internal/clock"
)

// PerSecond is how many documents per second the cluster may return to all measurements together,
// on average.
const PerSecond = 200

// burstSeconds is how many seconds of the budget can be saved up.
const burstSeconds = 10

// Budget limits the documents that the cluster returns to measurements; all of them share one. A
// read returns what it did not use, which x/time/rate cannot do in part. Safe for concurrent use.
type Budget struct {
	mu     sync.Mutex
	now    func() time.Time
	rate   float64
	tokens float64
	filled time.Time
	pause  func() bool
}

// NewBudget allows so many documents a second, of which ten seconds' worth can be saved up; 0 is
// PerSecond. A nil now is time.Now.
func NewBudget(perSecond int, now func() time.Time) *Budget {
	if perSecond <= 0 {
		perSecond = PerSecond
	}
	if now == nil {
		now = time.Now
	}
	return &Budget{now: now, rate: float64(perSecond), tokens: float64(perSecond * burstSeconds), filled: now()}
}

// PauseWhile allows no read while paused says so. Call it before the budget is used.
func (b *Budget) PauseWhile(paused func() bool) { b.pause = paused }

func (b *Budget) paused() bool { return b.pause != nil && b.pause() }

// Burst is the most that can be held at once.
func (b *Budget) Burst() int { return int(b.rate) * burstSeconds }

func (b *Budget) fill() {
	now := b.now()
	if d := now.Sub(b.filled); d > 0 {
		b.tokens = min(b.tokens+d.Seconds()*b.rate, b.rate*burstSeconds)
	}
	b.filled = now
}

// Hold takes up to n documents that may be read now, possibly none. Give returns what was not used.
func (b *Budget) Hold(n int) int { return b.HoldBut(0, n) }

// HoldBut takes up to n documents but leaves so many to others; with fewer available it takes none.
func (b *Budget) HoldBut(leave, n int) int {
	if b.paused() {
		return 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fill()
	n = max(0, min(n, int(b.tokens)-leave))
	b.tokens -= float64(n)
	return n
}

// Give returns what was held and not used.
func (b *Budget) Give(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tokens = min(b.tokens+float64(max(0, n)), b.rate*burstSeconds)
}

// Wait blocks until it can hold n documents, at most Burst.
func (b *Budget) Wait(ctx context.Context, n int) error {
	n = min(n, b.Burst())
	for {
		if b.paused() {
			if err := clock.Sleep(ctx, time.Second); err != nil {
				return err
			}
			continue
		}
		b.mu.Lock()
		b.fill()
		missing := float64(n) - b.tokens
		if missing <= 0 {
			b.tokens -= float64(n)
			b.mu.Unlock()
			return nil
		}
		b.mu.Unlock()
		if err := clock.Sleep(ctx, time.Duration(missing/b.rate*float64(time.Second))+time.Millisecond); err != nil {
			return err
		}
	}
}
