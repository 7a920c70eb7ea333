package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"shardboard/internal/cluster"
	"shardboard/internal/topology"
)

// LoadTimes are how long one read of all chunks took in turns: the same cursor drained
// with nothing done to what comes, and a first load of a table. Both in seconds.
type LoadTimes struct {
	Drain []float64 `json:"drain"`
	Load  []float64 `json:"load"`
}

// Ratio is the median load over the median drain.
func (t LoadTimes) Ratio() float64 { return median(t.Load) / median(t.Drain) }

func connect(ctx context.Context, uri string) (*cluster.Client, error) {
	address, err := cluster.ParseURI(uri)
	if err != nil {
		return nil, err
	}
	return cluster.Connect(ctx, address, cluster.Options{})
}

// MeasureLoad drains and loads a collection's chunks in turns.
func MeasureLoad(ctx context.Context, uri string, ns topology.Namespace, turns int) (t LoadTimes, err error) {
	c, err := connect(ctx, uri)
	if err != nil {
		return t, err
	}
	defer func() { _ = c.Close(context.WithoutCancel(ctx)) }()
	if _, err := c.Server(ctx); err != nil {
		return t, err
	}
	heads, err := c.Heads(ctx, topology.Window{Only: []topology.Namespace{ns}})
	if err != nil {
		return t, err
	}
	if len(heads) == 0 {
		return t, fmt.Errorf("the cluster has no collection %s", ns)
	}
	for range turns {
		begun := time.Now()
		if err := c.DrainChunks(ctx, heads[0].Meta); err != nil {
			return t, err
		}
		t.Drain = append(t.Drain, time.Since(begun).Seconds())
		begun = time.Now()
		table, err := topology.NewWatcher(c, topology.Options{}).Load(ctx)
		if err != nil {
			return t, err
		}
		t.Load = append(t.Load, time.Since(begun).Seconds())
		if table.Collection(ns).Chunks.Len() == 0 {
			return t, fmt.Errorf("%s has no chunks", ns)
		}
	}
	return t, nil
}

// MeasureDrain reads all metadata of a cluster in turns, without decoding it. In seconds.
func MeasureDrain(ctx context.Context, uri string, turns int) (seconds []float64, err error) {
	c, err := connect(ctx, uri)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close(context.WithoutCancel(ctx)) }()
	for range turns {
		begun := time.Now()
		if err := c.DrainMetadata(ctx); err != nil {
			return nil, err
		}
		seconds = append(seconds, time.Since(begun).Seconds())
	}
	return seconds, nil
}

func median(all []float64) float64 {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}
