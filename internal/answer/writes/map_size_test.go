package writes

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/only"
	"shardboard/internal/fixture/routing"
	"shardboard/internal/heat/keyvis"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// The largest picture, with the noise of real counts, has to stay small on the
// wire.
func TestTheLargestHeatMapIsSmallOnTheWire(t *testing.T) {
	only.Long(t, "makes 1.4 million cells, twice")
	rng := rand.New(rand.NewPCG(5, 5))
	key, now := routing.Pattern("doc_id#"), time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	bounds := routing.Bounds(key, routing.EvenHashes(keyvis.MaxRows)...)
	c := routing.Collection("yorkie-meta.changes", key, bounds, "shard-rs-1", "shard-rs-2")
	bounds = append([]shardkey.Key{key.Min()}, bounds...)
	for name, perSecond := range map[string]float64{"300 writes/s": 300, "20,000 writes/s": 20_000} {
		p := keyvis.View{NS: c.NS, By: keyvis.ByKey, Bounds: bounds, Version: 1}
		at := now.Add(-keyvis.Reach)
		for _, l := range []struct {
			n    int
			step time.Duration
		}{{180, 4 * time.Hour}, {96, time.Hour}, {216, 5 * time.Minute}, {keyvis.MaxColumns - 492, time.Minute}} {
			for range l.n {
				p.Columns = append(p.Columns, keyvis.Column{From: at, Step: l.step, Covered: l.step})
				at = at.Add(l.step)
			}
		}
		// Zipf over rows in no order, with a daily wave, counted as they fall.
		order := rng.Perm(keyvis.MaxRows)
		norm := 0.0
		for i := range keyvis.MaxRows {
			norm += 1 / float64(1+i)
		}
		for row := range keyvis.MaxRows {
			for _, col := range p.Columns {
				wave := 1 + 0.6*math.Sin(2*math.Pi*float64(col.From.Unix()%86400)/86400)
				mean := perSecond / norm / float64(1+order[row]) * wave * col.Step.Seconds()
				p.Cells = append(p.Cells, int64(max(0, math.Round(mean+math.Sqrt(mean)*rng.NormFloat64()))))
			}
		}
		v := answer.View{Now: now, Table: &topology.Table{Collections: []*topology.Collection{c}},
			Dir: placement.NewDirectory(1, nil, nil, topology.Health{At: now}), Profile: profile.Yorkie()}
		m, _ := heatMapOf(v, c, p, HeatMapQuery{NS: c.NS, By: keyvis.ByKey, From: now.Add(-keyvis.Reach), To: now})
		body := must.Get(json.Marshal(m))
		var small bytes.Buffer
		z := gzip.NewWriter(&small)
		_, _ = z.Write(body)
		_ = z.Close()
		t.Logf("%s: %d × %d cells, %d bytes, %d compressed, a letter is × %.2f", name, len(m.Rows), len(m.Columns),
			len(body), small.Len(), m.Scale.Step)
		expect.That(t, small.Len() <= 300<<10, "%s: %d bytes compressed", name, small.Len())
	}
}
