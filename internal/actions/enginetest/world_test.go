package enginetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
)

// World is all of the catalogue that the commands of an empty rig change, read
// past the wire and past all of our own reading: what runs say is held against it.
type World struct {
	Sharded   bool // there is the collection NS
	NoBalance bool
	Chunks    []WorldChunk // of NS, in key order
	Ranges    []WorldRange // of NS, in key order
	Zones     map[string][]string
	Balancer  bool
	Window    [2]string
}

// WorldChunk is a chunk of a key that is one number.
type WorldChunk struct {
	Lo, Hi float64
	Shard  string
	Jumbo  bool
}

// WorldRange is a zone range of such a key.
type WorldRange struct {
	Lo, Hi float64
	Zone   string
}

// World reads the cluster as it is, when it answers.
func (r *Rig) World() World {
	r.Helper()
	w, err := r.world(context.Background())
	if err != nil {
		r.Error(err)
	}
	return w
}

func (r *Rig) world(ctx context.Context) (World, error) {
	var errs []error
	rows := func(coll string, filter bson.D, each func(bson.Raw)) {
		errs = append(errs, r.rows(ctx, coll, filter, each))
	}
	w := World{Zones: map[string][]string{}, Balancer: true}
	var id bson.RawValue
	rows("collections", bson.D{{Key: "_id", Value: NS}}, func(row bson.Raw) {
		if dropped, ok := row.Lookup("dropped").BooleanOK(); ok && dropped {
			return
		}
		w.Sharded, id = true, row.Lookup("uuid")
		w.NoBalance, _ = row.Lookup("noBalance").BooleanOK()
	})
	if w.Sharded {
		of := bson.D{{Key: "$or", Value: bson.A{bson.D{{Key: "uuid", Value: id}}, bson.D{{Key: "ns", Value: NS}}}}}
		rows("chunks", of, func(row bson.Raw) {
			shard, _ := row.Lookup("shard").StringValueOK()
			jumbo, _ := row.Lookup("jumbo").BooleanOK()
			w.Chunks = append(w.Chunks, WorldChunk{number(row.Lookup("min", "p")), number(row.Lookup("max", "p")), shard, jumbo})
		})
	}
	rows("tags", bson.D{{Key: "ns", Value: NS}}, func(row bson.Raw) {
		zone, _ := row.Lookup("tag").StringValueOK()
		w.Ranges = append(w.Ranges, WorldRange{number(row.Lookup("min", "p")), number(row.Lookup("max", "p")), zone})
	})
	rows("shards", bson.D{}, func(row bson.Raw) {
		name, _ := row.Lookup("_id").StringValueOK()
		tags, _ := row.Lookup("tags").ArrayOK()
		values, _ := tags.Values()
		w.Zones[name] = []string{}
		for _, v := range values {
			w.Zones[name] = append(w.Zones[name], v.StringValue())
		}
		slices.Sort(w.Zones[name])
	})
	rows("settings", bson.D{{Key: "_id", Value: "balancer"}}, func(row bson.Raw) {
		stopped, _ := row.Lookup("stopped").BooleanOK()
		mode, _ := row.Lookup("mode").StringValueOK()
		w.Balancer = !stopped && mode != "off"
		w.Window[0], _ = row.Lookup("activeWindow", "start").StringValueOK()
		w.Window[1], _ = row.Lookup("activeWindow", "stop").StringValueOK()
	})
	slices.SortFunc(w.Chunks, func(a, b WorldChunk) int { return compare(a.Lo, b.Lo) })
	slices.SortFunc(w.Ranges, func(a, b WorldRange) int { return compare(a.Lo, b.Lo) })
	return w, errors.Join(errs...)
}

func (r *Rig) rows(ctx context.Context, coll string, filter bson.D, each func(bson.Raw)) error {
	reply, err := r.Sim.Command(
		ctx,
		"config",
		bson.D{{Key: "find", Value: coll}, {Key: "filter", Value: filter}, {Key: "batchSize", Value: 10000}},
	)
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

// Did tells whether the world is as it is after a step had its effect. It says
// of every command by itself what that is, and not by the step's own proof.
func (w World) Did(s actions.Step) bool {
	lo, hi := number(s.Min.Lookup("p")), number(s.Max.Lookup("p"))
	chunk := func() (WorldChunk, bool) {
		i := slices.IndexFunc(w.Chunks, func(c WorldChunk) bool { return c.Lo == lo && c.Hi == hi })
		if i < 0 {
			return WorldChunk{}, false
		}
		return w.Chunks[i], true
	}
	switch s.Op {
	case actions.OpSplitAt:
		at := number(s.At.Lookup("p"))
		return slices.ContainsFunc(w.Chunks, func(c WorldChunk) bool { return c.Lo == at })
	case actions.OpSplitMedian:
		_, whole := chunk()
		return w.Sharded && !whole && w.edges(lo, hi)
	case actions.OpMerge:
		_, whole := chunk()
		return whole
	case actions.OpMove, actions.OpMoveRange:
		return w.edges(lo, hi) && !slices.ContainsFunc(w.Chunks, func(c WorldChunk) bool { return c.Lo < hi && c.Hi > lo && c.Shard != s.Shard })
	case actions.OpClearJumbo:
		c, there := chunk()
		return there && !c.Jumbo
	case actions.OpAddZone:
		return slices.Contains(w.Zones[s.Shard], s.Zone)
	case actions.OpRemoveZone:
		return !slices.Contains(w.Zones[s.Shard], s.Zone)
	case actions.OpSetRange:
		return slices.Contains(w.Ranges, WorldRange{lo, hi, s.Zone})
	case actions.OpRemoveRange:
		return !slices.ContainsFunc(w.Ranges, func(z WorldRange) bool { return z.Lo == lo && z.Hi == hi })
	case actions.OpBalancerOn:
		return w.Balancer
	case actions.OpBalancerOff:
		return !w.Balancer
	case actions.OpBalancerWindow:
		return w.Window == [2]string{s.Start, s.Stop}
	case actions.OpBalancing:
		return w.Sharded && w.NoBalance == !s.On
	case actions.OpAwait:
		return w.Sharded // waits for what the cluster does by itself
	}
	return false
}

// edges tells whether a chunk begins and one ends there.
func (w World) edges(lo, hi float64) bool {
	return slices.ContainsFunc(w.Chunks, func(c WorldChunk) bool { return c.Lo == lo }) &&
		slices.ContainsFunc(w.Chunks, func(c WorldChunk) bool { return c.Hi == hi })
}

// Torn says what is wrong with the chunks: they must fill the key space without
// a hole and without an overlap.
func (w World) Torn() string {
	if !w.Sharded {
		return ""
	}
	at := math.Inf(-1)
	for _, c := range w.Chunks {
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

// String is what a plan and its undo may not leave different.
func (w World) String() string {
	var b strings.Builder
	for _, c := range w.Chunks {
		fmt.Fprintf(&b, "[%v, %v) on %s\n", c.Lo, c.Hi, c.Shard)
	}
	fmt.Fprintln(&b, w.Sharded, w.NoBalance, w.Ranges, w.Zones, w.Balancer, w.Window)
	return b.String()
}
