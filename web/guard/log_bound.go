package guard

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Lines of the log for requests of nobody: people without an account choose how
// many there are, and a log can fill a disk. At two a second they are 20 MB a day.
// The metrics count every request.
const (
	NobodyLines     = 600
	nobodyLinePause = 500 * time.Millisecond
)

// LineBound bounds how many lines are written and counts those that are not.
type LineBound struct {
	mu      sync.Mutex
	lines   *rate.Limiter
	leftOut int64
}

// NewLineBound makes a bound of NobodyLines at once, and of one line more after each pause.
func NewLineBound() *LineBound {
	return &LineBound{lines: rate.NewLimiter(rate.Every(nobodyLinePause), NobodyLines)}
}

// Take tells whether a line may be written, and how many were left out before it.
func (b *LineBound) Take(now time.Time) (ok bool, leftOut int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.lines.AllowN(now, 1) {
		b.leftOut++
		return false, 0
	}
	leftOut, b.leftOut = b.leftOut, 0
	return true, leftOut
}
