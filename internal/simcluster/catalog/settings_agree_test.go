package catalog

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/balance"
	"shardboard/internal/fixture/must"
)

// The product and the simulated balancer read config.settings independently of each other; of random documents they
// say the same: whether a value is refused, and whether the balancer runs at a given time.
func TestTwoReadersOfTheSettingsAgree(t *testing.T) {
	values := []any{true, false, int32(0), int32(1), int64(64), 1.5, 64.0, 2048.0, "true", "full", "off", "autoSplitOnly", "turbo", nil,
		bson.D{}, bson.D{{Key: "w", Value: 2}}, bson.A{}, bson.A{"x"}}
	times := []any{"1:00", "01:00", "23:59", "25:00", "9", "", int32(5), "12:60", " 7:5x", nil}
	days := []any{"Monday", "Tuesday", "Sunday", "monday", "", int32(1)}
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 32))
		pick := func(from []any) any { return from[rng.IntN(len(from))] }
		window := func() bson.D {
			w := bson.D{{Key: "start", Value: pick(times)}, {Key: "stop", Value: pick(times)}}
			return w[:2-rng.IntN(8)/7]
		}
		version := [][3]int{{4, 4, 0}, {5, 0, 7}, {6, 0, 0}, {7, 0, 0}, {8, 0, 10}, {8, 3, 0}}[rng.IntN(6)]
		balancer := bson.D{{Key: "_id", Value: "balancer"}}
		for _, field := range []string{"stopped", "mode", "_waitForDelete", "attemptToBalanceJumboChunks", "_secondaryThrottle"} {
			if rng.IntN(4) == 0 {
				balancer = append(balancer, bson.E{Key: field, Value: pick(values)})
			}
		}
		if rng.IntN(2) == 0 {
			balancer = append(balancer, bson.E{Key: "activeWindow", Value: window()})
		}
		if rng.IntN(2) == 0 {
			list := bson.A{}
			for range rng.IntN(3) {
				list = append(list, append(window(), bson.E{Key: "day", Value: pick(days)}))
			}
			balancer = append(balancer, bson.E{Key: "activeWindowDOW", Value: list})
		}
		rows := []bson.D{balancer}
		for name, field := range map[string]string{"chunksize": "value", "automerge": "enabled", "autosplit": "enabled"} {
			if rng.IntN(6) == 0 {
				rows = append(rows, bson.D{{Key: "_id", Value: name}, {Key: field, Value: pick(values)}})
			}
		}
		c := New(Options{Still: true, Seed: 1, Version: version})
		var raws []bson.Raw
		for _, row := range rows {
			c.config.insert("settings", row)
			raw := must.Get(bson.Marshal(row))
			raws = append(raws, raw)
		}
		theirs, ours := c.readSettings(), balance.ReadSettings(raws, balance.Release(version))
		c.Close()
		now := time.Date(2026, 3, 1+rng.IntN(3), rng.IntN(24), rng.IntN(60), 0, 0, time.UTC)
		about := fmt.Sprintf("seed %d, %v: %v", seed, version, rows)
		// 7.0 to 8.2 read an unknown mode as off, which the product lists with the refused values.
		off := ours.Refuses("mode") && len(ours.Refused) == 1 && theirs.Mode == "off"
		if refused := len(ours.Refused) > 0; refused != (theirs.Refused != "") && !off {
			t.Errorf("%s: we say %+v, the simulated cluster %q", about, ours.Refused, theirs.Refused)
		}
		if runs := ours.Moves() && ours.OpenAt(now); runs != theirs.Balancing(now) {
			t.Errorf("%s: at %v we say %t, the simulated cluster %t", about, now, runs, theirs.Balancing(now))
		}
	}
}
