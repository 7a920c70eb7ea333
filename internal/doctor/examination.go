package doctor

import (
	"context"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/topology"
)

// Cluster is what an examination reads. Errors are classified with fault; fault.Forbidden is a
// missing privilege.
type Cluster interface {
	// Identity is the user that is signed in, with its privileges.
	Identity(ctx context.Context) (topology.Identity, error)
	// Clock is the clock of the mongos.
	Clock(ctx context.Context) (topology.Clock, error)
	// MayFind searches for a document that does not exist.
	MayFind(ctx context.Context, ns topology.Namespace) error
	// Collections lists those of a database.
	Collections(ctx context.Context, db string) ([]topology.Namespace, error)
	// Sizes are the sizes of a collection by shard.
	Sizes(ctx context.Context, ns topology.Namespace) (topology.Sizes, error)
	// AllSizes are those of all sharded collections, by one command of 6.0.3 and later; none on older releases.
	AllSizes(ctx context.Context) ([]topology.Sizes, error)
	// Disks are the disk usage of the shards, by shard; those that fail are left out.
	Disks(ctx context.Context, db string, shards []topology.Shard) (map[string]topology.Disk, error)
	// Primaries are the primaries ("host:port"), by replica set; sets without a known one are left out.
	Primaries(ctx context.Context) (map[string]string, error)
}

// State is the result of a check or the state of a feature.
type State string

// The states; the zero value is none of them.
const (
	OK      State = "ok"
	Lacks   State = "lacks"   // a privilege is missing
	Unknown State = "unknown" // it could not be determined
	Warns   State = "warns"   // of a check: it works, but somebody should know
)

// Finding is one feature with its missing and unknown privileges.
type Finding struct {
	Feature
	State  State
	Lacks  []Privilege
	Unsure []Privilege
}

// probeTime bounds each read.
const probeTime = 5 * time.Second

// examination is what is known about a cluster user.
type examination struct {
	cluster Cluster
	id      topology.Identity
	listed  bool // the cluster listed the user's privileges
	open    bool // the cluster has no access control
	tried   map[Privilege]State
}

// judge examines all features. Each privilege is tested once.
func (e *examination) judge(ctx context.Context, features []Feature) []Finding {
	out := make([]Finding, len(features))
	for i, f := range features {
		out[i] = Finding{Feature: f, State: OK}
		for _, p := range f.Needs {
			switch e.privilege(ctx, p) {
			case Lacks:
				out[i].Lacks = append(out[i].Lacks, p)
			case Unknown:
				out[i].Unsure = append(out[i].Unsure, p)
			}
		}
		switch {
		case len(out[i].Lacks) > 0:
			out[i].State = Lacks
		case len(out[i].Unsure) > 0:
			out[i].State = Unknown
		}
	}
	return out
}

// privilege combines the list with a test read. A refused read proves that the privilege is
// missing, whatever the list says; a successful read proves a privilege only if it covers no more
// than what was read.
func (e *examination) privilege(ctx context.Context, p Privilege) State {
	if s, ok := e.tried[p]; ok {
		return s
	}
	tried := e.try(ctx, p)
	listed := e.open || e.listed && granted(e.id.Grants, p)
	exact := p.On.Cluster || p.On.Collection != "" || p.Action == "listCollections" || p.Action == "dbStats"
	state := Unknown
	switch {
	case tried == Lacks:
		state = Lacks
	case listed, tried == OK && (exact || !e.listed):
		state = OK
	case e.listed:
		state = Lacks
	}
	e.tried[p] = state
	return state
}

// try reads something that needs the privilege: Unknown when no read does.
func (e *examination) try(ctx context.Context, p Privilege) State {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	var err error
	switch ns := p.Namespace(); {
	case p.Action == "find" && ns != "":
		err = e.cluster.MayFind(ctx, ns)
	case p.Action == "listCollections":
		_, err = e.cluster.Collections(ctx, p.On.DB)
	case p.Action == "collStats":
		_, err = e.cluster.Sizes(ctx, topology.Namespace(p.On.DB+"."+sample))
	case p.Action == "dbStats":
		_, err = e.cluster.Disks(ctx, p.On.DB, nil)
	case p.Action == "shardedDataDistribution":
		_, err = e.cluster.AllSizes(ctx)
	case p.Action == "connPoolStats":
		_, err = e.cluster.Primaries(ctx)
	default:
		return Unknown
	}
	switch {
	case err == nil, fault.Of(err) == fault.NotFound: // the object does not exist
		return OK
	case fault.Of(err) == fault.Forbidden:
		return Lacks
	}
	return Unknown
}

// sample is a collection name that no schema uses: its statistics are refused like any other's and
// cost nothing.
const sample = "shardboard-doctor"
