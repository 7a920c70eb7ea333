package app

import (
	"testing"

	"shardboard/internal/cluster"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

func TestStoreInAnObservedClusterIsRecognised(t *testing.T) {
	for _, c := range []struct {
		store, cluster string
		same           bool
	}{
		{"a:27017,b:27017", "mongodb://c:27017,b:27017/", true},
		{"DB1", "mongodb://db1:27017/", true}, // the port that the driver takes
		{"db1:27018", "mongodb://db1/", false},
		{"[::1]", "mongodb://[::1]:27017/", true},
		{"a", "mongodb://ab/", false},
	} {
		uri := must.Get(cluster.ParseURI(c.cluster))
		expect.Equal(t, sharesHost(c.store, uri), c.same, "%s and %s", c.store, c.cluster)
	}
}
