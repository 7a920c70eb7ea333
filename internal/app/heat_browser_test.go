package app

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/heat"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

const changes = "yorkie-meta.changes"

// recordHeat stores recorded writes for every minute of the last hours, with a hot
// chunk, a wave and an hour without counts.
func (d *demo) recordHeat(t *testing.T, hours int) {
	t.Helper()
	d.recordHeatUntil(t, hours, time.Now().Truncate(time.Minute))
}

// recordHeatUntil does so until a full minute.
func (d *demo) recordHeatUntil(t *testing.T, hours int, to time.Time) {
	t.Helper()
	var projects struct{ Items []struct{ ID bson.ObjectID } }
	d.getJSON(t, "api/v1/projects?limit=1000", &projects)
	c := d.app.Watcher().Table().Collection(changes)
	rng := rand.New(rand.NewPCG(9, 9))
	for at := to.Add(-time.Duration(hours) * time.Hour); at.Before(to); at = at.Add(time.Minute) {
		minute := int(at.Unix() / 60)
		if hours > 2 && minute/60%5 == 3 { // a gap in the picture; short ones have none
			continue
		}
		s := heat.Slot{NS: changes, From: at, To: at.Add(time.Minute), Every: 1, Life: c.Incarnation}
		if minute/60%5 == 1 {
			s.Every = 10
		}
		for i, ch := range c.Chunks.All() {
			rate := 600 / math.Pow(float64(1+(i*7)%c.Chunks.Len()), 1.1) * (1.3 + math.Sin(float64(minute)/40+float64(i)/9))
			if i == 5 && minute%90 < 25 {
				rate = 3000
			}
			if n := int64(rate * rng.ExpFloat64()); n > 0 {
				s.Pieces = append(s.Pieces, heat.Piece{Min: ch.Min, Rows: n})
				s.Counts = append(s.Counts, heat.Count{Project: projects.Items[i%len(projects.Items)].ID, Rows: n})
			}
		}
		d.app.current().cluster.pictures.Take(s)
		for _, ns := range []topology.Namespace{"yorkie-meta.documents", "yorkie-meta.clients"} {
			c := d.app.Watcher().Table().Collection(ns)
			s := heat.Slot{
				NS:     ns,
				Method: heat.ChangedRows,
				From:   at,
				To:     at.Add(time.Minute),
				Every:  1,
				Capped: true,
				Life:   c.Incarnation,
				Astray: 2,
			}
			for i, ch := range c.Chunks.All() {
				if (minute/50+i)%3 > 0 { // other chunks have no project among the hottest
					s.Pieces = append(s.Pieces, heat.Piece{Min: ch.Min, Rows: 1 + rng.Int64N(int64(40+20*i))})
				}
			}
			d.app.current().cluster.pictures.Take(s)
		}
	}
}

// openHeatPage opens the heat page and waits until the heat map is drawn.
func openHeatPage(t *testing.T, ctx context.Context, d *demo, address string) {
	t.Helper()
	err := inPage(ctx, chromedp.Navigate(d.app.URL()+address), chromedp.WaitVisible("#heat-map canvas"),
		waitUntil(`document.querySelector('[data-heat="most"]').textContent !== ""`))
	if err != nil {
		t.Fatalf("/%s: %v", address, err)
	}
}

func pressKey(k, code string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeKeyDown, input.DispatchKeyEventTypeKeyUp} {
			if _, err := cdp.Call(ctx, t, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: kind, Key: k, Code: code}); err != nil {
				return err
			}
		}
		return nil
	})
}

func TestBrowserShowsWriteRatesAndTheHeatMap(t *testing.T) {
	ctx := newBrowser(t)
	d := startDemo(t, simcluster.Options{Projects: 12, Documents: 2000}, topology.Options{})
	bad := listenForComplaints(t, ctx)
	d.recordHeat(t, 30)
	// The lists show rates after the first ten counted seconds.
	if err := inPage(ctx, setScreen(1280, "light"), chromedp.Navigate(d.app.URL()+"heat")); err != nil {
		t.Fatal(err)
	}
	const rates = `document.querySelectorAll(".hot tbody tr").length > 0`
	if err := inPage(ctx, waitUntil(rates)); err != nil {
		if err = inPage(ctx, waitUntil(rates)); err != nil {
			t.Fatalf("the page does not show rates without a reload: %v", err)
		}
	}
	shots := os.Getenv("SHARDBOARD_SHOTS")
	for _, width := range []int64{1280, 390} {
		for _, scheme := range []string{"light", "dark"} {
			for _, address := range []string{"heat", "heat?by=project&span=24h", "heat?ns=yorkie-meta.documents", "heat?ns=yorkie-meta.clients"} {
				if err := inPage(ctx, setScreen(width, scheme)); err != nil {
					t.Fatal(err)
				}
				openHeatPage(t, ctx, d, address)
				if over := eval[int](t, ctx, "document.documentElement.scrollWidth - document.documentElement.clientWidth"); over > 0 {
					t.Errorf("/%s at %d: %d px wider than the screen", address, width, over)
				}
				if shots == "" {
					continue
				}
				png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
				if err != nil {
					t.Fatal(err)
				}
				name := strings.NewReplacer("/", "_", "?", "_", "=", "_", "&", "_").Replace(address)
				if err := os.WriteFile(fmt.Sprintf("%s/%s-%d-%s.png", shots, name, width, scheme), png, 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	bad.check(t)
}

func TestBrowserShowsTheHeatPictureWithoutJavaScript(t *testing.T) {
	ctx := newBrowser(t)
	d := startDemo(t, quietCluster(), topology.Options{})
	d.recordHeat(t, 3)
	if err := inPage(ctx, withoutScripts, chromedp.Navigate(d.app.URL()+"heat"), chromedp.WaitVisible(".smallheat svg path"),
		chromedp.WaitVisible("#heat-table summary")); err != nil {
		t.Fatal(err)
	}
}
