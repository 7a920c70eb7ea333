package cluster

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/topology"
)

const megabyte = 1 << 20

// defaultChunkBytes is the chunk size where config.settings has none: 64 MB
// up to 5.x, 128 MB from 6.0.
func defaultChunkBytes(v version) int64 {
	if v.atLeast(6, 0, 0) {
		return 128 * megabyte
	}
	return 64 * megabyte
}

// Settings reads config.settings. No document means the defaults: balancer on, no
// window. The default of the chunk size depends on the release; it is 0 while that is not known.
// When stopped is set the mode is ignored, as in the server (MongoDB 5.0.7,
// s/balancer_configuration.cpp).
func (c *Client) Settings(ctx context.Context) (topology.Balancer, error) {
	b := topology.Balancer{Known: true, Mode: "full", ChunkDefault: true}
	if release, err := c.release(ctx); err == nil {
		b.ChunkBytes = defaultChunkBytes(release)
	}
	cmd := find("settings", bson.D{}, withMajority)
	err := c.each(ctx, "config", cmd, findOn("settings", "read the balancer's settings"), func(doc bson.Raw) error {
		switch id, _ := doc.Lookup("_id").StringValueOK(); id {
		case "balancer":
			decodeBalancer(doc, &b)
		case "chunksize":
			if mb, ok := doc.Lookup("value").AsInt64OK(); ok && mb > 0 && mb <= 1024 {
				b.ChunkBytes, b.ChunkDefault = mb*megabyte, false
			}
		}
		return nil
	})
	if err != nil {
		return topology.Balancer{}, err
	}
	return b, nil
}

func decodeBalancer(doc bson.Raw, b *topology.Balancer) {
	w := walk(doc)
	for w.next() {
		switch string(w.key) {
		case "stopped":
			b.Stopped = w.truthy()
		case "mode":
			if mode, ok := w.str(); ok {
				b.Mode = mode
			}
		case "activeWindow":
			window, _ := w.doc()
			start, _ := window.Lookup("start").StringValueOK()
			stop, _ := window.Lookup("stop").StringValueOK()
			if start != "" && stop != "" && start != stop {
				b.WindowStart, b.WindowStop = start, stop
			}
		}
	}
	if b.Stopped {
		b.Mode = "off"
	}
}

// BalancerStatus reports whether a balancer round is running, and the number of rounds.
func (c *Client) BalancerStatus(ctx context.Context) (inRound bool, rounds int64, err error) {
	reply, err := c.one(ctx, "admin", bson.D{{Key: "balancerStatus", Value: 1}},
		readOp{what: "ask for the balancer's status", privilege: "find on config.settings"})
	if err != nil {
		return false, 0, err
	}
	inRound, _ = reply.Lookup("inBalancerRound").BooleanOK()
	rounds, _ = reply.Lookup("numBalancerRounds").AsInt64OK()
	return inRound, rounds, nil
}
