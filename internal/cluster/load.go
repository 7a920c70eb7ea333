package cluster

import (
	"context"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"
)

// load counts the commands sent during the last minute, in buckets of a second. Pages
// show it as the cost of monitoring.
type load struct {
	mu      sync.Mutex
	buckets [60]int
	last    int64 // second of the newest bucket, Unix time
}

// add counts one command at a time.
func (l *load) add(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget(now.Unix())
	l.buckets[now.Unix()%60]++
}

// sum is the number of commands of the last 60 s.
func (l *load) sum(now time.Time) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget(now.Unix())
	for _, b := range l.buckets {
		n += b
	}
	return n
}

// forget clears the buckets of the seconds that have passed since the last call.
func (l *load) forget(now int64) {
	for s := max(l.last+1, now-59); s <= now; s++ {
		l.buckets[s%60] = 0
	}
	l.last = max(l.last, now)
}

// LoadPerMinute is how many commands this client sent during the last 60 s.
// The driver's own heartbeats are not commands in this sense.
func (c *Client) LoadPerMinute() int { return c.load.sum(time.Now()) }

// counting wraps a monitor and counts its commands and what they cost.
func (c *Client) counting(next *event.CommandMonitor) *event.CommandMonitor {
	if next == nil {
		next = &event.CommandMonitor{}
	}
	monitor := *next
	monitor.Started = func(ctx context.Context, e *event.CommandStartedEvent) {
		c.load.add(time.Now())
		c.costs.add(e.CommandName, func(o *Cost) { o.Commands, o.RequestBytes = o.Commands+1, o.RequestBytes+int64(len(e.Command)) })
		if next.Started != nil {
			next.Started(ctx, e)
		}
	}
	monitor.Succeeded = func(ctx context.Context, e *event.CommandSucceededEvent) {
		documents := returned(e.Reply)
		c.costs.add(e.CommandName, func(o *Cost) {
			o.Documents, o.ReplyBytes = o.Documents+documents, o.ReplyBytes+int64(len(e.Reply))
		})
		if next.Succeeded != nil {
			next.Succeeded(ctx, e)
		}
	}
	monitor.Failed = func(ctx context.Context, e *event.CommandFailedEvent) {
		c.costs.add(e.CommandName, func(o *Cost) { o.Failures++ })
		if next.Failed != nil {
			next.Failed(ctx, e)
		}
	}
	return &monitor
}
