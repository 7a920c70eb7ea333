package writes_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/answer/writes"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/only"
	"shardboard/internal/heat/keyvis"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
	"shardboard/web/webtest"
)

// The largest picture, with the noise of real counts, has to stay small on the
// wire.
func TestTheLargestHeatMapIsSmallOnTheWire(t *testing.T) {
	only.Long(t, "makes 1.4 million cells, twice")
	rng := rand.New(rand.NewPCG(5, 5))
	var b []shardkey.Key
	c := webtest.CannedCollection(webtest.ChangesNS, bson.D{{Key: "doc_id", Value: "hashed"}}, keyvis.MaxRows, 2)
	for _, ch := range c.Chunks.All() {
		b = append(b, ch.Min)
	}
	for name, perSecond := range map[string]float64{"300 writes/s": 300, "20,000 writes/s": 20_000} {
		p := keyvis.View{NS: webtest.ChangesNS, By: keyvis.ByKey, Bounds: b, Version: 1}
		at := webtest.Epoch.Add(-keyvis.Reach)
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
		table := *webtest.CannedTable(1, 10)
		table.Collections = []*topology.Collection{c}
		v := answer.View{Now: webtest.Epoch, Table: &table,
			Dir: placement.NewDirectory(1, nil, nil, topology.Health{At: webtest.Epoch}), Profile: profile.Yorkie()}
		q := writes.HeatMapQuery{NS: webtest.ChangesNS, By: keyvis.ByKey, From: webtest.Epoch.Add(-keyvis.Reach), To: webtest.Epoch}
		m := writes.HeatMapOf(v, c, p, q)
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
