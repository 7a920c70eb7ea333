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
