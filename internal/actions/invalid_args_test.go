package actions

import (
	"math"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/profile"
	"shardboard/internal/shardkey"
)

func TestInvalidArgumentsAreRefusedByName(t *testing.T) {
	s := cluster(t, "0.6.38", "5.0.7", zone(t, "eu", "a", documents, from(t, 20), from(t, 30)))
	whole := chunkAt(t, s, documents, 1)
	half := [2]bson.Raw{whole[0], doc(t, project(33))}
	ref := func(s string) Args { return Args{NS: documents, Chunk: s, To: "c"} }
	ofShop := s
	words := *s.Profile
	words.Tenants = profile.Called{One: "Tenant", Many: "Tenants"}
	ofShop.Profile = &words
	for _, x := range []struct {
		name string
		kind Kind
		args Args
		want fault.Kind
		says string
	}{
		{"split-hot without a chunk", SplitHot, Args{NS: documents}, fault.Invalid, `"chunk"`},
		{"no key and no chunk", Split, Args{NS: documents}, fault.Invalid, `"at"`},
		{"no namespace", Split, Args{At: doc(t, project(30))}, fault.Invalid, `"ns"`},
		{"unknown collection", Split, Args{NS: "a.b", At: doc(t, project(30))}, fault.NotFound, `"ns"`},
		{"unsharded collection", Split, Args{NS: db + ".users", At: doc(t, project(30))}, fault.Invalid, "not sharded"},
		{"key of a bound", Split, Args{NS: documents, At: doc(t, project(20))}, fault.Invalid, `"at"`},
		{"end of the key space", Split, Args{NS: documents, At: doc(t, bson.D{{Key: "project_id", Value: bson.MaxKey{}}})},
			fault.Invalid, `"at"`},
		{"key of another type", Split, Args{NS: documents, At: doc(t, bson.D{{Key: "project_id", Value: "x"}})}, fault.Invalid, `"at"`},
		{"key of another field", Split, Args{NS: documents, At: doc(t, bson.D{{Key: "p", Value: oid(1)}})}, fault.Invalid, `"at"`},
		{"part of a key", Split, Args{NS: clients, At: doc(t, project(30))}, fault.Invalid, `"at"`},
		{"hash of another type", Split, Args{NS: changes, At: doc(t, bson.D{{Key: "doc_id", Value: oid(1)}})}, fault.Invalid, `"at"`},
		{"one part", Split, Args{NS: documents, Bounds: whole, Parts: 1}, fault.Invalid, `"parts"`},
		{"too many parts", Split, Args{NS: documents, Bounds: whole, Parts: 65}, fault.Invalid, `"parts"`},
		{"at and parts", Split, Args{NS: documents, At: doc(t, project(30)), Parts: 2}, fault.Invalid, `"parts"`},
		{"at outside of the chunk", Split, Args{NS: documents, At: doc(t, project(50)), Bounds: whole}, fault.Invalid, `"at"`},
		{"foreign argument", Split, Args{NS: documents, At: doc(t, project(30)), To: "c"}, fault.Invalid, `"to"`},
		{"bounds that are no chunk", MoveChunk, Args{NS: documents, Bounds: half, To: "c"}, fault.NotFound, `"bounds"`},
		{"bounds of a chunk that was split", SplitHot, Args{NS: documents, Bounds: [2]bson.Raw{whole[0], doc(t, bson.D{{Key: "project_id",
			Value: bson.MaxKey{}}})}}, fault.Conflict, "was split and is 2 chunks now"},
		{"one bound", MoveChunk, Args{NS: documents, Bounds: [2]bson.Raw{whole[0]}, To: "c"}, fault.Invalid, `"bounds"`},
		{"bounds in the wrong order", MoveChunk, Args{NS: documents, Bounds: [2]bson.Raw{whole[1], whole[0]}, To: "c"}, fault.Invalid,
			`"bounds"`},
		{"no chunk", MoveChunk, Args{NS: documents, To: "c"}, fault.Invalid, `"chunk"`},
		{"no reference", MoveChunk, ref("??"), fault.Invalid, `"chunk"`},
		{"unknown chunk", MoveChunk, ref(encoded(doc(t, project(33)))), fault.NotFound, `"chunk"`},
		{"chunk of another collection", MoveChunk, ref("00000000-0000-0000-0000-000000000001." + encoded(whole[0])), fault.NotFound, `"chunk"`},
		{"unknown shard", MoveChunk, Args{NS: documents, Bounds: whole, To: "z"}, fault.NotFound, `"to"`},
		{"no shard", MoveChunk, Args{NS: documents, Bounds: whole}, fault.Invalid, `"to"`},
		{"part outside of the chunk", MoveChunk, Args{NS: documents, Bounds: whole, To: "c", Min: doc(t, project(10))}, fault.Invalid, `"min"`},
		{"merge of one chunk", Merge, Args{NS: documents, Bounds: whole}, fault.Invalid, `"bounds"`},
		{"merge of no chunks", Merge, Args{NS: documents, Bounds: half}, fault.NotFound, `"bounds"`},
		{"no project", Pin, Args{Shard: "a"}, fault.Invalid, `"project"`},
		{"unknown project", Pin, Args{Shard: "a", Project: "nobody"}, fault.NotFound, `"project"`},
		{"project of another database", Pin, Args{Shard: "a", Project: "beta", DB: "x"}, fault.NotFound, `"project"`},
		{"unknown mode", Pin, Args{Shard: "a", Project: "beta", Mode: "magic"}, fault.Invalid, `"mode"`},
		{"two shards", Pin, Args{Shard: "a", To: "b", Project: "beta"}, fault.Invalid, `"shard"`},
		{"expires before it is made", Pin, Args{Shard: "a", Project: "beta", Expires: 15*time.Minute - 1}, fault.Invalid, `"expires"`},
		{"expired", Pin, Args{Shard: "a", Project: "beta", Expires: -time.Second}, fault.Invalid, `"expires"`},
		{"collection without the project", SplitProject, Args{Project: "beta", NS: changes}, fault.Invalid, `"ns"`},
		{"spread by the balancer", Spread, Args{Project: "beta", Mode: "balancer"}, fault.Invalid, `"mode"`},
		{"no zone", ZoneAddShard, Args{Shard: "a"}, fault.Invalid, `"zone"`},
		{"zone of an unknown shard", ZoneAddShard, Args{Shard: "z", Zone: "eu"}, fault.NotFound, `"shard"`},
		{"empty range", ZoneSetRange, Args{NS: documents, Zone: "eu", Min: doc(t, project(30)), Max: doc(t, project(30))}, fault.Invalid,
			`"max"`},
		{"range of another type", ZoneSetRange,
			Args{NS: documents, Zone: "eu", Min: doc(t, bson.D{{Key: "project_id", Value: int32(1)}}),
				Max: doc(t, bson.D{{Key: "project_id", Value: int32(2)}})}, fault.Invalid, `"min"`},
		{"range up to NaN", ZoneSetRange,
			Args{NS: documents, Zone: "eu", Min: doc(t, project(20)), Max: doc(t, bson.D{{Key: "project_id", Value: math.NaN()}})},
			fault.Invalid, `"max"`},
		{"first field of another type", ZoneSetRange,
			Args{NS: clients, Zone: "eu", Min: doc(t, bson.D{{Key: "project_id", Value: "x"}}), Max: doc(t, project(30))}, fault.Invalid, `"min"`},
		{"no such range", ZoneRemoveRange, Args{NS: documents, Min: doc(t, project(20)), Max: doc(t, project(31))}, fault.NotFound, `"min"`},
		{"range of another zone", ZoneRemoveRange, Args{NS: documents, Zone: "us", Min: doc(t, project(20)), Max: doc(t, project(30))},
			fault.NotFound, `"zone"`},
		{"argument where none is taken", BalancerOn, Args{NS: documents}, fault.Invalid, "takes none"},
		{"half a window", BalancerWindow, Args{Start: "10:00"}, fault.Invalid, `"stop"`},
		{"no time of day", BalancerWindow, Args{Start: "25:00", Stop: "26:00"}, fault.Invalid, `"start"`},
		{"windows by day before 8.3", BalancerWindow, Args{Days: "Monday 1:00-2:00"}, fault.Invalid, `8.3`},
		{"no window by day", BalancerWindow, Args{Days: "Mon 1:00-2:00"}, fault.Invalid, `"days"`},
		{"window of no length", BalancerWindow, Args{Start: "10:00", Stop: "10:00"}, fault.Invalid, `"stop"`},
		{"no setting", BalanceCollection, Args{NS: documents}, fault.Invalid, `"on"`},
	} {
		t.Run(x.name, func(t *testing.T) {
			_, _, err := Planners()[x.kind](s, x.args)
			if fault.Of(err) != x.want || err == nil || !strings.Contains(fault.Text(err), x.says) {
				t.Errorf("%v (%s), want %s with %s", err, fault.Of(err), x.want, x.says)
			}
			_, _, err = Planners()[x.kind](ofShop, x.args)
			said := strings.ReplaceAll(fault.Text(err), `"project"`, "the argument")
			if ofShop.Profile.Words(said) != said {
				t.Errorf("a shop is told of projects: %v", err)
			}
		})
	}
}

// An existing range may have bounds of any type. It can be removed, though no plan could
// set it.
func TestExistingRangeOfWrongTypeCanBeRemoved(t *testing.T) {
	odd := func(n int32) func(shardkey.Pattern) shardkey.Key {
		return func(p shardkey.Pattern) shardkey.Key { return keyOf(t, p, n) }
	}
	s := cluster(t, "0.6.38", "5.0.7", zone(t, "eu", "a", documents, odd(1), odd(2)))
	z := s.Table.Zones[0]
	d, _ := plan(t, s, ZoneRemoveRange, Args{NS: documents, Min: z.RawMin, Max: z.RawMax})
	if d.Blocked() || len(d.Steps) != 1 || !d.Undo.Possible || d.Undo.Kind != "" {
		t.Errorf("blocked %v, %d steps, undo %+v", d.Blocked(), len(d.Steps), d.Undo)
	}
	whole := Args{NS: documents, Zone: "us", Min: doc(t, bson.D{{Key: "project_id", Value: bson.MinKey{}}}), Max: doc(t, project(30))}
	if _, _, err := Planners()[ZoneSetRange](s, whole); err != nil {
		t.Errorf("MinKey is an end of every range: %v", err)
	}
}
