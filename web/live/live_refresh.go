package live

import (
	"context"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/topology"
)

// Everything in this file runs on the hub's own goroutine.

// join takes a socket in, and with it those who wait, and gives them what they do not have yet. Regions that nobody
// kept current are drawn as many at a time as there are processors.
func (h *Hub) join(ctx context.Context, c *socket, v answer.View) {
	arrived := h.arrivals(c)
	status := statusFrame(h.site, h.site.Hide(v, h.site.HiddenFromAny()))
	var unkept []*topic
	for _, c := range arrived {
		h.open[c] = struct{}{}
		h.joined++
		c.round = h.joined % rounds
		if c.rolesSeq != h.rolesSeq.Load() { // roles have changed since it was checked at the door
			h.checks.Go(func() { h.check(ctx, []*socket{c}) })
		}
		c.push(status)
		for name := range c.topics {
			t := h.topic(topicKey{name, c.hidden})
			if len(t.listeners) == 0 {
				unkept = append(unkept, t)
			}
			t.listeners[c] = struct{}{}
		}
	}
	for part := range slices.Chunk(unkept, runtime.GOMAXPROCS(0)) {
		h.renew(ctx, part, v, nil)
	}
	for _, c := range arrived {
		for name, have := range c.topics {
			if t := h.topic(topicKey{name, c.hidden}); t.frame != nil && have != t.version {
				c.push(t.frame)
			}
		}
	}
}

// arrivals are a socket and those who wait behind it, at most one for each processor.
func (h *Hub) arrivals(c *socket) []*socket {
	all := []*socket{c}
	for len(all) < runtime.GOMAXPROCS(0) {
		select {
		case c := <-h.joins:
			all = append(all, c)
		default:
			return all
		}
	}
	return all
}

// topic is what is remembered of a region.
func (h *Hub) topic(key topicKey) *topic {
	t := h.Topics[key]
	if t == nil {
		render, _ := h.Fragments(key.name) // known: the address was checked
		kind, _ := h.site.Topic(key.name)
		t = &topic{topicKey: key, render: render, state: kind.State, listeners: map[*socket]struct{}{}}
		h.Topics[key] = t
	}
	return t
}

// renew draws topics side by side and returns those that have a new version.
func (h *Hub) renew(ctx context.Context, topics []*topic, v answer.View, changes []topology.Change) (news []*topic) {
	drawn := make([]*drawing, len(topics))
	var all sync.WaitGroup
	for i, t := range topics {
		all.Go(func() { drawn[i] = h.draw(ctx, t, v, changes) })
	}
	all.Wait()
	for i, t := range topics {
		if h.publish(t, drawn[i]) {
			news = append(news, t)
		}
	}
	return news
}

// answer gives a page that asks without a socket what a socket would get at once.
func (h *Hub) answer(ctx context.Context, p polled, v answer.View) {
	h.join(ctx, p.socket, v)
	h.leave(p.socket)
	close(p.done)
}

func (h *Hub) leave(c *socket) {
	delete(h.open, c)
	for name := range c.topics {
		t := h.Topics[topicKey{name, c.hidden}]
		if t == nil {
			continue
		}
		delete(t.listeners, c)
		if len(t.listeners) == 0 {
			t.idle = time.Now()
		}
	}
	h.forget()
}

// forget drops the longest idle topics beyond what is worth remembering.
func (h *Hub) forget() {
	for {
		var oldest *topic
		idle := 0
		for _, t := range h.Topics {
			if len(t.listeners) > 0 {
				continue
			}
			idle++
			if oldest == nil || t.idle.Before(oldest.idle) {
				oldest = t
			}
		}
		if idle <= MaxIdleTopics {
			return
		}
		delete(h.Topics, oldest.topicKey)
	}
}

// refresh draws every topic that somebody listens to from the newest state, as many at a time as there are processors.
// Between them, those who come and go are served: with hundreds of topics a round takes seconds.
func (h *Hub) refresh(ctx context.Context) {
	v := h.site.View()
	// What is too long ago to be told one by one is not told at all: browsers
	// re-read their address anyway and only miss the glow of what moved.
	changes, complete := v.Table.Since(h.seen)
	if !complete && v.Table.Seq == h.seen+1 {
		changes = v.Table.Changes
	}
	h.seen = v.Table.Seq
	due := slices.DeleteFunc(slices.Collect(maps.Values(h.Topics)), func(t *topic) bool { return len(t.listeners) == 0 })
	for part := range slices.Chunk(due, runtime.GOMAXPROCS(0)) {
		for _, t := range h.renew(ctx, part, v, changes) {
			sendAll(t.listeners, t.frame)
		}
		for h.comeOrGo(ctx, v) {
		}
	}
}

// comeOrGo serves one who comes or goes while a view is drawn, and tells whether there was one.
func (h *Hub) comeOrGo(ctx context.Context, v answer.View) bool {
	select {
	case c := <-h.joins:
		h.join(ctx, c, v)
	case c := <-h.leaves:
		h.leave(c)
	case p := <-h.polls:
		h.answer(ctx, p, v)
	default:
		return false
	}
	return true
}

// tell sends everybody the age of the data, once per poll.
func (h *Hub) tell() {
	if len(h.open) == 0 {
		return
	}
	frame := statusFrame(h.site, h.site.Hide(h.site.View(), h.site.HiddenFromAny()))
	sendAll(h.open, frame)
}

// sendAll writes a frame to all, with several processors where it pays. No write waits.
func sendAll(to map[*socket]struct{}, m *wsMessage) {
	const pays = 64
	all := slices.Collect(maps.Keys(to))
	var others sync.WaitGroup
	for part := range slices.Chunk(all, max(pays, (len(all)+1)/runtime.GOMAXPROCS(0))) {
		others.Go(func() {
			for _, c := range part {
				c.push(m)
			}
		})
	}
	others.Wait()
}
