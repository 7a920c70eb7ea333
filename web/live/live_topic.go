package live

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"runtime/debug"
	"strings"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/answer/logbook"
	"shardboard/internal/fault"
	"shardboard/internal/topology"
	"shardboard/web/site"
)

// topicKey is a topic as a class of people sees it: each class has a region of
// its own, rendered once for all of the class.
type topicKey struct {
	name   string
	hidden answer.Hidden
}

// topic is one live region: what was last drawn and who has it. A version is
// bumped only when the bytes differ, so a poll without news costs no browser
// anything.
type topic struct {
	topicKey
	render    answer.FragmentFunc                      // nil: browsers re-read their own address
	state     func(context.Context, *site.Site) string // what such a region depends on; nil: only its collection
	listeners map[*socket]struct{}
	idle      time.Time // since when nobody listens

	version uint64
	last    []byte // what version stands for
	frame   *wsMessage
}

// drawing is a topic as it is now.
type drawing struct {
	update Update // without its number
	body   []byte // what is compared with the last version
}

// draw renders a topic; nil if it cannot be drawn, or if nothing has changed. A region that fails or panics keeps its
// last version and does not touch the others. It changes nothing of the hub, so that several are drawn at a time.
func (h *Hub) draw(ctx context.Context, t *topic, v answer.View, changes []topology.Change) (out *drawing) {
	defer func() {
		if p := recover(); p != nil {
			h.site.Metrics.RenderFailed()
			h.site.Deps.Log.Error("panic while drawing a live region", "topic", site.LogText(t.name),
				"panic", site.LogText(fmt.Sprint(p)), "stack", string(debug.Stack()))
			out = nil
		}
	}()
	v = h.site.Hide(v, t.hidden)
	ns, isCollection := strings.CutPrefix(t.name, "collection:")
	var body bytes.Buffer
	shared := false // body is a fragment for everybody
	if t.render != nil {
		h.site.Metrics.Rendered()
		switch err := t.render(ctx, &body, v); {
		case fault.Of(err) == fault.NotFound:
			body.Reset()
			body.WriteString("gone")
		case err != nil:
			h.site.Metrics.RenderFailed()
			h.site.Deps.Log.Error("draw a live region", "topic", site.LogText(t.name), "err", err)
			return nil
		default:
			shared = body.Len() <= MaxFragment
		}
	} else if t.state != nil {
		body.WriteString(t.state(ctx, h.site))
	} else if isCollection {
		describeCollection(&body, v, topology.Namespace(ns))
	}
	if t.frame != nil && bytes.Equal(t.last, body.Bytes()) {
		return nil
	}
	out = &drawing{Update{Topic: t.name}, body.Bytes()}
	if shared {
		out.update.HTML = body.String()
	}
	if t.name == mapTopic {
		out.update.Moves = movesOnMap(v.Table, changes)
	}
	return out
}

// publish makes what was drawn the newest version of a topic, and tells whether it did.
func (h *Hub) publish(t *topic, d *drawing) bool {
	if d == nil {
		return false
	}
	d.update.V = h.version + 1
	frame, err := newMessage(d.update)
	if err != nil {
		h.site.Deps.Log.Error("pack a live region", "topic", site.LogText(t.name), "err", err)
		return false
	}
	h.version++
	t.version, t.last, t.frame = d.update.V, d.body, frame
	return true
}

// describeCollection writes what a collection's page depends on. It is
// compared and never sent.
func describeCollection(w *bytes.Buffer, v answer.View, ns topology.Namespace) {
	// The map itself stands for flags that bump no version: it is replaced
	// when, and only when, a chunk changed.
	if c := v.Table.Collection(ns); c != nil {
		fmt.Fprintf(w, "%v %v %p", c.Incarnation, c.Highest, c.Chunks)
		fmt.Fprintf(w, " %d %d %v", c.Chunks.Len(), c.Chunks.Jumbo(), c.Chunks.CountByShard())
		fmt.Fprintf(w, " %v %v %v %d %v", c.NoBalance, c.MigrationsBlocked, c.Resharding, c.MaxChunkBytes, c.Upkeep)
	}
	logbook.DescribeMoving(w, v, ns)
	zones := fnv.New64a()
	for _, z := range v.Table.ZonesOf(ns) {
		fmt.Fprintf(zones, "%q%q%q", z.Zone, z.RawMin, z.RawMax)
	}
	sizes := v.Table.Sizes[ns]
	fmt.Fprintf(w, " %x %d %q", zones.Sum64(), sizes.At.UnixMilli(), sizes.Reason)
	fmt.Fprintf(w, " %v %v", v.Table.Primary(ns.Database()), v.Table.Stale(topology.PartRouting, v.Now))
}

// mapTopic is followed by what shows the map of all collections.
const mapTopic = "map"

// movesOnMap lists the chunks of all collections that moved, by their positions: bounds may
// be hidden, and nobody sees one at this scale.
func movesOnMap(t *topology.Table, changes []topology.Change) (out []Move) {
	for _, ch := range changes {
		c := t.Collection(ch.NS)
		if c == nil || ch.Kind != topology.Moved || len(out) == mostMoves {
			continue
		}
		at, _ := c.Chunks.Find(ch.Min)
		out = append(out, Move{NS: string(ch.NS), Position: at, From: ch.From, To: ch.To})
	}
	return out
}

// mostMoves is how many moves one frame tells.
const mostMoves = 200
