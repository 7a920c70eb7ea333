package live_test

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/web/webtest"
)

// Of five hundred browsers each has a page of its own, and beside them fifty never read. Each page is drawn once for a
// version, however many have it open, and all that read have it at once.
func TestPagesOfTheirOwnAreDrawnOnceBesideStalledBrowsers(t *testing.T) {
	webtest.InBubble(t, func(t *testing.T, l *webtest.LiveServer) {
		const pages, stalled, changes = 500, 50, 40 // more changes than frames may wait
		var mu sync.Mutex
		drawn := map[string]int{}
		l.Hub.Fragments = func(name string) (answer.FragmentFunc, bool) {
			return func(_ context.Context, w io.Writer, v answer.View) error {
				mu.Lock()
				defer mu.Unlock()
				drawn[name]++
				_, err := fmt.Fprintf(w, "%s: %d", name, v.Table.Seq)
				return err
			}, true
		}
		for i := range stalled {
			conn, _, err := l.Dial("t=" + ownTopic(i))
			must.Do(t, err)
			defer conn.Close()
		}
		var all []*webtest.Browser
		for i := range pages {
			all = append(all, l.Open("t="+ownTopic(i)))
		}
		for i := range changes {
			publishNext(l)
			time.Sleep(time.Second)
			synctest.Wait()
			for n, b := range all {
				got := len(b.Frames())
				must.That(t, got == i+2, "page %d has %d versions a second after change %d", n, got, i+1)
			}
		}
		expect.Equal(t, len(drawn), pages, "pages drawn")
		for name, n := range drawn {
			must.That(t, n == changes+1, "%s was drawn %d times for %d versions", name, n, changes+1)
		}
	})
}

// With hundreds of pages a round takes seconds. Who comes meanwhile has a page before it ends.
func TestWhoComesWhileManyPagesAreDrawnDoesNotWaitForAll(t *testing.T) {
	webtest.InBubble(t, func(t *testing.T, l *webtest.LiveServer) {
		const pages, perPage = 400, 20 * time.Millisecond
		l.Hub.Fragments = func(name string) (answer.FragmentFunc, bool) {
			return func(_ context.Context, w io.Writer, v answer.View) error {
				time.Sleep(perPage)
				_, err := fmt.Fprintf(w, "%s: %d", name, v.Table.Seq)
				return err
			}, true
		}
		for i := range pages {
			l.Open("t=" + ownTopic(i))
		}
		time.Sleep(2 * pages * perPage) // all have their page
		publishNext(l)
		time.Sleep(10 * perPage) // the round has begun
		begun := time.Now()
		for b := l.Open("t=" + ownTopic(pages)); len(b.Frames()) == 0; {
			time.Sleep(perPage)
		}
		waited, round := time.Since(begun), pages*perPage/time.Duration(runtime.GOMAXPROCS(0))
		expect.That(t, waited <= round/10, "waited %s in a round of %s", waited, round)
	})
}

// After a restart all come back at once. Pages of their own are drawn as many at a time as there are processors.
func TestPagesOfTheirOwnAreDrawnSideBySideWhenAllComeBack(t *testing.T) {
	webtest.InBubble(t, func(t *testing.T, l *webtest.LiveServer) {
		const pages, perPage = 200, 20 * time.Millisecond
		l.Hub.Fragments = func(name string) (answer.FragmentFunc, bool) {
			return func(_ context.Context, w io.Writer, v answer.View) error {
				time.Sleep(perPage)
				_, err := fmt.Fprint(w, name)
				return err
			}, true
		}
		begun := time.Now()
		var all []*webtest.Browser
		for i := range pages {
			all = append(all, l.Open("t="+ownTopic(i)))
		}
		for _, b := range all {
			for len(b.Frames()) == 0 {
				time.Sleep(perPage)
			}
		}
		took, most := time.Since(begun), time.Duration(pages/runtime.GOMAXPROCS(0)+5)*perPage
		expect.That(t, took <= most, "%d pages took %s, want at most %s", pages, took, most)
	})
}

func ownTopic(i int) string {
	return "project:" + bson.ObjectID{0: 1, 10: byte(i >> 8), 11: byte(i)}.Hex()
}
