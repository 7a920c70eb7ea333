package access

import (
	"slices"
	"strings"
)

// Privileges of the built-in roles (db/auth/builtin_roles.cpp, MongoDB 5.0; verified
// with connectionStatus of 5.0.7 for clusterMonitor, clusterManager, clusterAdmin and
// read).
const (
	reads = `changeStream collStats dbHash dbStats find killCursors listCollections listIndexes planCacheRead`

	writes = `convertToCapped createCollection dropCollection dropIndex emptycapped createIndex insert remove
		renameCollectionSameDB update`

	administersUsers = `changeCustomData changePassword createUser createRole dropUser dropRole grantRole revokeRole
		setAuthenticationRestriction viewUser viewRole`

	administersData = `bypassDocumentValidation collMod collStats compact convertToCapped createCollection dbStats
		dropCollection dropDatabase dropIndex createIndex enableProfiler listCollections listIndexes
		planCacheIndexFilter planCacheRead planCacheWrite reIndex renameCollectionSameDB storageDetails validate`

	monitorsCluster = `checkFreeMonitoringStatus connPoolStats getCmdLineOpts getDefaultRWConcern getLog getParameter
		getShardMap hostInfo listDatabases listSessions listShards netstat operationMetrics replSetGetConfig
		replSetGetStatus serverStatus top useUUID inprog shardingState`
	monitorsData = `collStats dbStats getDatabaseVersion getShardVersion indexStats`

	hostsCluster = `applicationMessage auditConfigure connPoolSync dropConnections logRotate oidReset setParameter
		shutdown touch unlock flushRouterConfig fsync invalidateUserCache killAnyCursor killAnySession killop
		replSetResizeOplog resync trafficRecord rotateCertificates`

	managesCluster = `appendOplogNote applicationMessage replSetConfigure replSetGetConfig replSetGetStatus
		replSetStateChange resync addShard removeShard listSessions listShards flushRouterConfig cleanupOrphaned
		getDefaultRWConcern setDefaultRWConcern setFeatureCompatibilityVersion setFreeMonitoring runTenantMigration`
	managesData = `clearJumboFlag splitChunk moveChunk enableSharding splitVector refineCollectionShardKey
		reshardCollection`

	// What 8.0.10 shows, and 7.0 is assumed to have for what it can do; 8.0 has no free monitoring.
	monitorsCluster8 = `listClusterCatalog queryStatsRead queryStatsReadTransformed`
	hostsCluster8    = `compact oidcListKeys oidcRefreshKeys`
	managesCluster8  = `querySettings setChangeStreamState getChangeStreamState transitionFromDedicatedConfigServer
		transitionToDedicatedConfigServer`

	profiles = reads + ` convertToCapped createCollection dropCollection`
)

type builtinRole struct {
	name      string
	adminOnly bool // it exists on admin only
	also      []string
}

// builtinRoles are the built-in roles in the order of rolesInfo, with the roles whose privileges they have too.
var builtinRoles = []builtinRole{
	{name: "read"},
	{name: "readWrite", also: []string{"read"}},
	{name: "userAdmin"},
	{name: "dbAdmin"},
	{name: "dbOwner", also: []string{"readWrite", "dbAdmin", "userAdmin"}},
	{name: "enableSharding"},
	{name: "readAnyDatabase", adminOnly: true},
	{name: "readWriteAnyDatabase", adminOnly: true, also: []string{"readAnyDatabase"}},
	{name: "userAdminAnyDatabase", adminOnly: true},
	{name: "dbAdminAnyDatabase", adminOnly: true},
	{name: "clusterMonitor", adminOnly: true},
	{name: "hostManager", adminOnly: true},
	{name: "clusterManager", adminOnly: true},
	{name: "clusterAdmin", adminOnly: true, also: []string{"clusterMonitor", "hostManager", "clusterManager"}},
	{name: "root", adminOnly: true, also: []string{"clusterAdmin", "userAdminAnyDatabase", "dbAdminAnyDatabase", "readWriteAnyDatabase"}},
}

// grant is what a role may do on some resources since a release. A database without a name is the role's own.
type grant struct {
	role  string
	since int
	on    []Resource
	words string // the actions, space-separated
}

var (
	internal = []Resource{OnDatabase("config"), OnDatabase("local")}
	elected  = []Resource{OnNamespace("local", "replset.election"), OnNamespace("local", "replset.minvalid")}
)

// grants are the privileges of the built-in roles.
var grants = []grant{
	{"read", 0, []Resource{OnDatabase(""), OnNamespace("", "system.js")}, reads},
	{"readWrite", 0, []Resource{OnDatabase(""), OnNamespace("", "system.js")}, writes},
	{"userAdmin", 0, []Resource{OnDatabase("")}, administersUsers},
	{"dbAdmin", 0, []Resource{OnDatabase(""), bucketsOf("")}, administersData},
	{"dbAdmin", 0, []Resource{OnNamespace("", "system.profile")}, profiles},
	{"enableSharding", 0, []Resource{anyNormal()}, "enableSharding refineCollectionShardKey reshardCollection"},
	{"enableSharding", 7, []Resource{anyNormal()}, "analyzeShardKey configureQueryAnalyzer"}, // by the manual of the commands

	{"readAnyDatabase", 0, []Resource{anyNormal(), anyNamed("system.js")}, reads},
	{"readAnyDatabase", 0, []Resource{OnCluster()}, "listDatabases"},
	{"readWriteAnyDatabase", 0, []Resource{anyNormal(), anyNamed("system.js")}, writes},
	{"userAdminAnyDatabase", 0, append(internal, anyNormal()), administersUsers},
	{"userAdminAnyDatabase", 0, []Resource{OnCluster()}, "listDatabases authSchemaUpgrade invalidateUserCache viewUser"},
	{"userAdminAnyDatabase", 0, []Resource{anyNormal()}, "listCachedAndActiveUsers"},
	{"userAdminAnyDatabase", 0, []Resource{anyNamed("system.users"), OnNamespace("admin", "system.version"),
		OnNamespace("admin", "system.backup_users")}, reads},
	{"userAdminAnyDatabase", 0, []Resource{OnNamespace("admin", "system.users"), OnNamespace("admin", "system.roles")},
		reads + " createIndex dropIndex"},
	{"dbAdminAnyDatabase", 0, []Resource{OnCluster()}, "listDatabases"},
	{"dbAdminAnyDatabase", 0, []Resource{anyNormal(), anyBuckets()}, administersData},
	{"dbAdminAnyDatabase", 0, []Resource{anyNamed("system.profile")}, profiles},

	{"clusterMonitor", 0, []Resource{OnCluster()}, monitorsCluster},
	{"clusterMonitor", 6, []Resource{OnCluster()}, "shardedDataDistribution allCollectionStats"},
	{"clusterMonitor", 7, []Resource{OnCluster()}, "listSampledQueries"},
	{"clusterMonitor", 8, []Resource{OnCluster()}, monitorsCluster8},
	{"clusterMonitor", 0, append(internal, anyNormal()), monitorsData},
	{"clusterMonitor", 8, []Resource{OnNamespace("config", "system.sessions"), anyBuckets()}, monitorsData},
	{"clusterMonitor", 0, append(internal, OnNamespace("config", "system.js"), OnNamespace("local", "system.js")), reads},
	{"clusterMonitor", 0, append(elected, OnNamespace("local", "system.replset"), anyNamed("system.profile")), "find"},
	{"hostManager", 0, []Resource{OnCluster()}, hostsCluster},
	{"hostManager", 8, []Resource{OnCluster()}, hostsCluster8},
	{"hostManager", 0, []Resource{anyNormal()}, "killCursors"},
	{"clusterManager", 0, []Resource{OnCluster()}, managesCluster},
	{"clusterManager", 6, []Resource{OnCluster()}, "getClusterParameter setClusterParameter"},
	{"clusterManager", 7, []Resource{OnCluster()}, "checkMetadataConsistency"},
	{"clusterManager", 8, []Resource{OnCluster()}, managesCluster8},
	{"clusterManager", 0, []Resource{anyResource()}, "dbCheck"},
	{"clusterManager", 0, append(internal, anyNormal(), anyBuckets()), managesData},
	{"clusterManager", 7, append(internal, anyNormal(), anyBuckets()), "analyzeShardKey configureQueryAnalyzer"},
	{"clusterManager", 8, append(internal, anyNormal(), anyBuckets()), "moveCollection unshardCollection"},
	{"clusterManager", 0, []Resource{OnNamespace("local", "system.replset"), OnNamespace("local", "system.healthlog"),
		OnDatabase("config"), OnNamespace("config", "system.js")}, reads},
	{"clusterManager", 0, append(elected, internal...), "insert update remove"},
	{"clusterAdmin", 0, []Resource{anyNormal()}, "dropDatabase"},
	{"clusterAdmin", 0, []Resource{anyResource()}, "importCollection exportCollection"},
	{"root", 0, []Resource{anyBuckets()}, reads + " " + writes},
	{"root", 0, []Resource{anyResource()}, "validate"},
}

// builtin are the privileges of a built-in role on a database; ok is false for any
// other name. major is the server's version.
func builtin(role Name, major int) (p Privileges, ok bool) {
	p = Privileges{}
	ok = p.addRole(role, major)
	p.adapt(major)
	return p, ok
}

func (p Privileges) addRole(role Name, major int) bool {
	i := slices.IndexFunc(builtinRoles, func(b builtinRole) bool { return b.name == role.Name })
	if i < 0 || builtinRoles[i].adminOnly && role.DB != "admin" {
		return false
	}
	for _, name := range builtinRoles[i].also {
		p.addRole(Name{name, role.DB}, major)
	}
	for _, g := range grants {
		if g.role != role.Name || major < g.since {
			continue
		}
		for _, r := range g.on {
			if own := r.kind == kindDatabase || r.kind == kindNamespace || r.kind == kindBucketsInDB; own && r.db == "" {
				r.db = role.DB
			}
			p.add(r, strings.Fields(g.words)...)
		}
	}
	return true
}

// adapt gives privileges the actions that a release has in other words: who reads may list search indexes from 7.0 on,
// and nobody uses free monitoring in 8.0.
func (p Privileges) adapt(major int) {
	for r, have := range p {
		if major >= 7 && have.with(setOf(strings.Fields(reads)...)) == have {
			p.add(r, "listSearchIndexes")
		}
		if major >= 8 {
			p[r] = p[r].without(setOf("checkFreeMonitoringStatus", "setFreeMonitoring"))
		}
	}
}
