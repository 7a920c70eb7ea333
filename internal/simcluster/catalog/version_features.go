package catalog

// versionFeatures has the metadata formats and behaviours that differ between server
// versions. Each comment names the first or the last version that has it;
// docs/simcluster.md lists those that are assumptions.
type versionFeatures struct {
	chunksByNS     bool // 4.4: chunks carry ns and lastmodEpoch instead of uuid
	tombstones     bool // 4.4: a dropped collection's document stays, dropped: true
	dbTimestamp    bool // 5.0: databases, collections and shards carry timestamps
	partitioned    bool // to 5.0: config.databases.partitioned
	sinceField     bool // 7.0: chunks carry onCurrentShardSince
	clusterIDOnly  bool // 7.0: config.version has only clusterId
	primaryBlocks  bool // 5.0: movePrimary refuses writes to the collections that it moves
	primaryCleans  bool // 7.0: a movePrimary that fails drops its copies
	locks          bool // to 6.0: config.locks and config.lockpings exist
	migrations     bool // to 7.0: config.migrations exists
	placements     bool // 7.0: config.placementHistory
	replSetVersion bool // 7.0: config.shards.replSetConfigVersion

	autoSplit         bool // to 6.0.2: shards split chunks that grew
	bySize            bool // 6.0.3: the balancer compares data sizes and moves ranges
	ranges            bool // 6.0: moveRange exists; moveChunk is executed like it, without a zone check
	statusSize        bool // 6.0: balancerCollectionStatus has chunkSize and details
	mergeSummary      bool // 6.0: merge log entries have bounds and a count, not the chunks
	versionParts      bool // 6.0: log entries have versions as {e, t, v}
	splitUnflags      bool // 7.0: the parts of a split are not jumbo
	keepSince         bool // 7.0: a merged chunk keeps its newest validAfter
	autoMerge         bool // 7.0: mergeAllChunksOnShard and the AutoMerger
	autoMergeLog      bool // 8.0: it logs autoMerge, before that merge
	roundTimes        bool // 7.0: balancer.round spells errorOccurred and has times
	term              bool // 8.0: balancerStatus.term
	unsplittable      bool // 8.0: unsharded collections can be tracked and moved
	switchable        bool // 8.0.10: configureCollectionBalancing.enableBalancing
	observed8         bool // 8.0: texts, codes, log entries and fields as recorded from 8.0.10
	settingsSchema    bool // 8.0 to 8.2: config.settings has the schema as recorded from 8.0.10
	drainingByCommand bool // 8.3: startShardDraining and its kin
	windowsByDay      bool // 8.3: activeWindowDOW, and the balancer's settings are read by a schema

	initialPerNode int // chunks per shard of a new hashed collection
	chunkSizeMB    int64
	recipientSteps int // of a migration: 7, from 8.0 on 8

	refs *shardRefs // shard uuids in documents; nil: shards are named by name
}

// featuresOf returns the features of a version.
func featuresOf(v [3]int) versionFeatures {
	since := func(major, minor, patch int) bool {
		for i, want := range [3]int{major, minor, patch} {
			if v[i] != want {
				return v[i] > want
			}
		}
		return true
	}
	v44, v6, v7, v8 := !since(5, 0, 0), since(6, 0, 0), since(7, 0, 0), since(8, 0, 0)
	f := versionFeatures{
		chunksByNS: v44, tombstones: v44, dbTimestamp: !v44, partitioned: !v6,
		sinceField: v7, clusterIDOnly: v7, primaryBlocks: !v44, primaryCleans: v7,
		locks: !v7, migrations: !v8, placements: v7, replSetVersion: v7,
		autoSplit: !since(6, 0, 3), bySize: since(6, 0, 3), ranges: v6,
		statusSize: v6, mergeSummary: v6, versionParts: v6,
		splitUnflags: v7, keepSince: v7, autoMerge: v7, autoMergeLog: v8, roundTimes: v7,
		term: v8, unsplittable: v8, switchable: since(8, 0, 10), observed8: v8, settingsSchema: v8 && !since(8, 3, 0),
		drainingByCommand: since(8, 3, 0), windowsByDay: since(8, 3, 0),
		initialPerNode: 2, chunkSizeMB: 64, recipientSteps: 7,
	}
	if v6 {
		f.chunkSizeMB = 128
	}
	if v8 {
		f.initialPerNode, f.recipientSteps = 1, 8
	}
	return f
}
