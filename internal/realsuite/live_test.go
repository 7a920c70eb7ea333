package realsuite_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/gorilla/websocket"
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/must"
	"shardboard/internal/realcluster"
)

// liveWithin is how soon an open page shows what another client changed.
const liveWithin = time.Second

// page is an open live page.
type page struct {
	conn   *websocket.Conn
	frames chan string
}

// open opens a live page and reads its frames until it is closed.
func (d *dashboard) open(ctx context.Context, topic string) (*page, error) {
	address := "ws" + strings.TrimPrefix(d.root, "http") + "/live?t=" + topic
	conn, answer, err := websocket.DefaultDialer.DialContext(ctx, address, http.Header{"Origin": {d.root}})
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", topic, err)
	}
	_ = answer.Body.Close()
	p := &page{conn, make(chan string, 1000)}
	go func() {
		defer close(p.frames)
		for {
			_, frame, err := conn.ReadMessage()
			if err != nil {
				return
			}
			select {
			case p.frames <- string(frame):
			default: // nobody reads this page: the product must not wait for it either
			}
		}
	}()
	return p, nil
}

// live shows that the changelog is followed, and that a split by another client is on an open page within a second.
func live(w *world) {
	d := w.serve()
	d.eventually(patience, "the changelog is followed", func(context.Context) error {
		var c struct {
			Followed    bool
			NotFollowed string
		}
		if d.read("cluster", &c); !c.Followed {
			return fmt.Errorf("it is polled: %s", c.NotFollowed)
		}
		return nil
	})
	ns := rangedData + ".documents"
	p, err := d.open(w.Context(), "collection:"+ns)
	w.must(err)
	defer p.conn.Close()
	// What a page is sent at first is the present state.
	quiet := time.NewTimer(time.Second)
	for waiting := true; waiting; {
		select {
		case <-p.frames:
		case <-quiet.C:
			waiting = false
		}
	}
	for i := range w.form.count(10, 3) {
		before := len(w.chunks(ns))
		var id bson.ObjectID
		id[0], id[1], id[11] = 0x70, byte(i), 7
		w.admin(bson.D{{Key: "split", Value: ns}, {Key: "middle", Value: bson.D{{Key: "project_id", Value: id}}}})
		done := time.Now()
		late := time.After(20 * time.Second)
		for shown := false; !shown; {
			select {
			case frame, ok := <-p.frames:
				must.That(w, ok, "the page was closed")
				// The frame says that there is news; the page then reads its own address.
				if strings.Contains(frame, `"topic":"collection:`) {
					var list struct{ Items []struct{ Ref string } }
					d.read("collections/"+ns+"/chunks?limit=1000", &list)
					shown = len(list.Items) == before+1
				}
			case <-late:
				w.Fatal("the split is not on the page after 20 s")
			}
		}
		if took := time.Since(done); took > liveWithin {
			w.Errorf("the split was on the page after %s, want %s", took, liveWithin)
		} else {
			w.Logf("the split was on the page after %s", took.Round(time.Millisecond))
		}
	}
}

// namedWithin is how soon a server that hangs is named, and how soon it is over when it goes on.
const namedWithin = 20 * time.Second

// silent freezes shards and the config servers in turn. Each is named, nothing else is, and it is over when they go on.
func silent(w *world) {
	d := w.serve()
	is := func(want map[string]string) {
		w.Helper()
		d.eventually(namedWithin, fmt.Sprintf("%v", want), func(ctx context.Context) error {
			var c struct{ ConfigServers struct{ State string } }
			var s struct {
				Items []struct {
					Name      string
					Answering struct{ State, Reason string }
				}
			}
			if err := d.get(ctx, "/api/v1/cluster", &c); err != nil {
				return err
			}
			if err := d.get(ctx, "/api/v1/shards", &s); err != nil {
				return err
			}
			got := map[string]string{realcluster.ConfigServer: c.ConfigServers.State}
			for _, shard := range s.Items {
				got[shard.Name] = shard.Answering.State
			}
			if !maps.Equal(got, want) {
				return fmt.Errorf("%v: %v", got, s.Items)
			}
			return nil
		})
	}
	all := func(state string) map[string]string {
		out := map[string]string{realcluster.ConfigServer: "answers"}
		for _, name := range w.cluster.Shards() {
			out[name] = state
		}
		return out
	}
	is(all("answers"))
	for _, member := range append(w.cluster.Shards()[:w.form.count(3, 1)], realcluster.ConfigServer) {
		want := all("answers")
		if member == realcluster.ConfigServer {
			want = all("notAsked")
		}
		want[member] = "silent"
		w.must(w.cluster.Freeze(w.Context(), member))
		is(want)
		w.must(w.cluster.Thaw())
		is(all("answers"))
	}
}
