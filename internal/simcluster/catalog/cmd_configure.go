package catalog

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
)

// chunkSizeOf is the size of a full chunk of a collection, in bytes.
func (c *Cluster) chunkSizeOf(r *Routing) int64 {
	if r.newer.maxBytes > 0 {
		return r.newer.maxBytes
	}
	return c.ChunkSize()
}

// runConfigureCollectionBalancing sets the balancing options of a collection (6.0):
// chunk size in MB (0 means the cluster's), defragmentation, automatic merging (7.0),
// balancing (8.0.10). 8.0 raises the newest chunk's version; assumed: earlier ones change no version.
func (c *Cluster) runConfigureCollectionBalancing(_ context.Context, req *engine.Request) (bson.D, error) {
	ns, err := namespace(req)
	if err != nil {
		return nil, err
	}
	c.Mu.Lock()
	defer c.Mu.Unlock()
	r := c.routes[ns]
	if r == nil && c.features.observed8 {
		return nil, status.Errorf(status.NamespaceNotSharded, "Expected to match one doc for query { _id: %q } but matched 0", ns)
	}
	if r == nil {
		return nil, c.notSharded(ns)
	}
	// Check all arguments before changing anything.
	size, sized := asInt64(req.Lookup("chunkSize"))
	if sized && (size < 0 || size > 1024) {
		if c.features.observed8 {
			return nil, status.Errorf(status.InvalidOptions, "Chunk size '%d' out of range [1MB, 1GB]", size)
		}
		return nil, status.Errorf(status.InvalidOptions, "chunk size '%d' is out of range [1MB, 1GB]", size<<20)
	}
	merge, err := c.option(req, "enableAutoMerger", c.features.autoMerge)
	if err != nil {
		return nil, err
	}
	balance, err := c.option(req, "enableBalancing", c.features.switchable)
	if err != nil {
		return nil, err
	}
	if sized {
		r.newer.maxBytes = size << 20
	}
	if v := req.Lookup("defragmentCollection"); v.Type == bson.TypeBoolean {
		r.newer.defragment = defragment(v.Boolean(), r.newer.defragment)
	}
	if merge != nil {
		r.newer.noAutoMerge = !*merge
	}
	if balance != nil {
		r.NoBalance = !*balance
	}
	if c.features.observed8 {
		r.wrote()
	}
	c.saveCollection(r)
	c.bumpNewest(r)
	if c.features.observed8 {
		c.logConfigured(req, ns)
	}
	return bson.D{}, nil
}

// logConfigured logs what a command changed, as 8.0 does; it names only two of the options.
func (c *Cluster) logConfigured(req *engine.Request, ns string) {
	details := bson.D{}
	if n, ok := asInt64(req.Lookup("chunkSize")); ok {
		details = append(details, bson.E{Key: "chunkSizeMB", Value: int32(n)})
	}
	if v := req.Lookup("defragmentCollection"); v.Type == bson.TypeBoolean {
		details = append(details, bson.E{Key: "defragmentCollection", Value: v.Boolean()})
	}
	c.logChange(configServer, "configureCollectionBalancing", ns, details)
}

// option reads a boolean that only some versions know; nil when it is absent.
func (c *Cluster) option(req *engine.Request, name string, known bool) (*bool, error) {
	v := req.Lookup(name)
	switch {
	case v.Type == 0:
		return nil, nil
	case !known:
		return nil, status.Errorf(40415, "BSON field 'ConfigureCollectionBalancing.%s' is an unknown field.", name)
	case v.Type != bson.TypeBoolean:
		return nil, status.Errorf(status.TypeMismatch,
			"BSON field 'ConfigureCollectionBalancing.%s' is the wrong type, expected type 'bool'", name)
	}
	b := v.Boolean()
	return &b, nil
}

// statusChunkSize is the chunk size in MB in balancerCollectionStatus, a double in 8.0.
func (c *Cluster) statusChunkSize(r *Routing) any {
	if c.features.observed8 {
		return float64(c.chunkSizeOf(r)) / (1 << 20)
	}
	return c.chunkSizeOf(r) >> 20
}

// compliance is the reply of balancerCollectionStatus; since 6.0 it has the chunk size
// in MB and the phase of a running defragmentation.
func (c *Cluster) compliance(r *Routing, violation string) bson.D {
	var d bson.D
	if c.features.statusSize {
		d = append(d, bson.E{Key: "chunkSize", Value: c.statusChunkSize(r)})
		if r.newer.defragment != notDefragmenting {
			violation = Defragmenting
		}
	}
	d = append(d, bson.E{Key: "balancerCompliant", Value: violation == ""})
	if violation != "" {
		d = append(d, bson.E{Key: "firstComplianceViolation", Value: violation})
	}
	if violation == Defragmenting {
		d = append(d, bson.E{Key: "details", Value: bson.D{{Key: "currentPhase", Value: r.newer.defragment.String()}}})
	}
	return d
}

// Balancing is how a collection is balanced.
type Balancing struct {
	Enabled, Migrations, AutoMerge bool
	ChunkBytes                     int64
}

// Balancing reads the settings of a collection. The caller holds Mu.
func (c *Cluster) Balancing(r *Routing) Balancing {
	return Balancing{Enabled: !r.NoBalance, Migrations: r.Permitted && !r.blocked, AutoMerge: !r.newer.noAutoMerge,
		ChunkBytes: c.chunkSizeOf(r)}
}
