package auth

import (
	"slices"
	"time"
)

// waiter is one waiting attempt.
type waiter struct {
	from  string
	ready chan struct{} // closed when the waiter gets its turn or is evicted
	turn  bool
}

// fairQueue is a bounded queue that serves client addresses round-robin, so an address that sends
// many attempts delays only itself.
type fairQueue struct {
	most, each int           // waiters in total, and for one address
	wait       time.Duration // longest wait
	waiting    int
	by         map[string][]*waiter // waiters by address; no list is empty
	order      []string             // addresses in the order they are served
}

func newFairQueue(most, each int, wait time.Duration) fairQueue {
	return fairQueue{most: most, each: each, wait: wait, by: map[string][]*waiter{}}
}

// join appends a waiter to the list of its address. A full queue evicts a waiter only from an
// address that has at least two more waiters than this one.
func (l *fairQueue) join(w *waiter) bool {
	own := len(l.by[w.from])
	if own >= l.each {
		return false
	}
	if l.waiting >= l.most {
		longest := l.longest()
		if len(l.by[longest]) < own+2 {
			return false
		}
		last := l.by[longest][len(l.by[longest])-1]
		l.leave(last)
		close(last.ready)
	}
	if own == 0 {
		l.order = append(l.order, w.from)
	}
	l.by[w.from] = append(l.by[w.from], w)
	l.waiting++
	return true
}

func (l *fairQueue) longest() (from string) {
	for _, a := range l.order {
		if len(l.by[a]) > len(l.by[from]) {
			from = a
		}
	}
	return from
}

// next removes and returns the waiter to serve; nil when the queue is empty.
func (l *fairQueue) next() *waiter {
	if len(l.order) == 0 {
		return nil
	}
	from := l.order[0]
	w := l.by[from][0]
	l.leave(w)
	if len(l.by[from]) > 0 { // move the address to the end of the round
		l.order = append(slices.Delete(l.order, 0, 1), from)
	}
	return w
}

// leave removes a waiter, if it is still queued.
func (l *fairQueue) leave(w *waiter) {
	i := slices.Index(l.by[w.from], w)
	if i < 0 {
		return
	}
	l.waiting--
	if l.by[w.from] = slices.Delete(l.by[w.from], i, i+1); len(l.by[w.from]) == 0 {
		delete(l.by, w.from)
		l.order = slices.DeleteFunc(l.order, func(a string) bool { return a == w.from })
	}
}
