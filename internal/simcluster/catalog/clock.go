package catalog

import (
	"encoding/binary"
	"sync"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/value"
)

// clock is the cluster's time. It starts at epoch, independent of the wall clock, so
// that a demonstration can use any date. It has its own lock because readers need
// cluster times too.
type clock struct {
	epoch time.Time
	begun time.Time
	ahead atomic.Int64 // nanoseconds that AdvanceTo added

	mu   sync.Mutex
	last bson.Timestamp
}

// Now is the cluster's time: epoch plus the time since New, plus what AdvanceTo added.
// Safe without Mu.
func (c *Cluster) Now() time.Time {
	return c.clock.epoch.Add(time.Since(c.clock.begun) + time.Duration(c.clock.ahead.Load()))
}

// AdvanceTo sets the cluster's time forward, as if it had waited: due orphans are
// deleted, and the router has reported. A time that has passed changes nothing.
// Migrations must not run. Call it from one goroutine only; the caller does not hold Mu.
func (c *Cluster) AdvanceTo(t time.Time) {
	if d := t.Sub(c.Now()); d > 0 {
		c.clock.ahead.Add(int64(d))
	}
	c.Mu.Lock()
	defer c.Mu.Unlock()
	c.PingRouter()
	c.CleanOrphans()
}

// Timestamp returns a new cluster time, greater than all earlier ones. Safe without Mu.
func (c *Cluster) Timestamp() bson.Timestamp {
	now := uint32(c.Now().Unix())
	c.clock.mu.Lock()
	defer c.clock.mu.Unlock()
	if now > c.clock.last.T {
		c.clock.last = bson.Timestamp{T: now, I: 1}
	} else {
		c.clock.last.I++
	}
	return c.clock.last
}

// LastTimestamp is the newest cluster time handed out. Safe without Mu.
func (c *Cluster) LastTimestamp() bson.Timestamp {
	c.clock.mu.Lock()
	defer c.clock.mu.Unlock()
	return c.clock.last
}

// objectID makes an id on the named server. The caller holds Mu.
func (c *Cluster) objectID(server string) bson.ObjectID {
	s := c.ids[server]
	if s == nil {
		s = value.NewIDs(c.rng, 0x3fffff)
		c.ids[server] = s
	}
	return s.At(c.Now())
}

// UUID makes a random (version 4) uuid from the cluster's own source. The caller holds Mu.
func (c *Cluster) UUID() [16]byte {
	var u [16]byte
	binary.LittleEndian.PutUint64(u[:8], c.rng.Uint64())
	binary.LittleEndian.PutUint64(u[8:], c.rng.Uint64())
	u[6] = u[6]&0x0f | 0x40
	u[8] = u[8]&0x3f | 0x80
	return u
}

func uuidValue(u [16]byte) bson.Binary { return value.UUID(u) }
