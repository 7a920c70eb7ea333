package connlimit

import "time"

// watchIdle makes sure that the oldest idle connection of strangers is closed
// in time. One timer serves all, as the oldest is always the next one due. The
// server's own timeout would be the same for everybody, and for HTTP/2 it is
// not a deadline of the connection. The caller holds the lock.
func (l *Listener) watchIdle() {
	oldest := l.all[strangerIdle].Front()
	if l.o.StrangerIdle == 0 || l.closed || l.idle != nil || oldest == nil {
		return
	}
	due := oldest.Value.(*Conn).since.Add(l.o.StrangerIdle)
	l.idle = time.AfterFunc(time.Until(due), l.closeIdle)
}

// closeIdle closes what strangers have left open for too long.
func (l *Listener) closeIdle() {
	for _, c := range l.takeIdle() {
		_ = c.Conn.Close()
	}
}

func (l *Listener) takeIdle() (due []*Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.idle = nil
	now := time.Now()
	for e := l.all[strangerIdle].Front(); e != nil; e = l.all[strangerIdle].Front() {
		c := e.Value.(*Conn)
		if now.Sub(c.since) < l.o.StrangerIdle {
			break
		}
		l.remove(c)
		due = append(due, c)
	}
	l.watchIdle()
	return due
}
