package app

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/api"
	"shardboard/internal/heat"
	"shardboard/internal/heat/keyvis"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
	"shardboard/static"
)

const changes = "yorkie-meta.changes"

// recordHeat stores recorded writes for every minute of the last hours, with a hot
// chunk, a wave and an hour without counts.
func (d *demo) recordHeat(t *testing.T, hours int) {
	t.Helper()
	var projects struct{ Items []struct{ ID bson.ObjectID } }
	d.getJSON(t, "api/v1/projects?limit=1000", &projects)
	c := d.app.Watcher().Table().Collection(changes)
	rng := rand.New(rand.NewPCG(9, 9))
	to := time.Now().Truncate(time.Minute)
	for at := to.Add(-time.Duration(hours) * time.Hour); at.Before(to); at = at.Add(time.Minute) {
		minute := int(at.Unix() / 60)
		if minute/60%5 == 3 {
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
		d.app.current().pictures.Take(s)
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
			d.app.current().pictures.Take(s)
		}
	}
}

// openHeatPage opens the heat page and waits until the heat map is drawn.
func openHeatPage(t *testing.T, ctx context.Context, d *demo, address string) {
	t.Helper()
	err := chromedp.Do(ctx, chromedp.Navigate(d.app.URL()+address), chromedp.WaitVisible("#heat-map canvas"),
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
	if err := chromedp.Do(ctx, setScreen(1280, "light"), chromedp.Navigate(d.app.URL()+"heat")); err != nil {
		t.Fatal(err)
	}
	const rates = `document.querySelectorAll(".hot tbody tr").length > 0`
	if err := chromedp.Do(ctx, waitUntil(rates)); err != nil {
		if err = chromedp.Do(ctx, waitUntil(rates)); err != nil {
			t.Fatalf("the page does not show rates without a reload: %v", err)
		}
	}
	shots := os.Getenv("SHARDBOARD_SHOTS")
	for _, width := range []int64{1280, 390} {
		for _, scheme := range []string{"light", "dark"} {
			for _, address := range []string{"heat", "heat?by=project&span=24h", "heat?ns=yorkie-meta.documents", "heat?ns=yorkie-meta.clients"} {
				if err := chromedp.Do(ctx, setScreen(width, scheme)); err != nil {
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

func TestBrowserNavigatesTheHeatMapByKeyboard(t *testing.T) {
	ctx := newBrowser(t)
	d := startDemo(t, quietCluster(), topology.Options{})
	bad := listenForComplaints(t, ctx)
	d.recordHeat(t, 8)
	if err := chromedp.Do(ctx, setScreen(1280, "light")); err != nil {
		t.Fatal(err)
	}
	openHeatPage(t, ctx, d, "heat")
	const readout = `document.getElementById("heat-readout").textContent`
	eval[bool](t, ctx, `(document.querySelector("[data-heat=canvas]").focus(), true)`)
	err := chromedp.Do(ctx, pressKey("ArrowLeft", "ArrowLeft"), pressKey("ArrowUp", "ArrowUp"), waitUntil(readout+`.includes("UTC")`))
	if err != nil {
		t.Fatalf("the arrow keys select no cell: %v, %s", err, eval[string](t, ctx, readout))
	}
	was := eval[string](t, ctx, readout)
	err = chromedp.Do(ctx, pressKey("ArrowLeft", "ArrowLeft"), pressKey("+", "Equal"),
		waitUntil(readout+" !== "+fmt.Sprintf("%q", was)))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(was, "writes/s") {
		t.Errorf("the cell's text is %q, expected writes/s", was)
	}
	err = chromedp.Do(
		ctx,
		pressKey("Enter", "Enter"),
		waitUntil(`document.activeElement.closest('[data-heat="row"]') !== null && document.activeElement.href.includes("/chunks/")`),
	)
	if err != nil {
		t.Fatalf("Enter focuses no row: %v", err)
	}
	// The row's link leads to an existing chunk.
	at := eval[string](t, ctx, "document.activeElement.getAttribute('href')")
	if res, _ := d.get(t, strings.TrimPrefix(at, "/")); res.StatusCode != 200 {
		t.Errorf("%s: unexpected status: %s", at, res.Status)
	}
	bad.check(t)
}

func TestBrowserShowsHeatAsTablesWithoutJavaScript(t *testing.T) {
	ctx := newBrowser(t)
	d := startDemo(t, quietCluster(), topology.Options{})
	d.recordHeat(t, 3)
	off := chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	})
	if err := chromedp.Do(ctx, off, chromedp.Navigate(d.app.URL()+"heat"), chromedp.WaitVisible("#heat-table summary")); err != nil {
		t.Fatal(err)
	}
}

// largestHeatMap returns a heat map of the largest size: heavy-tailed writes with noise
// in every possible column and row.
func largestHeatMap() api.HeatMap {
	scale := api.NewHeatScale(0.5)
	rng := rand.New(rand.NewPCG(3, 3))
	m := api.HeatMap{NS: changes, By: "key", Scale: scale}
	to := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	at := to
	for _, l := range []struct{ n, seconds int }{{370, 60}, {220, 300}, {100, 3600}, {keyvis.MaxColumns - 690, 4 * 3600}} {
		for range l.n {
			at = at.Add(-time.Duration(l.seconds) * time.Second)
			m.Columns = append(m.Columns, api.HeatSpan{From: at, Seconds: l.seconds, Covered: float64(l.seconds)})
		}
	}
	for i, j := 0, len(m.Columns)-1; i < j; i, j = i+1, j-1 {
		m.Columns[i], m.Columns[j] = m.Columns[j], m.Columns[i]
	}
	m.From, m.To = at, to
	for row := range keyvis.MaxRows {
		line := make([]byte, len(m.Columns))
		for i := range line {
			line[i] = scale.Letter(math.Floor(200/float64(1+row)*rng.ExpFloat64()*60) / 60)
		}
		m.Rows = append(
			m.Rows,
			api.HeatRow{
				Shard:  fmt.Sprint("shard-rs-", 1+row%3),
				Chunks: 1,
				Min:    json.RawMessage(fmt.Sprintf(`{"doc_id":{"$numberLong":"%d"}}`, row)),
			},
		)
		m.Cells = append(m.Cells, string(line))
	}
	return m
}

// A frame of the largest heat map should be drawn within 8 ms. The test allows more for
// a busy machine and logs the time.
func TestBrowserDrawsTheLargestHeatMapFast(t *testing.T) {
	ctx := newBrowser(t)
	d := startDemo(t, quietCluster(), topology.Options{})
	if err := chromedp.Do(ctx, setScreen(1280, "dark"), chromedp.Navigate(d.app.URL()+"heat"), chromedp.WaitVisible("main h1")); err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(largestHeatMap())
	if err != nil {
		t.Fatal(err)
	}
	js := fmt.Sprintf(`(async () => {
		const data = await import(%q), drawing = await import(%q), views = await import(%q);
		const answer = %s;
		let begin = performance.now();
		const heat = data.read(answer);
		const picture = new drawing.Picture(heat);
		picture.render({ shard: "", brightness: 0, normalise: false, dark: true, zero: [37, 38, 43] });
		const levels = performance.now() - begin;
		while (picture.paintNext());
		const once = performance.now() - begin;
		const canvas = document.createElement("canvas");
		canvas.width = 1100; canvas.height = 520;
		document.body.append(canvas);
		const to = canvas.getContext("2d");
		const all = views.whole(heat, picture.shown.length);
		const times = [];
		for (let i = 0; i < 120; i++) {
			const by = 0.02 + 0.98 * Math.abs(Math.cos(i / 19));
			const at = heat.to - (heat.to - heat.from) * Math.abs(Math.sin(i / 31)) * 0.9;
			const view = views.within(views.zoomed(all, by, at, 1536 * Math.abs(Math.sin(i / 7))), all);
			await new Promise(requestAnimationFrame);
			begin = performance.now();
			to.clearRect(0, 0, 1100, 520);
			picture.frame(to, view, { x: 0, y: 0, w: 1100, h: 520 });
			to.getImageData(0, 0, 1, 1); // forces the drawing to finish
			times.push(performance.now() - begin);
		}
		times.sort((a, b) => a - b);
		return { levels, once, half: times[60], most: times[113] };
	})()`, static.URL("js/heat_data.js"), static.URL("js/heat_picture.js"), static.URL("js/heat_view.js"), body)
	got, err := chromedp.Run(ctx, chromedp.Evaluate[struct{ Levels, Once, Half, Most float64 }](js, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf(
		"%d × %d cells: %.0f ms once per change of data and %.0f ms more in idle time, %.1f ms a frame (median), %.1f ms (95 %%)",
		keyvis.MaxRows,
		keyvis.MaxColumns,
		got.Levels,
		got.Once-got.Levels,
		got.Half,
		got.Most,
	)
	if os.Getenv("SHARDBOARD_LONG") != "" && got.Half > 8 {
		t.Errorf("drawing a frame takes %.1f ms", got.Half)
	}
}
