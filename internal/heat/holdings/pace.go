package holdings

import "time"

// minSpacing is the shortest time between two reads, so that small ones stay few.
const minSpacing = time.Second

// pace spaces reads so that they stay within so many documents a minute. The first minute's documents
// may be read at once, so that there are figures soon after the start.
type pace struct {
	perMinute int
	now       func() time.Time
	begun     time.Time // of the first read
	last      time.Time // begin of the last read
	paid      time.Time // by when the budget has covered all documents that were read
}

// wait is how long to wait before the next read.
func (p *pace) wait() time.Duration {
	now := p.now()
	next := p.last.Add(minSpacing)
	if ahead := p.begun.Add(time.Minute); !p.paid.Before(ahead) && p.paid.After(next) {
		next = p.paid
	}
	return max(0, next.Sub(now))
}

// begin notes that a read begins.
func (p *pace) begin() {
	now := p.now()
	if p.begun.IsZero() {
		p.begun, p.paid = now, now
	}
	if p.last = now; p.paid.Before(now) {
		p.paid = now // what was not used is not saved up
	}
}

// add notes how many documents were read.
func (p *pace) add(documents int) {
	p.paid = p.paid.Add(time.Duration(documents) * time.Minute / time.Duration(p.perMinute))
}
