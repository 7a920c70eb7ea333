package bench

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster"
)

// A cluster of many collections: 10,000, of which 100 have a thousand chunks.
const (
	manySharded  = 100
	manyPlain    = 9_900
	chunksOfEach = 1_000
)

// measureCollections starts a server of ten thousand collections and reads the same metadata undecoded, in turns.
func measureCollections(ctx context.Context, o Options, r *Report) error {
	sim, err := serveCluster(ctx, simcluster.Options{Projects: 12, Documents: 300, Still: true})
	if err != nil {
		return err
	}
	defer sim.stop()
	if err := sim.addCollections(ctx); err != nil {
		return fmt.Errorf("make collections: %w", err)
	}
	o.Sockets = 0
	var drains, starts []float64
	for range o.Turns {
		var drain []float64
		if err := part(ctx, o, &drain, "drain", "--uri", sim.uri, "--turns", "1"); err != nil {
			return fmt.Errorf("read all metadata: %w", err)
		}
		s, err := startServer(ctx, o, sim.uri)
		if err != nil {
			return err
		}
		s.stop()
		drains, starts = append(drains, drain...), append(starts, s.ready.Seconds())
	}
	r.add("10,000 collections: from start to ready ÷ read of the same metadata", median(starts)/median(drains), "", readyRatio,
		fmt.Sprintf("%.2f s and %.2f s", median(starts), median(drains)))
	return nil
}

func (p *clusterProcess) addCollections(ctx context.Context) error {
	send := func(db string, cmd bson.D) error {
		_, err := p.cluster.Command(ctx, db, cmd)
		return err
	}
	if err := send("admin", bson.D{{Key: "enableSharding", Value: "many"}}); err != nil {
		return err
	}
	for i := range manySharded {
		if err := send("admin", bson.D{{Key: "shardCollection", Value: fmt.Sprintf("many.sharded%03d", i)},
			{Key: "key", Value: bson.D{{Key: "k", Value: "hashed"}}}, {Key: "numInitialChunks", Value: int32(chunksOfEach)}}); err != nil {
			return err
		}
	}
	for i := range manyPlain {
		if err := send("app", bson.D{{Key: "create", Value: fmt.Sprintf("plain%05d", i)}}); err != nil {
			return err
		}
	}
	return nil
}
