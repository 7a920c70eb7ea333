package connlimit

// CloseSilent closes the connections that have not sent a request yet, such as those that browsers open
// ahead of need. A server that shuts down waits for them for five seconds: register it with
// http.Server.RegisterOnShutdown. Safe for concurrent use.
func (l *Listener) CloseSilent() {
	for _, c := range l.silentConns() {
		_ = c.Close() // the client sees that at its first request, as if the server had ended already
	}
}

func (l *Listener) silentConns() (out []*Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for e := l.all[silent].Front(); e != nil; e = e.Next() {
		out = append(out, e.Value.(*Conn))
	}
	return out
}
