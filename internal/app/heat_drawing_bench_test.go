package app

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/fixture/must"
	"shardboard/internal/heat/keyvis"
	"shardboard/internal/topology"
	"shardboard/static"
)

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

// BenchmarkBrowserDrawsTheLargestHeatMap measures a frame of the largest heat map, which should be drawn within 8 ms.
func BenchmarkBrowserDrawsTheLargestHeatMap(b *testing.B) {
	o := newTab(b, startDemo(b, quietCluster(), topology.Options{}), 1280)
	o.open("heat")
	body := must.Get(json.Marshal(largestHeatMap()))
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
	for b.Loop() {
		got := eval[struct{ Levels, Once, Half, Most float64 }](o, js)
		b.ReportMetric(got.Levels, "ms/data")
		b.ReportMetric(got.Once-got.Levels, "ms-idle/data")
		b.ReportMetric(got.Half, "frame-ms")
		b.ReportMetric(got.Most, "frame-p95-ms")
	}
}
