package access

import "shardboard/internal/simcluster/engine"

// shardingRules has the rules of commands on shards, chunks, zones and the balancer,
// which run on admin.
func shardingRules() map[string]rule {
	settings := OnNamespace("config", "settings")
	list := map[string]rule{
		"listShards": cluster("listShards"), "getShardMap": cluster("getShardMap"),
		"addShard": cluster("addShard"), "removeShard": cluster("removeShard"),
		"startShardDraining": cluster("removeShard"), "stopShardDraining": cluster("removeShard"),
		"shardDrainingStatus": cluster("removeShard"), "commitShardRemoval": cluster("removeShard"),
		"flushRouterConfig":                   cluster("flushRouterConfig"),
		"transitionFromDedicatedConfigServer": cluster("transitionFromDedicatedConfigServer"),
		"transitionToDedicatedConfigServer":   cluster("transitionToDedicatedConfigServer"),

		"enableSharding": {allows: inDatabase("enableSharding")}, "movePrimary": {allows: inDatabase("moveChunk")},
		"shardCollection": namespace("enableSharding"), "refineCollectionShardKey": namespace("refineCollectionShardKey"),
		"reshardCollection": namespace("reshardCollection"), "abortReshardCollection": namespace("reshardCollection"),
		"commitReshardCollection": namespace("reshardCollection"), "cleanupReshardCollection": namespace("reshardCollection"),
		"untrackUnshardedCollection": namespace("moveCollection"),
		"moveCollection":             namespace("moveCollection"), "abortMoveCollection": namespace("moveCollection"),
		"unshardCollection": namespace("unshardCollection"), "abortUnshardCollection": namespace("unshardCollection"),
		"split": namespace("splitChunk"), "mergeChunks": namespace("splitChunk"), "mergeAllChunksOnShard": namespace("splitChunk"),
		"moveChunk": namespace("moveChunk"), "moveRange": namespace("moveChunk"), "setAllowMigrations": namespace("moveChunk"),
		"clearJumboFlag": namespace("clearJumboFlag"), "getShardVersion": namespace("getShardVersion"),
		"configureCollectionBalancing": namespace("splitChunk"), "balancerCollectionStatus": namespace("enableSharding"),
		"analyzeShardKey": namespace("analyzeShardKey"), "configureQueryAnalyzer": namespace("configureQueryAnalyzer"),

		"balancerStart": settingRule(settings, "update"), "balancerStop": settingRule(settings, "update"),
		"balancerStatus": settingRule(settings, "find"),

		"addShardToZone": {allows: func(s *Session, _ *engine.Request) bool {
			return s.May(OnCluster(), "enableSharding") || s.May(OnNamespace("config", "shards"), "update")
		}},
		"removeShardFromZone": {allows: func(s *Session, _ *engine.Request) bool {
			return s.May(OnCluster(), "enableSharding") ||
				s.May(OnNamespace("config", "shards"), "update") && s.May(OnNamespace("config", "tags"), "find")
		}},
		"updateZoneKeyRange": {allows: func(s *Session, _ *engine.Request) bool {
			return s.May(OnCluster(), "enableSharding") ||
				s.May(OnNamespace("config", "shards"), "find") && s.May(OnNamespace("config", "tags"), "find", "update", "remove")
		}},
	}
	for name, u := range list {
		list[name] = onAdmin(u)
	}
	// The only one that also runs on a database or a collection.
	list["checkMetadataConsistency"] = rule{allows: func(s *Session, r *engine.Request) bool {
		// Who may check the cluster may check any part of it: no role has the action on databases.
		coll, one := r.Lookup(r.Name).StringValueOK()
		return s.May(OnCluster(), "checkMetadataConsistency") || one && s.May(OnNamespace(r.DB, coll), "checkMetadataConsistency") ||
			r.DB != "admin" && s.May(OnDatabase(r.DB), "checkMetadataConsistency")
	}}
	return list
}

func settingRule(on Resource, action string) rule {
	return rule{allows: func(s *Session, _ *engine.Request) bool { return s.May(on, action) }}
}

// inDatabase requires an action on the database in the command's first field.
func inDatabase(action string) func(*Session, *engine.Request) bool {
	return func(s *Session, r *engine.Request) bool {
		db, _ := r.Lookup(r.Name).StringValueOK()
		return s.May(OnDatabase(db), action)
	}
}
