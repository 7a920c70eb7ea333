package placement

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/topology"
)

func TestOwnerOfAHashedKeyDoesNotAllocate(t *testing.T) {
	c := testTable(t).Collection(db + ".changes")
	id := oid(7)
	_, text, err := bson.MarshalValue("a document's key")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []bson.RawValue{{Type: bson.TypeObjectID, Value: id[:]}, {Type: bson.TypeString, Value: text}, {Type: bson.TypeNull}} {
		if n := testing.AllocsPerRun(100, func() {
			if _, err := Owner(c, v); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations, want 0", v, n)
		}
	}
}

func TestOwnerIsTheShardOfTheKeysChunk(t *testing.T) {
	tab := testTable(t)
	for _, c := range tab.Collections {
		for n := range byte(12) {
			values := make([]bson.RawValue, c.Key.Len())
			for i := range values {
				values[i] = ObjectIDValue(oid(n))
			}
			p := Place{NS: c.NS}
			if err := p.inChunks(tab, c, values); err != nil {
				t.Fatal(err)
			}
			if got, err := Owner(c, values...); err != nil || len(p.Shards) != 1 || got != p.Shards[0] {
				t.Errorf("%s %d: %s, %v; placed on %v", c.NS, n, got, err, p.Shards)
			}
		}
	}
}

func TestOwnerRefusesInvalidKeys(t *testing.T) {
	tab := testTable(t)
	changes, clients := tab.Collection(db+".changes"), tab.Collection(db+".clients")
	array := bson.RawValue{Type: bson.TypeArray, Value: []byte{5, 0, 0, 0, 0}}
	for name, ask := range map[string]func() (string, error){
		"an array":        func() (string, error) { return Owner(changes, array) },
		"torn bytes":      func() (string, error) { return Owner(changes, bson.RawValue{Type: bson.TypeString, Value: []byte{1}}) },
		"no value":        func() (string, error) { return Owner(changes) },
		"two for one":     func() (string, error) { return Owner(changes, array, array) },
		"half of the key": func() (string, error) { return Owner(clients, ObjectIDValue(oid(1))) },
	} {
		if shard, err := ask(); fault.Of(err) != fault.Invalid {
			t.Errorf("%s: %s, %v, want kind %v", name, shard, err, fault.Invalid)
		}
	}
	if _, err := Owner(&topology.Collection{Meta: topology.Meta{NS: "db.new"}}, array); fault.Of(err) != fault.Unavailable {
		t.Errorf("without chunks: %v", err)
	}
}
