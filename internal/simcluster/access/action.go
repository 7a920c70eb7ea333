package access

import (
	"slices"
	"strings"
)

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
