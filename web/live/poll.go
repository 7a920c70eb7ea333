package live

import (
	"encoding/json"
	"net/http"

	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/web/site"
)

// poll answers a page whose WebSocket does not come through: what a socket would get at once.
func (h *Hub) poll(w http.ResponseWriter, r *http.Request, topics map[string]uint64, who auth.Principal) error {
	h.warnOfProxy()
	frames := []json.RawMessage{}
	c := &socket{topics: topics, hidden: h.site.HiddenFrom(who), who: who, polled: &frames, rolesSeq: h.rolesSeq.Load()}
	done := make(chan struct{})
	select {
	case h.polls <- polled{c, done}:
	case <-h.done:
		return fault.New(fault.Unavailable, "The server is stopping.")
	case <-r.Context().Done():
		return r.Context().Err()
	}
	<-done
	w.Header().Set("Cache-Control", "no-store")
	return site.WriteJSON(w, http.StatusOK, frames)
}

// polled is a page that asks the hub without a socket.
type polled struct {
	socket *socket
	done   chan struct{} // closed when it has its answer
}

// warnOfProxy says in the log, seldom, that WebSockets do not come through.
func (h *Hub) warnOfProxy() {
	h.proxies.Do(func() {
		h.site.Deps.Log.Warn("the proxy in front does not pass WebSockets, so that pages ask every 10 s instead of being told at once",
			"set", "let it pass Upgrade and Connection on for /live (docs/install.md, or the page /help/websockets)")
	})
}
