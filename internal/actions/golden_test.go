package actions

import (
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fixture/must"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

var update = flag.Bool("update", false, "rewrite the golden plans and the tables of the documentation")

// testdata/plans has one plan of each kind, for people to read. laws_test.go tests what
// plans do.
func TestPlansMatchGoldenFiles(t *testing.T) {
	at := func(d any) bson.Raw { return doc(d) }
	pinned := pinnedBeta(t, "b")
	for _, x := range []struct {
		kind   Kind
		change []func(*Situation)
		args   func(Situation) Args
	}{
		{Split, nil, fixed(Args{NS: documents, At: at(project(30))})},
		{SplitProject, nil, fixed(Args{Project: "gamma"})},
		{SplitHot, []func(*Situation){withWrites(t, documents, nil, rows{10: 5, 15: 10, 20: 40, 25: 30, 30: 30, 35: 10}),
			withShardWrites(30, 10, 2)}, func(s Situation) Args {
			return Args{NS: documents, Chunks: []string{encoded(chunkAt(t, s, documents, 1)[0]), encoded(chunkAt(t, s, documents, 0)[0])}}
		}},
		{Merge, []func(*Situation){withOwners(t, documents, "bbc")}, func(s Situation) Args {
			return Args{NS: documents, Bounds: [2]bson.Raw{chunkAt(t, s, documents, 0)[0], chunkAt(t, s, documents, 1)[1]}}
		}},
		{MoveChunk, nil, ofChunk(t, 1, "c")},
		{Pin, nil, fixed(Args{Project: "beta", Shard: "c", Owner: "ops", Expires: 1e18})},
		{Isolate, []func(*Situation){balancing}, fixed(Args{Project: "beta", Shard: "c", Mode: ModeBalancer})},
		{Unpin, []func(*Situation){pinned}, fixed(Args{Project: "beta"})},
		{Spread, nil, fixed(Args{Project: "beta"})},
		{ZoneAddShard, nil, fixed(Args{Shard: "a", Zone: "eu"})},
		{ZoneRemoveShard, []func(*Situation){zone(t, "eu", "ab", documents, from(t, 20), from(t, 30))},
			fixed(Args{Shard: "a", Zone: "eu"})},
		{ZoneSetRange, []func(*Situation){zone(t, "eu", "a", documents, from(t, 20), from(t, 30))}, rangeArgs("eu", 20, 35)},
		{ZoneRemoveRange, []func(*Situation){zone(t, "eu", "a", documents, from(t, 20), from(t, 30))},
			fixed(Args{NS: documents, Min: at(project(20)), Max: at(project(30))})},
		{BalancerOn, nil, fixed(Args{})},
		{BalancerOff, []func(*Situation){balancing}, fixed(Args{})},
		{BalancerWindow, nil, fixed(Args{Start: "22:00", Stop: "04:30"})},
		{BalanceCollection, nil, fixed(Args{NS: documents, On: yes(false)})},
		{AllowMigrations, nil, fixed(Args{NS: documents, On: yes(false)})},
		{ClearJumbo, []func(*Situation){withOwners(t, documents, "aBc")}, ofChunk(t, 1, "")},
		{RefineKey, []func(*Situation){zone(t, "eu", "a", documents, from(t, 20), from(t, 30))},
			fixed(Args{NS: documents, Key: refined})},
		{ReshardKind, []func(*Situation){activity(operation.Activity{}), withIndexes(yorkieIndexes()...), withZoneRange(t)},
			func(Situation) Args {
				a := zoned(t, "eu", oid(10), oid(20))
				a.InitialChunks = 12
				return a
			}},
		{ReshardCommit, []func(*Situation){activity(running(documents, "cloning"))}, fixed(Args{NS: documents})},
		{ReshardAbort, []func(*Situation){activity(running(documents, "cloning"))}, fixed(Args{NS: documents})},
		{MovePrimary, []func(*Situation){versioned}, fixed(Args{DB: db, To: "b"})},
		{MoveCollection, []func(*Situation){version("8.0.4"), versioned, activity(operation.Activity{})},
			fixed(Args{NS: db + ".users", To: "b"})},
		{MoveCollectionAbort, []func(*Situation){version("8.0.4"), versioned, activity(operation.Activity{Reshardings: []operation.Resharding{
			{ID: "0a", NS: db + ".users", Command: "moveCollection", State: "cloning"}}})},
			fixed(Args{NS: db + ".users"})},
		{Unshard, []func(*Situation){version("8.0.4"), activity(operation.Activity{})}, fixed(Args{NS: documents, To: "b"})},
		{UnshardAbort, []func(*Situation){version("8.0.4"), activity(operation.Activity{Reshardings: []operation.Resharding{
			{ID: "0a", NS: documents, Command: "unshardCollection", State: "cloning"}}})},
			fixed(Args{NS: documents})},
		{DrainShard, []func(*Situation){balancing}, fixed(Args{Shard: "c"})},
	} {
		s := cluster(t, "0.6.38", "5.0.7", x.change...)
		d, _ := plan(t, s, x.kind, x.args(s))
		got := must.Get(json.MarshalIndent(asJSON(d), "", "  "))
		got = append(got, '\n')
		name := filepath.Join("testdata", "plans", string(x.kind)+".json")
		if *update {
			must.Do(t, os.WriteFile(name, got, 0o644))
			continue
		}
		if want, err := os.ReadFile(name); err != nil || string(want) != string(got) {
			t.Errorf("%s differs (%v); run with -update and look at what changed", name, err)
		}
	}
}

func asJSON(d Draft) any {
	type object = map[string]any
	key := func(r bson.Raw) any {
		if r == nil {
			return nil
		}
		return json.RawMessage(r.String())
	}
	fact := func(f operation.Fact) object {
		return withoutZeros(object{"kind": f.Kind, "ns": f.NS, "min": key(f.Min), "max": key(f.Max), "shard": f.Shard,
			"zone": f.Zone, "want": f.Want})
	}
	zones := func(all []operation.KeyZone) (out []object) {
		for _, z := range all {
			out = append(out, object{"zone": z.Zone, "min": key(z.Min), "max": key(z.Max)})
		}
		return out
	}
	reshard := func(r *operation.Reshard) any {
		if r == nil {
			return nil
		}
		return object{"key": key(r.Key), "zones": zones(r.Zones), "chunks": r.Chunks, "wasKey": key(r.WasKey), "wasZones": zones(r.WasZones)}
	}
	facts := func(all []operation.Fact) (out []object) {
		for _, f := range all {
			out = append(out, fact(f))
		}
		return out
	}
	figure := func(f topology.Figure) any {
		if !f.Known {
			return f.Reason
		}
		return withoutZeros(object{"value": f.Value, "exact": f.Exact, "plusMinus": f.PlusMinus, "method": f.Method})
	}
	said := func(s message.Message) string {
		text := s.Code
		for _, name := range slices.Sorted(maps.Keys(s.Args())) {
			text += " " + name + "=" + s.Args()[name]
		}
		return text
	}
	out := object{"summary": said(d.Summary), "risk": d.Risk, "role": d.Role, "confirm": d.Confirm, "undo": object{
		"possible": d.Undo.Possible, "text": said(d.Undo.Text), "kind": d.Undo.Kind, "from": d.Undo.From}}
	var steps, checks, moves, shards []object
	for _, s := range d.Steps {
		steps = append(
			steps,
			withoutZeros(object{"op": s.Op, "ns": s.NS, "db": s.DB, "reshard": reshard(s.Reshard),
				"at": key(s.At), "min": key(s.Min), "max": key(s.Max), "shard": s.Shard, "zone": s.Zone,
				"start": s.Start, "stop": s.Stop, "wait": s.Wait, "needs": facts(s.Needs), "proof": facts(s.Proof)}),
		)
	}
	for _, c := range d.Checks {
		checks = append(checks, object{"id": c.ID, "verdict": c.Verdict, "text": said(c.Text), "source": said(c.Source)})
	}
	for _, m := range d.Effect.Moves {
		moves = append(moves, object{"ns": m.NS, "min": key(m.Min), "max": key(m.Max), "from": m.From, "to": m.To, "bytes": figure(m.Bytes)})
	}
	for _, s := range d.Effect.Shards {
		shards = append(shards, object{"shard": s.Shard, "chunks": []int64{s.ChunksBefore, s.ChunksAfter},
			"bytes": []any{figure(s.BytesBefore), figure(s.BytesAfter)}})
	}
	var stays []string
	for _, s := range d.Effect.Stays {
		stays = append(stays, said(s))
	}
	out["steps"], out["checks"] = steps, checks
	var writes []object
	for _, w := range d.Effect.Writes {
		writes = append(writes, object{"shard": w.Shard, "perSecond": []float64{w.Before, w.After}})
	}
	out["effect"] = object{"chunks": figure(d.Effect.Chunks), "documents": figure(d.Effect.Documents), "bytes": figure(d.Effect.Bytes),
		"duration": figure(d.Effect.Duration), "moves": moves, "shards": shards, "stays": stays}
	if writes != nil {
		out["writes"] = writes
	}
	return out
}

// withoutZeros removes empty values.
func withoutZeros(o map[string]any) map[string]any {
	for k, v := range o {
		switch v := v.(type) {
		case nil:
			delete(o, k)
		case string:
			if v == "" {
				delete(o, k)
			}
		case topology.Namespace:
			if v == "" {
				delete(o, k)
			}
		case bool:
			if !v {
				delete(o, k)
			}
		case int64:
			if v == 0 && k == "plusMinus" {
				delete(o, k)
			}
		}
	}
	return o
}
