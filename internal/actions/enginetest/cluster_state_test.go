package enginetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fixture/expect"
)

// ClusterState is the part of the catalogue that the commands of an empty rig
// change. It is read without the network and without any of the code under test, so
// that runs can be checked against it.
type ClusterState struct {
	Sharded   bool   // the collection NS exists
	Key       string // the pattern of its shard key
	NoBalance bool

	Settings     CollectionSettings
	Unsplittable bool             // NS is tracked, and not sharded
	Chunks       []ChunkState     // of NS, in key order
	Ranges       []ZoneRangeState // of NS, in key order
	Zones        map[string][]string
	Draining     map[string]bool // by shard
	Merged       bool            // the changelog has a merge of chunks of NS
	Balancer     bool
	Primary      string            // of the database of NS
	Tracked      map[string]string // shards of the collections that are tracked and not sharded
	Window       [2]string
}

// CollectionSettings are the settings of NS that decide what the balancer does with its
// chunks.
type CollectionSettings struct {
	Blocked      bool // migrations
	ChunkMB      int64
	NoAutoMerge  bool
	Defragmented bool // being defragmented
	Phase        string
}

// ChunkState is a chunk whose bounds are numbers.
type ChunkState struct {
	Lo, Hi float64
	Shard  string
	Jumbo  bool
}

// ZoneRangeState is a zone range whose bounds are numbers.
type ZoneRangeState struct {
	Lo, Hi float64
	Zone   string
}

// ReadState reads the state of the cluster, which must answer.
func (r *Rig) ReadState() ClusterState {
	r.Helper()
	state, err := r.readState(context.Background())
	expect.That(r, err == nil, "%v", err)
	return state
}

func (r *Rig) readState(ctx context.Context) (ClusterState, error) {
	var errs []error
	rows := func(coll string, filter bson.D, each func(bson.Raw)) {
		errs = append(errs, r.findConfig(ctx, coll, filter, each))
	}
	state := ClusterState{Zones: map[string][]string{}, Draining: map[string]bool{}, Tracked: map[string]string{}, Balancer: true}
	var id bson.RawValue
	rows("collections", bson.D{{Key: "_id", Value: NS}}, func(row bson.Raw) {
		if dropped, ok := row.Lookup("dropped").BooleanOK(); ok && dropped {
			return
		}
		state.Sharded, id = true, row.Lookup("uuid")
		state.Unsplittable, _ = row.Lookup("unsplittable").BooleanOK()
		state.NoBalance, _ = row.Lookup("noBalance").BooleanOK()
		denied := func(name string) bool { v, ok := row.Lookup(name).BooleanOK(); return ok && !v }
		size, _ := row.Lookup("maxChunkSizeBytes").AsInt64OK()
		state.Settings = CollectionSettings{Blocked: denied("allowMigrations") || denied("permitMigrations"), ChunkMB: size >> 20,
			NoAutoMerge: denied("enableAutoMerge")}
		state.Settings.Defragmented, _ = row.Lookup("defragmentCollection").BooleanOK()
		state.Settings.Phase, _ = row.Lookup("defragmentationPhase").StringValueOK()
		state.Key = row.Lookup("key").String()
	})
	if state.Sharded {
		of := bson.D{{Key: "$or", Value: bson.A{bson.D{{Key: "uuid", Value: id}}, bson.D{{Key: "ns", Value: NS}}}}}
		rows("chunks", of, func(row bson.Raw) {
			shard, _ := row.Lookup("shard").StringValueOK()
			jumbo, _ := row.Lookup("jumbo").BooleanOK()
			state.Chunks = append(state.Chunks, ChunkState{number(row.Lookup("min", "p")), number(row.Lookup("max", "p")), shard, jumbo})
		})
	}
	rows("collections", bson.D{{Key: "unsplittable", Value: true}}, func(row bson.Raw) {
		ns, _ := row.Lookup("_id").StringValueOK()
		rows("chunks", bson.D{{Key: "uuid", Value: row.Lookup("uuid")}}, func(chunk bson.Raw) {
			state.Tracked[ns], _ = chunk.Lookup("shard").StringValueOK()
		})
	})
	rows("databases", bson.D{{Key: "_id", Value: NS.Database()}}, func(row bson.Raw) {
		state.Primary, _ = row.Lookup("primary").StringValueOK()
	})
	rows("tags", bson.D{{Key: "ns", Value: NS}}, func(row bson.Raw) {
		zone, _ := row.Lookup("tag").StringValueOK()
		state.Ranges = append(state.Ranges, ZoneRangeState{number(row.Lookup("min", "p")), number(row.Lookup("max", "p")), zone})
	})
	rows("changelog", bson.D{{Key: "ns", Value: NS}, {Key: "what", Value: bson.D{{Key: "$in", Value: bson.A{"merge", "autoMerge"}}}}},
		func(bson.Raw) { state.Merged = true })
	rows("shards", bson.D{}, func(row bson.Raw) {
		name, _ := row.Lookup("_id").StringValueOK()
		tags, _ := row.Lookup("tags").ArrayOK()
		values, _ := tags.Values()
		state.Zones[name] = []string{}
		for _, v := range values {
			state.Zones[name] = append(state.Zones[name], v.StringValue())
		}
		slices.Sort(state.Zones[name])
		state.Draining[name], _ = row.Lookup("draining").BooleanOK()
	})
	rows("settings", bson.D{{Key: "_id", Value: "balancer"}}, func(row bson.Raw) {
		stopped, _ := row.Lookup("stopped").BooleanOK()
		mode, _ := row.Lookup("mode").StringValueOK()
		state.Balancer = !stopped && mode != "off"
		state.Window[0], _ = row.Lookup("activeWindow", "start").StringValueOK()
		state.Window[1], _ = row.Lookup("activeWindow", "stop").StringValueOK()
	})
	slices.SortFunc(state.Chunks, func(a, b ChunkState) int { return compare(a.Lo, b.Lo) })
	slices.SortFunc(state.Ranges, func(a, b ZoneRangeState) int { return compare(a.Lo, b.Lo) })
	return state, errors.Join(errs...)
}

func (r *Rig) findConfig(ctx context.Context, coll string, filter bson.D, each func(bson.Raw)) error {
	reply, err := r.Sim.Command(ctx, "config",
		bson.D{{Key: "find", Value: coll}, {Key: "filter", Value: filter}, {Key: "batchSize", Value: 10000}})
	if err != nil {
		return fmt.Errorf("read config.%s: %w", coll, err)
	}
	values, _ := reply.Lookup("cursor", "firstBatch").Array().Values()
	for _, v := range values {
		each(v.Document())
	}
	return nil
}

func number(v bson.RawValue) float64 {
	switch v.Type {
	case bson.TypeMinKey:
		return math.Inf(-1)
	case bson.TypeMaxKey:
		return math.Inf(1)
	}
	n, _ := v.AsFloat64OK()
	return n
}

func compare(a, b float64) int {
	if a < b {
		return -1
	}
	return 1
}

// HasEffect reports whether the state shows the effect of a step. It defines the
// effect of every command itself instead of relying on the step's proof.
func (state ClusterState) HasEffect(s operation.Step) bool {
	lo, hi := number(s.Min.Lookup("p")), number(s.Max.Lookup("p"))
	chunk := func() (ChunkState, bool) {
		i := slices.IndexFunc(state.Chunks, func(c ChunkState) bool { return c.Lo == lo && c.Hi == hi })
		if i < 0 {
			return ChunkState{}, false
		}
		return state.Chunks[i], true
	}
	switch s.Op {
	case operation.OpSplitAt:
		at := number(s.At.Lookup("p"))
		return slices.ContainsFunc(state.Chunks, func(c ChunkState) bool { return c.Lo == at })
	case operation.OpSplitMedian:
		_, whole := chunk()
		return state.Sharded && !whole && state.hasBounds(lo, hi)
	case operation.OpMerge:
		_, whole := chunk()
		return whole
	case operation.OpMove, operation.OpMoveRange:
		elsewhere := func(c ChunkState) bool { return c.Lo < hi && c.Hi > lo && c.Shard != s.Shard }
		return state.hasBounds(lo, hi) && !slices.ContainsFunc(state.Chunks, elsewhere)
	case operation.OpClearJumbo:
		c, there := chunk()
		return there && !c.Jumbo
	case operation.OpRefineKey:
		return state.Key == s.Key.String()
	case operation.OpAddZone:
		return slices.Contains(state.Zones[s.Shard], s.Zone)
	case operation.OpRemoveZone:
		return !slices.Contains(state.Zones[s.Shard], s.Zone)
	case operation.OpSetRange:
		return slices.Contains(state.Ranges, ZoneRangeState{lo, hi, s.Zone})
	case operation.OpRemoveRange:
		return !slices.ContainsFunc(state.Ranges, func(z ZoneRangeState) bool { return z.Lo == lo && z.Hi == hi })
	case operation.OpBalancerOn:
		return state.Balancer
	case operation.OpBalancerOff:
		return !state.Balancer
	case operation.OpBalancerWindow:
		return state.Window == [2]string{s.Start, s.Stop}
	case operation.OpBalancing:
		return state.Sharded && state.NoBalance == !s.On
	case operation.OpUnshard:
		return state.Unsplittable && len(state.Chunks) == 1 && (s.Shard == "" || state.Chunks[0].Shard == s.Shard)
	case operation.OpMoveCollection:
		return state.Tracked[string(s.NS)] == s.Shard
	case operation.OpMovePrimary:
		return state.Primary == s.Shard
	case operation.OpBeginRemoval, operation.OpStartDraining, operation.OpBeginDedicated:
		return state.Draining[s.Shard]
	case operation.OpStopDraining:
		drains, there := state.Draining[s.Shard]
		return there && !drains
	case operation.OpRemoveShard, operation.OpDedicate:
		_, there := state.Draining[s.Shard]
		return !there
	case operation.OpMigrations:
		return state.Sharded && state.Settings.Blocked == !s.On
	case operation.OpChunkSize:
		return state.Sharded && state.Settings.ChunkMB == int64(s.Size)
	case operation.OpAutoMerge:
		return state.Sharded && state.Settings.NoAutoMerge == !s.On
	case operation.OpDefragment:
		if s.On { // the adjacent chunks of a rig are empty, so that they are merged before it ends
			return state.Settings.Defragmented || state.Sharded && (state.Merged || !state.hasBounds(0, 10))
		}
		return state.Sharded && (!state.Settings.Defragmented || state.Settings.Phase == "mergeChunks")
	case operation.OpAwait:
		if s.AwaitsDrain() {
			return state.Draining[s.Shard] && !slices.ContainsFunc(state.Chunks, func(c ChunkState) bool { return c.Shard == s.Shard })
		}
		return state.Sharded // such a step only waits for the balancer
	}
	return false
}

// hasBounds reports whether one chunk begins at lo and one ends at hi.
func (state ClusterState) hasBounds(lo, hi float64) bool {
	return slices.ContainsFunc(state.Chunks, func(c ChunkState) bool { return c.Lo == lo }) &&
		slices.ContainsFunc(state.Chunks, func(c ChunkState) bool { return c.Hi == hi })
}

// ChunkGap describes where the chunks leave a gap in the key space or overlap; ""
// when they do not.
func (state ClusterState) ChunkGap() string {
	if !state.Sharded || state.Unsplittable { // tracked without a shard key
		return ""
	}
	at := math.Inf(-1)
	for _, c := range state.Chunks {
		if c.Lo != at || c.Hi <= c.Lo {
			return fmt.Sprintf("after %v comes [%v, %v)", at, c.Lo, c.Hi)
		}
		at = c.Hi
	}
	if !math.IsInf(at, 1) {
		return fmt.Sprintf("nothing after %v", at)
	}
	return ""
}

// String contains everything that a plan followed by its undo must leave unchanged.
func (state ClusterState) String() string {
	var b strings.Builder
	for _, c := range state.Chunks {
		fmt.Fprintf(&b, "[%v, %v) on %s\n", c.Lo, c.Hi, c.Shard)
	}
	fmt.Fprintln(&b, state.Sharded, state.Key, state.NoBalance, state.Ranges, state.Zones, state.Balancer, state.Window, state.Settings)
	return b.String()
}
