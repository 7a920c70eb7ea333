package placement

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// Equal is one field of a row that is known, as stored.
type Equal struct {
	Field string
	Value bson.RawValue
}

// Evidence is what a proof asks the cluster for. Errors are classified with fault.
type Evidence interface {
	// TargetShards tells to which shards the mongos would send a find. Sorted.
	TargetShards(ctx context.Context, ns topology.Namespace, filter bson.D) ([]string, error)
	// Count counts the rows that a filter fits, with a time limit on the server.
	Count(ctx context.Context, ns topology.Namespace, filter bson.D) (int64, error)
	// Primaries are the primary members of the shards' replica sets by set name,
	// as the mongos sees them.
	Primaries(ctx context.Context) (map[string]string, error)
}

// Refresher is the table that can be read again.
type Refresher interface {
	// Table is the newest one: never nil, not Loaded before the first reads.
	Table() *topology.Table
	// Refresh reads it again and returns when Table has the result.
	Refresh(ctx context.Context) error
}

// Prover compares places with what the cluster's own routing says. Safe for
// concurrent use.
type Prover struct {
	cluster Evidence
	tables  Refresher
}

// NewProver makes a prover.
func NewProver(cluster Evidence, tables Refresher) *Prover {
	return &Prover{cluster: cluster, tables: tables}
}

// Proof is the mongos's answer beside ours.
type Proof struct {
	State  ProofState
	Ours   []string // shards by the table, at the end
	Theirs []string // shards by the mongos's explain, at the end
	Newer  Side     // which of the two knew more where they differed
	Reread bool     // the table was read again because they differed
	Seq    uint64   // of the table at the end
	Read   time.Time
	At     time.Time
	Err    error // why it failed, or why the table could not be read again

	// Moved is the place by the table that was read again, when that has it on
	// other shards; Table is that table.
	Moved *Place
	Table *topology.Table
}

// ProofState is how a proof ended.
type ProofState string

// How a proof can end.
const (
	ProofAgrees   ProofState = "agrees"   // the same shards
	ProofCaughtUp ProofState = "caughtUp" // they differed, and agree since the table was read again
	ProofDiffers  ProofState = "differs"  // they differ still
	ProofFailed   ProofState = "failed"   // the mongos did not answer
	ProofSkipped  ProofState = "skipped"  // there is nothing to ask, or the value is of a type that is not sent
)

// Side is one of the two that a proof compares.
type Side string

// The two sides; empty when it cannot be told.
const (
	SideTable  Side = "table"  // ours, read from the config servers
	SideRouter Side = "router" // the mongos's cache
)

// proveWait bounds one explain, countWait one count.
const (
	proveWait = 3 * time.Second
	countWait = 2 * time.Second
)

// Prove asks the mongos where it would look. On a difference the table is read
// again, once, and both are compared again. Nothing is executed: explain plans
// only. The context's deadline holds; each explain has one of its own too.
func (p *Prover) Prove(ctx context.Context, place Place) (out Proof) {
	filter, ok := filterOf(place.Match)
	if !ok || place.Exists == "absent" || len(place.Shards) == 0 {
		return Proof{State: ProofSkipped}
	}
	table := p.tables.Table()
	out = Proof{State: ProofFailed, Ours: place.Shards}
	defer func() {
		out.Seq, out.Read, out.At = table.Seq, table.Health[topology.PartRouting].At, time.Now()
	}()
	if out.Theirs, out.Err = p.targets(ctx, place.NS, filter); out.Err != nil {
		return out
	}
	if slices.Equal(out.Ours, out.Theirs) {
		out.State = ProofAgrees
		return out
	}
	out.State, out.Reread = ProofDiffers, true
	if out.Err = p.tables.Refresh(ctx); out.Err != nil {
		return out
	}
	table = p.tables.Table()
	was := out.Ours
	now := place.again(table)
	if out.Ours = now.Shards; !slices.Equal(now.Shards, was) {
		out.Moved, out.Table = &now, table
	}
	if out.Theirs, out.Err = p.targets(ctx, place.NS, filter); out.Err != nil {
		out.State = ProofFailed
		return out
	}
	// What was just read from the config servers by majority is the truth; the
	// mongos learns of a move when it meets the shard that gave the chunk away.
	out.Newer = SideTable
	if !slices.Equal(out.Ours, out.Theirs) {
		return out
	}
	out.State = ProofCaughtUp
	if !slices.Equal(out.Ours, was) {
		out.Newer = SideRouter
	}
	return out
}

func (p *Prover) targets(ctx context.Context, ns topology.Namespace, filter bson.D) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, proveWait)
	defer cancel()
	return p.cluster.TargetShards(ctx, ns, filter)
}

// Count is how many rows a place has: one query to the shards of the place,
// bounded in time. It is unknown where only a broadcast could tell.
func (p *Prover) Count(ctx context.Context, place Place) topology.Figure {
	filter, ok := filterOf(place.Match)
	switch {
	case !ok || len(filter) == 0 || place.Exists == "absent":
		return topology.Figure{Reason: "notCountable"}
	case place.Sharded && !place.targeted():
		return topology.Figure{Reason: "notTargeted"}
	}
	ctx, cancel := context.WithTimeout(ctx, countWait)
	defer cancel()
	n, err := p.cluster.Count(ctx, place.NS, filter)
	switch {
	case err == nil:
		return topology.Figure{Known: true, Value: n, Exact: true, Method: "count", At: time.Now()}
	case fault.Of(err) == fault.Forbidden:
		return topology.Figure{Reason: "notPermitted"}
	case ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded):
		return topology.Figure{Reason: "tooSlow"}
	}
	return topology.Figure{Reason: "unreachable"}
}

// Primaries are the primary members by shard, as far as the mongos tells; nil
// when it does not.
func (p *Prover) Primaries(ctx context.Context) map[string]string {
	ctx, cancel := context.WithTimeout(ctx, countWait)
	defer cancel()
	sets, err := p.cluster.Primaries(ctx)
	if err != nil {
		return nil // shown as not known: nothing else depends on it
	}
	out := map[string]string{}
	for _, s := range p.tables.Table().Shards {
		if host := sets[s.ReplSet]; host != "" {
			out[s.Name] = host
		}
	}
	return out
}

// targeted tells whether the leading field of the shard key is known.
func (p Place) targeted() bool {
	fields := p.Pattern.Fields()
	return len(fields) > 0 && slices.ContainsFunc(p.Match, func(m Equal) bool { return m.Field == fields[0].Name })
}

// again is the place by another table.
func (p Place) again(t *topology.Table) Place {
	next := Place{NS: p.NS, What: p.What, Exists: p.Exists, Match: p.Match}
	c := t.Collection(p.NS)
	if c == nil || c.Unsplittable {
		next.atHome(t)
		return next
	}
	var values []bson.RawValue
	for _, f := range c.Key.Fields() {
		i := slices.IndexFunc(p.Match, func(m Equal) bool { return m.Field == f.Name })
		if i < 0 {
			break
		}
		values = append(values, p.Match[i].Value)
	}
	if err := next.inChunks(t, c, values); err != nil {
		next.Shards = nil // the key is another one by now and does not take these values
	}
	return next
}

// match is what is known of a row, in the order of names.
func (f fields) match() []Equal {
	var out []Equal
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if name != "" {
			out = append(out, Equal{Field: name, Value: f[name]})
		}
	}
	return out
}

// matchKey is what values of the leading key fields tell of a row.
func matchKey(p shardkey.Pattern, values []bson.RawValue) []Equal {
	out := make([]Equal, len(values))
	for i, v := range values {
		out[i] = Equal{Field: p.Fields()[i].Name, Value: v}
	}
	return out
}

// filterOf matches values as they are: every one stands under $eq, and of
// types that could hold an operator or a pattern none is sent at all.
func filterOf(match []Equal) (bson.D, bool) {
	filter := bson.D{}
	for _, m := range match {
		switch m.Value.Type {
		case bson.TypeEmbeddedDocument,
			bson.TypeArray,
			bson.TypeRegex,
			bson.TypeJavaScript,
			bson.TypeCodeWithScope,
			bson.TypeDBPointer,
			bson.TypeUndefined,
			0:
			return nil, false
		}
		filter = append(filter, bson.E{Key: m.Field, Value: bson.D{{Key: "$eq", Value: m.Value}}})
	}
	return filter, true
}
