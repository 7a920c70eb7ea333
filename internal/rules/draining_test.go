package rules

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/topology"
)

// emptied gives the chunks of a shard of every collection to another shard.
func emptied(shard string) change {
	return func(s *Situation) {
		for _, c := range append([]*topology.Collection(nil), s.Table.Collections...) {
			if c.Chunks.CountByShard()[shard] > 0 {
				addCollection(s, string(c.NS), c.Key.String(), "aca")
			}
		}
	}
}

// tracked is an unsharded collection that the routing table of 8.0 has, on one shard; a capital letter flags its
// chunk jumbo.
func tracked(ns, shard string) change {
	return func(s *Situation) {
		s.Table.ServerInfo.Version = "8.0.4"
		addCollection(s, ns, "{_id: 1}", shard)
		s.Table.Collection(topology.Namespace(ns)).Unsplittable = true
	}
}

// movedAway is a move from a shard that the changelog shows.
func movedAway(shard string) change {
	return func(s *Situation) {
		raw, err := bson.Marshal(bson.D{{Key: "from", Value: shard}})
		if err != nil {
			panic(err)
		}
		s.Table.Events = append(s.Table.Events, topology.Event{Time: s.Now, What: "moveChunk.commit", Details: raw})
	}
}

// Whatever is left on a draining shard, the rules and the remains say the same: it is stuck exactly when things are
// left that only a person moves, it can be removed exactly when nothing is.
func TestRulesJudgeADrainingShardByItsRemains(t *testing.T) {
	for _, chunks := range []bool{false, true} {
		for _, unsharded := range []int{0, 1, 4} {
			for _, databases := range []int{0, 2, 5} {
				changes := []change{drainShard("b"), emptied("b"), movedAway("b")}
				if chunks {
					changes = append(changes, withCollection("y.documents", "{project_id: 1}", "abc"))
				}
				for i := range unsharded {
					changes = append(changes, tracked("y.plain"+string(rune('a'+i)), "b"))
				}
				s := healthy(changes...)
				for i := range databases {
					s.Table.Databases = append(s.Table.Databases, topology.Database{Name: "x" + string(rune('a'+i)), Primary: "b"})
				}
				left := s.Table.RemainsOn("b")
				found := map[Rule]Problem{}
				for _, p := range Evaluate(s).Items {
					found[p.Rule] = p
				}
				_, stuck := found[DrainingStuck]
				_, going := found[Draining]
				if stuck != left.NeedsSomebody() || going == stuck || left.Empty() != (found[Draining].Text.Code == "draining.empty") {
					t.Errorf("%+v: stuck %t, going on %t (%s)", left, stuck, going, found[Draining].Text.Code)
				}
			}
		}
	}
}
