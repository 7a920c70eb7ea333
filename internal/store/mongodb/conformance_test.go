package mongodb

import (
	"testing"

	"shardboard/internal/store"
	"shardboard/internal/store/storetest"
)

func TestMongoDBConformsToStore(t *testing.T) {
	c := server(t)
	storetest.Run(t, func(t *testing.T) store.Store { return open(t, c, database(t)) })
}

func TestReplicasShareTheirData(t *testing.T) {
	c := server(t)
	storetest.RunInPlace(t, func(t *testing.T) storetest.Place {
		at := database(t)
		return storetest.Place{Open: func(t *testing.T) store.Store { return open(t, c, at) }}
	})
}
