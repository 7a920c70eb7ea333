package cluster

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// A mongod has collections of the same names in its own config database: reads from it
// would show a cluster without shards.
func TestNothingIsReadFromAMongod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mongos atomic.Bool
		var reads atomic.Int32
		s := &stub{answer: func(_ string, cmd bson.Raw) bson.D {
			switch {
			case isHello(cmd) && mongos.Load():
				return hello(bson.E{Key: "msg", Value: "isdbgrid"})
			case isHello(cmd):
				return hello()
			}
			reads.Add(1)
			return firstBatch()
		}}
		u, err := ParseURI("mongodb://h:1/")
		must.Do(t, err)
		c, err := Open(u, Options{Dialer: s})
		must.Do(t, err)
		defer c.Close(t.Context()) //nolint:errcheck // the test is over
		for range 20 {
			if _, err := c.Shards(t.Context()); fault.Of(err) != fault.Invalid || !strings.Contains(fault.Text(err), "is a mongod (standalone)") {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		expect.Equal(t, reads.Load(), 0, "reads")
		mongos.Store(true)
		time.Sleep(30 * time.Second)
		if _, err := c.Shards(t.Context()); err != nil {
			t.Errorf("a mongos came up: %v", err)
		}
	})
}
