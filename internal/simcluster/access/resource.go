package access

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

type kind uint8

const (
	kindNone         kind = iota // nothing
	kindAny                      // {anyResource: true}
	kindCluster                  // {cluster: true}
	kindNormal                   // {db: "", collection: ""}: any but system collections, local and config
	kindDatabase                 // {db: "x", collection: ""}
	kindCollection               // {db: "", collection: "x"}
	kindNamespace                // {db: "x", collection: "y"}
	kindBuckets                  // {system_buckets: ""}
	kindBucketsInDB              // {db: "x", system_buckets: ""}
	kindBucketsNamed             // {system_buckets: "y"}
	kindBucket                   // {db: "x", system_buckets: "y"}
)

// Resource is the resource of a privilege or the target of a command.
type Resource struct {
	kind     kind
	db, coll string
}

// OnCluster is the cluster as a whole.
func OnCluster() Resource { return Resource{kind: kindCluster} }

// OnDatabase is a database without its system collections.
func OnDatabase(db string) Resource { return Resource{kind: kindDatabase, db: db} }

// OnNamespace is one collection.
func OnNamespace(db, coll string) Resource { return Resource{kind: kindNamespace, db: db, coll: coll} }

func anyResource() Resource         { return Resource{kind: kindAny} }
func anyNormal() Resource           { return Resource{kind: kindNormal} }
func anyNamed(coll string) Resource { return Resource{kind: kindCollection, coll: coll} }
func anyBuckets() Resource          { return Resource{kind: kindBuckets} }
func bucketsOf(db string) Resource  { return Resource{kind: kindBucketsInDB, db: db} }
func unusual(db string) bool        { return db == "local" || db == "config" }
func normal(db, coll string) bool {
	return !strings.HasPrefix(coll, "system.") && !(db == "local" && strings.HasPrefix(coll, "replset."))
}

// covers lists the resources whose privileges apply to a target
// (authorization_session_impl.cpp, buildResourceSearchList).
func (r Resource) covers() []Resource {
	out := make([]Resource, 0, 6)
	out = append(out, anyResource())
	switch r.kind {
	case kindNamespace:
		if bucket, ok := strings.CutPrefix(r.coll, "system.buckets."); ok {
			out = append(out, anyBuckets(), bucketsOf(r.db), Resource{kind: kindBucketsNamed, coll: bucket},
				Resource{kind: kindBucket, db: r.db, coll: bucket})
		} else if normal(r.db, r.coll) {
			if !unusual(r.db) {
				out = append(out, anyNormal())
			}
			out = append(out, OnDatabase(r.db))
		}
		out = append(out, anyNamed(r.coll))
	case kindDatabase:
		if !unusual(r.db) {
			out = append(out, anyNormal())
		}
	}
	return append(out, r)
}

// parseResource reads the resource of a privilege document.
func parseResource(doc bson.Raw) (Resource, error) {
	field := func(name string) (string, bool) { return value.Field(doc, name).StringValueOK() }
	db, hasDB := field("db")
	coll, hasColl := field("collection")
	bucket, hasBucket := field("system_buckets")
	yes := func(name string) bool { is, ok := value.Field(doc, name).BooleanOK(); return ok && is }
	switch {
	case yes("cluster") && value.Len(doc) == 1:
		return OnCluster(), nil
	case yes("anyResource") && value.Len(doc) == 1:
		return anyResource(), nil
	case hasBucket && !hasColl:
		return Resource{kind: kindBuckets + kind(one(db != "")+2*one(bucket != "")), db: db, coll: bucket}, nil
	case hasDB && hasColl:
		return Resource{kind: kindNormal + kind(one(db != "")+2*one(coll != "")), db: db, coll: coll}, nil
	case hasDB != hasColl:
		return Resource{}, status.Errorf(status.FailedToParse, "resource must set both db and collection or neither")
	}
	return Resource{}, status.Errorf(status.FailedToParse,
		"resource pattern must specify one of: db and collection, cluster, anyResource, system_buckets")
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

// document shows a resource as the server does.
func (r Resource) document() bson.D {
	switch r.kind {
	case kindAny:
		return bson.D{{Key: "anyResource", Value: true}}
	case kindCluster:
		return bson.D{{Key: "cluster", Value: true}}
	case kindBuckets, kindBucketsNamed:
		return bson.D{{Key: "system_buckets", Value: r.coll}}
	case kindBucketsInDB, kindBucket:
		return bson.D{{Key: "db", Value: r.db}, {Key: "system_buckets", Value: r.coll}}
	}
	return bson.D{{Key: "db", Value: r.db}, {Key: "collection", Value: r.coll}}
}
