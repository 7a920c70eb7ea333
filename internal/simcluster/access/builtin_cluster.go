package access

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
		p.add(OnCluster(), "shardedDataDistribution", "allCollectionStats", "getClusterParameter")
	}
	if major >= 7 {
		p.add(OnCluster(), "listSampledQueries")
	}
}

func (p Privileges) hostManager() {
	p.words(OnCluster(), hostsCluster)
	p.add(anyNormal(), "killCursors")
}

func (p Privileges) clusterManager(major int) {
	p.words(OnCluster(), managesCluster)
	p.add(anyResource(), "dbCheck")
	for _, r := range []Resource{anyNormal(), anyBuckets(), OnDatabase("config"), OnDatabase("local")} {
		p.words(r, managesData)
	}
	p.words(OnNamespace("local", "system.replset"), reads)
	p.words(OnNamespace("local", "system.healthlog"), reads)
	p.read("config")
	for _, r := range []Resource{
		OnDatabase("config"), OnDatabase("local"), OnNamespace("local", "replset.election"), OnNamespace("local", "replset.minvalid"),
	} {
		p.add(r, "insert", "update", "remove")
	}
	if major >= 7 {
		p.add(OnCluster(), "checkMetadataConsistency")
		p.add(anyNormal(), "checkMetadataConsistency", "analyzeShardKey", "configureQueryAnalyzer")
	}
	if major >= 8 {
		p.add(OnCluster(), "transitionFromDedicatedConfigServer", "transitionToDedicatedConfigServer")
		p.add(anyNormal(), "moveCollection", "unshardCollection")
	}
}

func (p Privileges) clusterAdmin(major int) {
	p.clusterMonitor(major)
	p.hostManager()
	p.clusterManager(major)
	p.add(anyNormal(), "dropDatabase")
	p.add(anyResource(), "importCollection", "exportCollection")
}
