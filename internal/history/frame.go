package history

import (
	"encoding/json"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/natural"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// frame is everything in a table except chunks, sizes and events: small, rarely changed, and stored
// as a whole after each change.
type frame struct {
	Server      topology.ServerInfo
	Shards      []topology.Shard
	Databases   []topology.Database
	Collections []meta
	Unsharded   []topology.Namespace
	Zones       []zone
	Balancer    topology.Balancer
	AllSettings bool `json:",omitempty"` // Balancer has every setting, not only its first ones
}

// meta is topology.Meta with the shard key as its original document.
type meta struct {
	NS                         topology.Namespace
	UUID                       [16]byte
	Epoch                      bson.ObjectID
	T, I                       uint32
	Key                        []byte
	Unique, NoBalance, Blocked bool
	Unsplittable, Resharding   bool
	Temporary, LegacyChunks    bool
	MaxChunkBytes              int64
	Series                     topology.Series  `json:",omitzero"`
	Upkeep                     *topology.Upkeep // nil: stored before it was read
}

type zone struct {
	NS             topology.Namespace
	Zone           string
	Min, MinBits   []byte
	Max, MaxBits   []byte
	RawMin, RawMax []byte
}

// encodeFrame omits the balancer's counters, which change all the time.
func encodeFrame(t *topology.Table) ([]byte, error) {
	f := frame{Server: t.ServerInfo, Shards: t.Shards, Databases: t.Databases, Unsharded: t.Unsharded, Balancer: t.Balancer,
		AllSettings: !t.Balancer.Unrecorded}
	f.Balancer.InRound, f.Balancer.Rounds = false, 0
	for _, c := range t.Collections {
		f.Collections = append(f.Collections, metaOf(c.Meta))
	}
	for _, z := range t.Zones {
		f.Zones = append(f.Zones, zone{NS: z.NS, Zone: z.Zone, RawMin: z.RawMin, RawMax: z.RawMax,
			Min: []byte(z.Min.Encoded()), MinBits: []byte(z.Min.Bits()), Max: []byte(z.Max.Encoded()), MaxBits: []byte(z.Max.Bits())})
	}
	b, err := json.Marshal(f)
	if err != nil {
		return nil, fmt.Errorf("encode frame: %w", err)
	}
	return b, nil
}

func metaOf(m topology.Meta) meta {
	return meta{NS: m.NS, UUID: m.Incarnation.UUID, Epoch: m.Incarnation.Epoch, T: m.Incarnation.Timestamp.T, I: m.Incarnation.Timestamp.I,
		Key: m.Key.Raw(), Unique: m.Unique, NoBalance: m.NoBalance, Blocked: m.MigrationsBlocked, Unsplittable: m.Unsplittable,
		Resharding: m.Resharding, Temporary: m.Temporary, LegacyChunks: m.LegacyChunks, MaxChunkBytes: m.MaxChunkBytes,
		Series: m.Series, Upkeep: &m.Upkeep}
}

func (m meta) topology() (topology.Meta, error) {
	out := topology.Meta{NS: m.NS, Unique: m.Unique, NoBalance: m.NoBalance, MigrationsBlocked: m.Blocked, Unsplittable: m.Unsplittable,
		Resharding: m.Resharding, Temporary: m.Temporary, LegacyChunks: m.LegacyChunks, MaxChunkBytes: m.MaxChunkBytes, Series: m.Series,
		Incarnation: topology.Incarnation{UUID: m.UUID, Epoch: m.Epoch, Timestamp: bson.Timestamp{T: m.T, I: m.I}}}
	if out.Unrecorded = m.Upkeep == nil; m.Upkeep != nil {
		out.Upkeep = *m.Upkeep
	}
	if len(m.Key) == 0 {
		return out, nil
	}
	key, err := shardkey.ParsePattern(m.Key)
	out.Key = key
	return out, err
}

// decodeFrame fills a table except for chunks, sizes and events.
func decodeFrame(b []byte, t *topology.Table) ([]topology.Meta, error) {
	var f frame
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, fmt.Errorf("decode frame: %w", err)
	}
	t.ServerInfo, t.Shards, t.Databases, t.Unsharded, t.Balancer = f.Server, f.Shards, f.Databases, f.Unsharded, f.Balancer
	// Older versions kept shards in the order of their bytes; tables are searched in natural order.
	slices.SortFunc(t.Shards, func(a, b topology.Shard) int { return natural.Compare(a.Name, b.Name) })
	t.Balancer.StatusKnown, t.Balancer.Unrecorded = false, !f.AllSettings // counters are not stored
	t.ClusterID = f.Server.ClusterID
	for _, z := range f.Zones {
		t.Zones = append(t.Zones, topology.ZoneRange{NS: z.NS, Zone: z.Zone, RawMin: z.RawMin, RawMax: z.RawMax,
			Min: shardkey.FromParts(string(z.Min), string(z.MinBits)), Max: shardkey.FromParts(string(z.Max), string(z.MaxBits))})
	}
	metas := make([]topology.Meta, 0, len(f.Collections))
	for _, c := range f.Collections {
		m, err := c.topology()
		if err != nil {
			return nil, fmt.Errorf("decode frame: shard key of %s: %w", c.NS, err)
		}
		metas = append(metas, m)
	}
	return metas, nil
}
