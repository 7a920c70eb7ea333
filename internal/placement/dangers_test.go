package placement

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/topology"
)

func TestMoveThatJoinsDuplicateIDsIsDangerous(t *testing.T) {
	tab := testTable() // documents: projects below 5 on a, the others on b
	documents := tab.Collection(db + ".documents")
	id := bson.ObjectID{7}
	found := []SharedID{{
		IDPlace: IDPlace{NS: documents.NS, ID: id},
		Rows:    []SharedRow{{Shard: "a", Project: oid(2)}, {Shard: "b", Project: oid(6)}},
	}}
	for i, to := range []string{"b", "a"} {
		got := Dangers(documents, i, found)
		if len(got) != 1 || got[0].Shard != to || len(got[0].IDs) != 1 || got[0].IDs[0] != id.Hex() {
			t.Errorf("chunk %d: %+v, want a warning of %s", i, got, to)
		}
	}
	clients := tab.Collection(db + ".clients")
	if got := Dangers(clients, 0, found); got != nil {
		t.Errorf("a duplicate in documents gives a warning for clients: %+v, want nil", got)
	}
	found = []SharedID{{
		IDPlace: IDPlace{NS: clients.NS, ID: id}, // of projects 1 and 9; project 5 has no such row
		Rows:    []SharedRow{{Shard: "a", Project: oid(1)}, {Shard: "c", Project: oid(9)}},
	}}
	if got := Dangers(clients, 0, found); len(got) != 1 || got[0].Shard != "c" {
		t.Errorf(`the chunk with project 1: %+v, want len 1, [0].Shard "c"`, got)
	}
	if got := Dangers(&topology.Collection{Meta: documents.Meta, Chunks: documents.Chunks}, 0, nil); got != nil {
		t.Errorf("a warning without any duplicate: %+v", got)
	}
}
