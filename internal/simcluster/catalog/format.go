package catalog

// format says how one server version keeps its metadata and which commands it
// knows. Only facts that differ between versions are here; adding a version is
// adding a row to formatOf.
type format struct {
	chunksByNS     bool // 4.4: chunks carry ns and lastmodEpoch instead of uuid
	dbTimestamp    bool // 5.0: databases and collections carry timestamps
	partitioned    bool // to 5.0: config.databases.partitioned
	sinceField     bool // 7.0: chunks carry onCurrentShardSince
	clusterIDOnly  bool // 7.0: config.version has only clusterId
	autoSplit      bool // to 6.0: shards split chunks that grew
	initialPerNode int  // chunks per shard of a new hashed collection
	chunkSizeMB    int64
}

// formatOf maps a version to its format; versions between two rows take the older.
func formatOf(v [3]int) format {
	f := format{partitioned: true, autoSplit: true, initialPerNode: 2, chunkSizeMB: 64}
	if v[0] < 5 {
		f.chunksByNS = true
		return f
	}
	f.dbTimestamp = true
	if v[0] >= 6 {
		f.partitioned, f.autoSplit, f.chunkSizeMB = false, false, 128
	}
	if v[0] >= 7 {
		f.sinceField, f.clusterIDOnly = true, true
	}
	if v[0] >= 8 {
		f.initialPerNode = 1
	}
	return f
}
