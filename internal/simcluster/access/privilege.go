package access

import (
	"cmp"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// Privileges maps resources to the allowed actions.
type Privileges map[Resource]Actions

func (p Privileges) add(r Resource, names ...string) { p[r] = p[r].with(setOf(names...)) }

func (p Privileges) addAll(q Privileges) {
	for r, a := range q {
		p[r] = p[r].with(a)
	}
}

// May reports whether all actions are allowed on a target, possibly by several
// privileges together.
func (p Privileges) May(target Resource, names ...string) bool {
	missing := setOf(names...)
	for _, r := range target.covers() {
		if missing = missing.without(p[r]); missing.empty() {
			return true
		}
	}
	return false
}

// any reports whether any action is allowed on a collection.
func (p Privileges) any(target Resource) bool {
	return slices.ContainsFunc(target.covers(), func(r Resource) bool { return !p[r].empty() })
}

// anyIn reports whether any action is allowed in a database
// (isAuthorizedForAnyActionOnAnyResourceInDB).
func (p Privileges) anyIn(db string) bool {
	for r, a := range p {
		if a.empty() {
			continue
		}
		switch r.kind {
		case kindAny, kindBuckets, kindBucketsNamed, kindCollection:
			return true
		case kindNormal:
			if !unusual(db) {
				return true
			}
		case kindDatabase, kindNamespace, kindBucketsInDB, kindBucket:
			if r.db == db {
				return true
			}
		}
	}
	return false
}

// list formats privileges as in connectionStatus and usersInfo, in a fixed order.
func (p Privileges) list() bson.A {
	resources := make([]Resource, 0, len(p))
	for r, a := range p {
		if !a.empty() {
			resources = append(resources, r)
		}
	}
	slices.SortFunc(resources, func(a, b Resource) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.db, b.db), cmp.Compare(a.coll, b.coll))
	})
	out := bson.A{}
	for _, r := range resources {
		out = append(out, value.D("resource", r.document(), "actions", p[r].names()))
	}
	return out
}

// parsePrivileges reads the privileges array of a command.
func parsePrivileges(v bson.RawValue) (Privileges, error) {
	p := Privileges{}
	if v.Type != bson.TypeArray {
		if v.Type == 0 {
			return p, nil
		}
		return nil, wrongType("privileges", "array")
	}
	for item := range value.Items(v) {
		doc, ok := item.DocumentOK()
		if !ok {
			return nil, status.Errorf(status.FailedToParse, "Elements in privilege arrays must be objects.")
		}
		on, ok := value.Field(doc, "resource").DocumentOK()
		if !ok {
			return nil, status.Errorf(40414, "BSON field 'Privilege.resource' is missing but a required field")
		}
		r, err := parseResource(on)
		if err != nil {
			return nil, err
		}
		var names []string
		for a := range value.Items(value.Field(doc, "actions")) {
			s, ok := a.StringValueOK()
			if !ok {
				return nil, status.Errorf(status.TypeMismatch, "actions must be an array of strings")
			}
			names = append(names, s)
		}
		set, unknown := parseActions(names)
		if len(unknown) > 0 {
			return nil, status.Errorf(status.FailedToParse, "Unrecognized action privilege strings: %s", strings.Join(unknown, " "))
		}
		if set.empty() {
			return nil, status.Errorf(status.FailedToParse, "Privilege must have at least one action")
		}
		p[r] = p[r].with(set)
	}
	return p, nil
}

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
		return value.D("anyResource", true)
	case kindCluster:
		return value.D("cluster", true)
	case kindBuckets, kindBucketsNamed:
		return value.D("system_buckets", r.coll)
	case kindBucketsInDB, kindBucket:
		return value.D("db", r.db, "system_buckets", r.coll)
	}
	return value.D("db", r.db, "collection", r.coll)
}

// actions lists the names of all actions in the server's order (db/auth/action_types,
// MongoDB 5.0), in which replies show them. Actions of later versions are at the
// positions that those versions use.
const actions = `
addShard listClusterCatalog advanceClusterTime allCollectionStats analyzeShardKey anyAction appendOplogNote applicationMessage
auditConfigure auditLogRotate authCheck authenticate authSchemaUpgrade bypassDocumentValidation changeCustomData
changePassword changeOwnPassword changeOwnCustomData changeStream checkFreeMonitoringStatus
checkMetadataConsistency cleanupOrphaned clearJumboFlag closeAllDatabases collMod collStats compact
configureQueryAnalyzer connPoolStats connPoolSync convertToCapped cpuProfiler createCollection createDatabase
createIndex createRole createUser dbCheck dbHash dbStats dropAllRolesFromDatabase dropAllUsersFromDatabase
dropCollection dropConnections dropDatabase dropIndex dropRole dropUser emptycapped enableProfiler
enableSharding exportCollection find flushRouterConfig forceUUID fsync getClusterParameter getDatabaseVersion
getDefaultRWConcern getCmdLineOpts getLog getParameter getShardMap getShardVersion grantRole
grantPrivilegesToRole grantRolesToRole grantRolesToUser hostInfo impersonate importCollection indexStats inprog
insert internal invalidateUserCache killAnyCursor killAnySession killCursors killop listCachedAndActiveUsers
listCollections listCursors listDatabases listIndexes listSampledQueries listSearchIndexes listSessions listShards logRotate
moveChunk moveCollection netstat oidcListKeys oidcRefreshKeys oidReset operationMetrics planCacheIndexFilter
planCacheRead planCacheWrite querySettings queryStatsRead queryStatsReadTransformed
refineCollectionShardKey reIndex remove removeShard renameCollection renameCollectionSameDB repairDatabase
replSetConfigure replSetGetConfig replSetGetStatus replSetHeartbeat replSetReconfig replSetResizeOplog
replSetStateChange reshardCollection resync revokeRole revokePrivilegesFromRole revokeRolesFromRole
revokeRolesFromUser rotateCertificates runAsLessPrivilegedUser runTenantMigration serverStatus
setAuthenticationRestriction setClusterParameter setDefaultRWConcern setFeatureCompatibilityVersion
setFreeMonitoring setParameter setUserWriteBlockMode shardCollection shardedDataDistribution shardingState
shutdown splitChunk splitVector storageDetails top touch trafficRecord transitionFromDedicatedConfigServer
transitionToDedicatedConfigServer unlock unshardCollection useUUID update updateRole updateUser validate
viewRole viewUser setChangeStreamState getChangeStreamState`

// vocabulary numbers the actions, so that a set of them fits into a few words.
var vocabulary = func() map[string]int {
	m := make(map[string]int)
	for name := range strings.FieldsSeq(actions) {
		m[name] = len(m)
	}
	return m
}()

// Actions is a set of actions. The zero value is empty.
type Actions [3]uint64

// allActions is the set that anyAction grants.
var allActions = setOf(strings.Fields(actions)...)

// setOf makes a set of actions that must exist.
func setOf(names ...string) Actions {
	var a Actions
	for _, n := range names {
		i, ok := vocabulary[n]
		if !ok {
			panic("access: no action is called " + n)
		}
		a[i/64] |= 1 << (i % 64)
	}
	return a
}

// parseActions makes a set from the names in a command; unknown are those that do not
// exist.
func parseActions(names []string) (a Actions, unknown []string) {
	for _, n := range names {
		switch _, ok := vocabulary[n]; {
		case n == "anyAction":
			a = allActions
		case ok:
			a = a.with(setOf(n))
		default:
			unknown = append(unknown, n)
		}
	}
	return a, unknown
}

func (a Actions) with(b Actions) Actions    { return Actions{a[0] | b[0], a[1] | b[1], a[2] | b[2]} }
func (a Actions) without(b Actions) Actions { return Actions{a[0] &^ b[0], a[1] &^ b[1], a[2] &^ b[2]} }
func (a Actions) empty() bool               { return a == Actions{} }

// names lists the actions of the set in the server's order.
func (a Actions) names() []string {
	if a == allActions {
		return []string{"anyAction"}
	}
	var out []string
	for n, i := range vocabulary {
		if a[i/64]&(1<<(i%64)) != 0 {
			out = append(out, n)
		}
	}
	slices.SortFunc(out, func(x, y string) int { return vocabulary[x] - vocabulary[y] })
	return out
}
