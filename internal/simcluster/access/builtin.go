package access

import (
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
	managesCluster8  = `querySettings setChangeStreamState getChangeStreamState`

	profiles = reads + ` convertToCapped createCollection dropCollection`
)

// words adds a space-separated list of actions on a resource.
func (p Privileges) words(r Resource, list string) { p.add(r, strings.Fields(list)...) }

// builtin are the privileges of a built-in role on a database; ok is false for any
// other name. Most of them exist on admin only. major is the server's version.
func builtin(role Name, major int) (p Privileges, ok bool) {
	p = Privileges{}
	defer func() { p.adapt(major) }()
	switch role.Name {
	case "read":
		p.read(role.DB)
	case "readWrite":
		p.readWrite(role.DB)
	case "userAdmin":
		p.words(OnDatabase(role.DB), administersUsers)
	case "dbAdmin":
		p.dbAdmin(role.DB)
	case "dbOwner":
		p.readWrite(role.DB)
		p.dbAdmin(role.DB)
		p.words(OnDatabase(role.DB), administersUsers)
	case "enableSharding":
		p.add(anyNormal(), "enableSharding", "refineCollectionShardKey", "reshardCollection")
		if major >= 7 { // by the manual of the commands
			p.add(anyNormal(), "analyzeShardKey", "configureQueryAnalyzer")
		}
	default:
		return p, role.DB == "admin" && p.adminRole(role.Name, major)
	}
	return p, true
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

// adminRole adds a role that exists on admin only.
func (p Privileges) adminRole(name string, major int) bool {
	switch name {
	case "readAnyDatabase":
		p.readAny()
	case "readWriteAnyDatabase":
		p.readWriteAny()
	case "userAdminAnyDatabase":
		p.userAdminAny()
	case "dbAdminAnyDatabase":
		p.dbAdminAny()
	case "clusterMonitor":
		p.clusterMonitor(major)
	case "hostManager":
		p.hostManager(major)
	case "clusterManager":
		p.clusterManager(major)
	case "clusterAdmin":
		p.clusterAdmin(major)
	case "root":
		p.clusterAdmin(major)
		p.userAdminAny()
		p.dbAdminAny()
		p.readWriteAny()
		p.words(anyBuckets(), reads+" "+writes)
		p.add(anyResource(), "validate")
	default:
		return false
	}
	return true
}

func (p Privileges) clusterMonitor(major int) {
	p.words(OnCluster(), monitorsCluster)
	for _, r := range []Resource{anyNormal(), OnDatabase("config"), OnDatabase("local")} {
		p.words(r, monitorsData)
	}
	p.read("config")
	p.read("local")
	for _, coll := range []string{"system.replset", "replset.election", "replset.minvalid"} {
		p.add(OnNamespace("local", coll), "find")
	}
	p.add(anyNamed("system.profile"), "find")
	if major >= 6 {
		p.add(OnCluster(), "shardedDataDistribution", "allCollectionStats")
	}
	if major >= 7 {
		p.add(OnCluster(), "listSampledQueries")
	}
	if major >= 8 {
		p.words(OnCluster(), monitorsCluster8)
		p.words(OnNamespace("config", "system.sessions"), monitorsData)
		p.words(anyBuckets(), monitorsData)
	}
}

func (p Privileges) hostManager(major int) {
	p.words(OnCluster(), hostsCluster)
	if major >= 8 {
		p.words(OnCluster(), hostsCluster8)
	}
	p.add(anyNormal(), "killCursors")
}

func (p Privileges) clusterManager(major int) {
	p.words(OnCluster(), managesCluster)
	p.add(anyResource(), "dbCheck")
	for _, r := range []Resource{anyNormal(), anyBuckets(), OnDatabase("config"), OnDatabase("local")} {
		p.words(r, managesData)
		if major >= 7 {
			p.add(r, "analyzeShardKey", "configureQueryAnalyzer")
		}
		if major >= 8 {
			p.add(r, "moveCollection", "unshardCollection")
		}
	}
	p.words(OnNamespace("local", "system.replset"), reads)
	p.words(OnNamespace("local", "system.healthlog"), reads)
	p.read("config")
	for _, r := range []Resource{
		OnDatabase("config"), OnDatabase("local"), OnNamespace("local", "replset.election"), OnNamespace("local", "replset.minvalid"),
	} {
		p.add(r, "insert", "update", "remove")
	}
	if major >= 6 {
		p.add(OnCluster(), "getClusterParameter", "setClusterParameter")
	}
	if major >= 7 {
		p.add(OnCluster(), "checkMetadataConsistency")
	}
	if major >= 8 {
		p.add(OnCluster(), "transitionFromDedicatedConfigServer", "transitionToDedicatedConfigServer")
		p.words(OnCluster(), managesCluster8)
	}
}

func (p Privileges) clusterAdmin(major int) {
	p.clusterMonitor(major)
	p.hostManager(major)
	p.clusterManager(major)
	p.add(anyNormal(), "dropDatabase")
	p.add(anyResource(), "importCollection", "exportCollection")
}

func (p Privileges) read(db string) {
	p.words(OnDatabase(db), reads)
	p.words(OnNamespace(db, "system.js"), reads)
}

func (p Privileges) readWrite(db string) {
	p.read(db)
	p.words(OnDatabase(db), writes)
	p.words(OnNamespace(db, "system.js"), writes)
}

func (p Privileges) dbAdmin(db string) {
	p.words(OnDatabase(db), administersData)
	p.words(bucketsOf(db), administersData)
	p.words(OnNamespace(db, "system.profile"), profiles)
}

func (p Privileges) readAny() {
	p.words(anyNormal(), reads)
	p.words(anyNamed("system.js"), reads)
	p.add(OnCluster(), "listDatabases")
}

func (p Privileges) readWriteAny() {
	p.readAny()
	p.words(anyNormal(), writes)
	p.words(anyNamed("system.js"), writes)
}

func (p Privileges) userAdminAny() {
	p.words(anyNormal(), administersUsers)
	p.words(OnDatabase("local"), administersUsers)
	p.words(OnDatabase("config"), administersUsers)
	p.add(OnCluster(), "listDatabases", "authSchemaUpgrade", "invalidateUserCache", "viewUser")
	p.add(anyNormal(), "listCachedAndActiveUsers")
	p.words(anyNamed("system.users"), reads)
	for _, coll := range []string{"system.users", "system.roles"} {
		p.words(OnNamespace("admin", coll), reads+" createIndex dropIndex")
	}
	p.words(OnNamespace("admin", "system.version"), reads)
	p.words(OnNamespace("admin", "system.backup_users"), reads)
}

func (p Privileges) dbAdminAny() {
	p.add(OnCluster(), "listDatabases")
	p.words(anyNormal(), administersData)
	p.words(anyBuckets(), administersData)
	p.words(anyNamed("system.profile"), profiles)
}
