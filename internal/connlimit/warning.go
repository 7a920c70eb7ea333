package connlimit

import (
	"net/netip"
	"time"
)

// reason is the bound that was reached.
type reason int

const (
	byTotal  reason = iota // of all connections
	bySource               // of one source
	reasons
)

var reasonNames = [reasons]string{"total", "source"}

type counts [reasons]int64

// warnEvery is how often the log says that a bound is reached, while it is. One
// line a connection would let strangers fill the log.
const warnEvery = time.Minute

// warning collects what has happened since the last line. The first event has a
// line at once, those after it one together each minute.
type warning struct {
	evicted, refused counts
	again            *time.Timer // runs while it lasts
}

func (w *warning) stop() {
	if w.again != nil {
		w.again.Stop()
	}
}

// summary is one line of the log.
type summary struct {
	evicted, refused counts
	open             int
	busiest          netip.Prefix // source with most connections
	busiestOpen      int
}

// noteFull remembers that a bound was reached; the summary is nil if it is not
// time for a line yet. The caller holds the lock, and logs without it.
func (l *Listener) noteFull(why reason, evicted bool) *summary {
	if evicted {
		l.evicted[why]++
		l.warning.evicted[why]++
	} else {
		l.refused[why]++
		l.warning.refused[why]++
	}
	if l.warning.again != nil || l.closed {
		return nil
	}
	l.warning.again = time.AfterFunc(warnEvery, l.warnAgain)
	return l.summarize()
}

func (l *Listener) warnAgain() {
	if s := l.nextSummary(); s != nil {
		l.log(*s)
	}
}

// nextSummary is nil when nothing happened for warnEvery: it is over.
func (l *Listener) nextSummary() *summary {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.warning.evicted == (counts{}) && l.warning.refused == (counts{}) {
		l.warning.again = nil
		return nil
	}
	l.warning.again = time.AfterFunc(warnEvery, l.warnAgain)
	return l.summarize()
}

func (l *Listener) summarize() *summary {
	s := &summary{evicted: l.warning.evicted, refused: l.warning.refused, open: l.open}
	l.warning.evicted, l.warning.refused = counts{}, counts{}
	for from, of := range l.sources {
		if of.open > s.busiestOpen {
			s.busiest, s.busiestOpen = from, of.open
		}
	}
	return s
}

func (l *Listener) log(s summary) {
	l.o.Log.Warn("connection limit reached: connections that do nothing are closed for new ones"+l.o.Advice,
		"listener", l.o.Name, "open", s.open, "max", l.o.Max, "maxPerSource", l.o.PerSource,
		"closed", s.evicted[byTotal], "closedOfSource", s.evicted[bySource],
		"refused", s.refused[byTotal], "refusedOfSource", s.refused[bySource],
		"busiestSource", s.busiest.String(), "busiestOpen", s.busiestOpen)
}
