package auth

import (
	"slices"
	"time"
)

// waiter is one attempt in a line.
type waiter struct {
	from string
	told chan struct{} // closed when it has its turn or has to leave
	turn bool
}

// line is a bounded queue in which addresses take turns: one that sends many
// attempts waits for its own and not others for it.
type line struct {
	most, each int           // in all, and of one address
	wait       time.Duration // at the longest
	waiting    int
	by         map[string][]*waiter // never empty lists
	order      []string             // addresses, the next one first
}

func newLine(most, each int, wait time.Duration) line {
	return line{most: most, each: each, wait: wait, by: map[string][]*waiter{}}
}

// join puts an attempt at the end of its address's. A full line makes room only
// at the cost of an address that has two more in it.
func (l *line) join(w *waiter) bool {
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
		close(last.told)
	}
	if own == 0 {
		l.order = append(l.order, w.from)
	}
	l.by[w.from] = append(l.by[w.from], w)
	l.waiting++
	return true
}

func (l *line) longest() (from string) {
	for _, a := range l.order {
		if len(l.by[a]) > len(l.by[from]) {
			from = a
		}
	}
	return from
}

// first takes out whose turn it is; nil when nobody waits.
func (l *line) first() *waiter {
	if len(l.order) == 0 {
		return nil
	}
	from := l.order[0]
	w := l.by[from][0]
	l.leave(w)
	if len(l.by[from]) > 0 { // to the end of the addresses
		l.order = append(slices.Delete(l.order, 0, 1), from)
	}
	return w
}

// leave takes an attempt out, if it is there.
func (l *line) leave(w *waiter) {
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
