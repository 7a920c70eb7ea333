package connlimit

import (
	"net/netip"
	"time"
)

// reason is the limit that was reached.
type reason int

const (
	byTotal  reason = iota // all connections
	bySource               // connections of one source
	reasons
)

var reasonNames = [reasons]string{"total", "source"}

type counts [reasons]int64

// warnEvery is the interval of log lines while a limit is reached. One line per connection would
// let clients fill the log.
const warnEvery = time.Minute

// warning counts events since the last log line. The first event is logged at once, later ones
// together once a minute.
type warning struct {
	evicted, refused counts
	again            *time.Timer // runs while the limit is reached
}

func (w *warning) stop() {
	if w.again != nil {
		w.again.Stop()
	}
}

// summary is the content of one log line.
type summary struct {
	evicted, refused counts
	open             int
	busiest          netip.Prefix // source with the most connections
	busiestOpen      int
}

// noteFull counts an event; the summary is nil if no log line is due. The caller holds the lock and
// logs after releasing it.
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

// nextSummary is nil when nothing happened for warnEvery.
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
