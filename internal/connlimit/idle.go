package connlimit

import "time"

// watchIdle schedules closing the oldest idle anonymous connection. One timer is enough, because
// the oldest is always the next one due. The server's own timeout does not do: it is the same for
// signed-in users, and for HTTP/2 it does not close the connection. The caller holds the lock.
func (l *Listener) watchIdle() {
	oldest := l.all[strangerIdle].Front()
	if l.o.StrangerIdle == 0 || l.closed || l.idle != nil || oldest == nil {
		return
	}
	due := oldest.Value.(*Conn).since.Add(l.o.StrangerIdle)
	l.idle = time.AfterFunc(time.Until(due), l.closeIdle)
}

// closeIdle closes anonymous connections that were idle for too long.
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
