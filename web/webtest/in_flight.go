package webtest

import (
	"time"

	"shardboard/internal/topology"
)

// FlightOfChunk is a migration of the chunk at a position to another shard.
func FlightOfChunk(t *topology.Table, ns topology.Namespace, i int, to string) topology.InFlight {
	c := t.Collection(ns)
	ch := c.Chunks.At(i)
	known := func(n int64, method string) topology.Figure {
		return topology.Figure{Known: true, Value: n, Method: method, At: Epoch.Add(-time.Second)}
	}
	return topology.InFlight{
		NS:   ns,
		Min:  Must(c.Key.Document(ch.Min)),
		Max:  Must(c.Key.Document(ch.Max)),
		From: ch.Shard,
		To:   to,
		Since: Epoch.Add(
			-12 * time.Second,
		),
		Step:           2,
		Steps:          6,
		RecipientStep:  3,
		RecipientSteps: 7,
		By:             topology.MoveByClient,
		App:            "mongosh 2.12.0",
		Copied:         known(1200, "recipientCount"),
		Estimate:       known(8000, "chunkShare"),
		Left:           topology.TimeLeft{Known: true, For: 70 * time.Second},
	}
}
