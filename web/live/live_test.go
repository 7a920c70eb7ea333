package live_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// countDrawn replaces a topic's region by one that shows the table's number.
func countDrawn(l *webtest.LiveServer, topic string) *atomic.Int64 {
	var n atomic.Int64
	inner := l.Hub.Fragments
	l.Hub.Fragments = func(name string) (answer.FragmentFunc, bool) {
		if name != topic {
			return inner(name)
		}
		return func(_ context.Context, w io.Writer, v answer.View) error {
			n.Add(1)
			_, err := fmt.Fprintf(w, `<section id="live-%s">%d & more</section>`, topic, v.Table.Seq)
			return err
		}, true
	}
	return &n
}

// publishNext publishes the same table under the next number.
func publishNext(l *webtest.LiveServer) *topology.Table {
	t := *l.Watcher.Get()
	t.Seq++
	l.Watcher.Publish(&t)
	return &t
}

func TestRegionIsDrawnOnceHoweverManyBrowsersLook(t *testing.T) {
	webtest.InBubble(t, func(t *testing.T, l *webtest.LiveServer) {
		drawn := countDrawn(l, "overview")
		publishNext(l)
		time.Sleep(time.Second)
		must.That(t, drawn.Load() == 0, "drawn while nobody looks")
		var all []*webtest.Browser
		for range 200 {
			all = append(all, l.Open("t=overview"))
		}
		must.That(t, drawn.Load() == 1 && l.Hub.Sockets() == 200, "drawn %d times for %d sockets", drawn.Load(), l.Hub.Sockets())
		for i := range 5 {
			publishNext(l)
			time.Sleep(time.Second)
			synctest.Wait()
			must.That(t, drawn.Load() == int64(i+2), "drawn %d times after %d changes", drawn.Load(), i+1)
		}
		for _, b := range all {
			got := b.Frames()
			must.That(t, len(got) == 6 && got[5].HTML == `<section id="live-overview">7 & more</section>` && got[5].V == all[0].Last(t).V &&
				got[5].V == got[0].V+5, "%+v", got)
		}
	})
}

func TestNothingIsSentWhenNothingLooksDifferent(t *testing.T) {
	webtest.InBubble(t, func(t *testing.T, l *webtest.LiveServer) {
		b := l.Open("t=zones,collection:yorkie-meta.documents,collections")
		before := len(b.Frames())
		must.That(t, before == 3, "%d frames at the start", before)
		for range 10 {
			publishNext(l)
			time.Sleep(2 * time.Second)
		}
		got := b.Frames()
		expect.That(t, len(got) == before, "%d frames after ten polls without news", len(got)-before)
	})
}

func TestSocketResumesByVersion(t *testing.T) {
	webtest.InBubble(t, func(t *testing.T, l *webtest.LiveServer) {
		drawn := countDrawn(l, "overview")
		first := l.Open("t=overview")
		v := first.Last(t).V
		first.Close()
		time.Sleep(time.Minute)
		same := l.Open(fmt.Sprintf("t=overview@%d", v))
		expect.Len(t, same.Frames(), 0, "up to date and sent")
		same.Close()
		before := drawn.Load()
		publishNext(l)
		time.Sleep(time.Second)
		expect.Equal(t, drawn.Load(), before, "drawings while nobody looks")
		behind := l.Open(fmt.Sprintf("t=overview@%d", v))
		got := behind.Frames()
		expect.That(t, len(got) == 1 && got[0].V > v && strings.Contains(got[0].HTML, "2 & more"), "behind and sent %+v", got)
		fresh := l.Open("t=overview@0")
		got = fresh.Frames()
		expect.That(t, len(got) == 1 && got[0].V == behind.Last(t).V, "fresh and sent %+v", got)
	})
}

func TestVersionsDoNotRepeatOverARestart(t *testing.T) {
	var v uint64
	webtest.InBubble(t, func(t *testing.T, l *webtest.LiveServer) { v = l.Open("t=zones").Last(t).V })
	later := func(d *site.Deps) { d.Now = func() time.Time { return webtest.Epoch.Add(time.Second) } }
	webtest.InBubble(t, func(t *testing.T, l *webtest.LiveServer) {
		got := l.Open(fmt.Sprintf("t=zones@%d", v)).Frames()
		expect.That(t, len(got) == 1 && got[0].V > v, "%+v", got)
	}, later)
}

func TestMovedChunkReachesTheBrowserInTime(t *testing.T) {
	webtest.InBubble(t, func(t *testing.T, l *webtest.LiveServer) {
		ns := topology.Namespace("yorkie-meta.documents")
		b := l.Open("t=collection:yorkie-meta.documents")
		v := b.Last(t).V
		for round := range 20 {
			table := webtest.WithMoved(l.Watcher.Get(), ns, 4+round, "shard-rs-1")
			ch := table.Collection(ns).Chunks.At(4 + round)
			table.Changes = []topology.Change{
				{NS: ns, Kind: topology.Moved, Min: ch.Min, Max: ch.Max, From: "shard-rs-2", To: "shard-rs-1"},
				{NS: "yorkie-meta.changes", Kind: topology.Moved, Min: ch.Min, To: "x"},
				{NS: ns, Kind: topology.Split, Min: ch.Min},
			}
			l.Watcher.Publish(table)
			l.Keeper.Publish(l.Keeper.Get()) // two signals, one update
			time.Sleep(250 * time.Millisecond)
			f := b.Last(t)
			must.That(t, f.V == v+1 && f.HTML == "" && len(f.Moves) == 0, "round %d: %+v", round, f)
			v = f.V
			time.Sleep(time.Duration(round*13) * time.Millisecond) // bursts of every rhythm
		}
	})
}

func TestBurstsAreJoinedAndTheLastStateIsDeliveredInTime(t *testing.T) {
	webtest.InBubble(t, func(t *testing.T, l *webtest.LiveServer) {
		drawn := countDrawn(l, "overview")
		b := l.Open("t=overview")
		before := drawn.Load()
		var last *topology.Table
		for range 100 {
			last = publishNext(l)
			time.Sleep(5 * time.Millisecond)
		}
		time.Sleep(245 * time.Millisecond)
		n := drawn.Load() - before
		expect.That(t, n <= 7, "drawn %d times in half a second", n)
		f := b.Last(t)
		expect.That(t, strings.Contains(f.HTML, fmt.Sprintf(">%d &", last.Seq)), "last frame %+v", f)
	})
}
