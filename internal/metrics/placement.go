package metrics

import (
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/topology"
)

var (
	shardCount      = gauge("shards", "Shards.")
	collectionCount = gauge("collections", "Sharded collections.")
	chunkCount      = gauge("chunks", "Chunks of all sharded collections.")
	projectCount    = gauge("projects", "Projects in the directory; absent before it was read.")
	shardsLeftOut   = gauge("metrics_left_out_shards", "Shards without series, because there are more than 200.")
	collectionsRest = gauge("metrics_other_collections",
		"Collections without series of their own; their sum has the label collection=\"other\". The largest ones have their own.")
	unmeasured = gauge("collections_unmeasured",
		"Collections whose sizes are not known yet. While there are some, sums of bytes and documents are too low.")

	shardBytes = gauge("shard_data_bytes", "Bytes of data on a shard, by the statistics of the collections, without compression.", "shard")
	shardAge   = gauge("shard_data_age_seconds",
		"Age of the oldest figure in the bytes of data on a shard: they stay when a shard, or the cluster, cannot be read.", "shard")
	shardDocuments = gauge("shard_documents", "Documents on a shard, by the statistics of the collections.", "shard")
	shardChunks    = gauge("shard_chunks", "Chunks of sharded collections on a shard.", "shard")
	shardAnswers   = gauge("shard_answers",
		"1 when a shard's primary answered the last small read, 0 when it did not twice; absent while it is not asked.", "shard")
	configAnswers = gauge("config_servers_answer",
		"1 when the primary of the config servers answered the last small read, 0 when it did not twice.")
	shardDraining = gauge("shard_draining", "1 while a shard is being removed.", "shard")
	diskUsed      = gauge("shard_disk_used_bytes", "Used bytes of the file system with the data of a shard's primary.", "shard")
	diskSize      = gauge("shard_disk_size_bytes", "Size of the file system with the data of a shard's primary.", "shard")
	imbalance     = gauge("imbalance_ratio",
		"How far the fullest shard is above the mean of all by bytes: 0 is even, 1 is twice the mean. Shards that drain do not count.")

	bytesOn     = gauge("collection_data_bytes", "Bytes of a collection on a shard, without compression.", "collection", "shard")
	documentsOn = gauge("collection_documents", "Documents of a collection on a shard.", "collection", "shard")
	orphansOn   = gauge("collection_orphaned_documents",
		"Documents of a collection on a shard that belongs to another one; absent where the release does not tell them.", "collection", "shard")
	storageOn = gauge("collection_storage_bytes", "Bytes of a collection on a shard's disk, compressed.", "collection", "shard")
	indexesOn = gauge("collection_index_bytes", "Bytes of a collection's indexes on a shard's disk.", "collection", "shard")
	chunksOn  = gauge("collection_chunks", "Chunks of a sharded collection on a shard.", "collection", "shard")
	jumboOn   = gauge("collection_jumbo_chunks",
		"Chunks of a sharded collection on a shard that have the jumbo flag, so that the balancer leaves them.", "collection", "shard")
	misplacedOn = gauge("collection_zone_violations",
		"Chunks of a collection with zone ranges that are on this shard although it is not in their zone.", "collection", "shard")
	unevenOf = gauge("collection_imbalance_ratio",
		"How far the fullest shard is above the mean by bytes of a sharded collection: 0 is even, 1 is twice the mean.", "collection")

	balancerEnabled = gauge("balancer_enabled",
		"1 while the balancer may move chunks, 0 while it is turned off or in a mode that only splits them; its window does not count.")
	balancerWindow = gauge("balancer_window_seconds",
		"How long a day the balancer may move chunks: the length of its active window, 86400 without one. "+
			"Whether it is open now only the config servers' local clock tells, which nobody else can read.")
	balancerRound = gauge("balancer_in_round", "1 while the balancer is in a round.")
	movesInFlight = gauge("moves_in_flight", "Moves of chunks that are under way.")
	zoneRanges    = gauge("zone_ranges", "Ranges of shard keys that are bound to a zone.")
)

// placement writes where data is.
func (c *Cluster) placement(s *series, t *topology.Table, now time.Time) {
	p := answer.PlacementOf(t, collectionsShown(len(t.Shards)))
	chunks := int64(0)
	for _, f := range p.Load.Chunks {
		chunks += f.Value
	}
	s.set(shardCount, float64(len(t.Shards)))
	s.set(collectionCount, float64(p.Load.Collections))
	s.set(chunkCount, float64(chunks))
	if c.from.Directory != nil {
		if d := c.from.Directory(); d.Loaded() {
			s.set(projectCount, float64(len(d.All())))
		}
	}
	s.set(shardsLeftOut, float64(max(0, len(t.Shards)-maxShards)))
	s.set(collectionsRest, float64(p.OtherCount))
	unread, _ := p.Load.Unmeasured()
	s.set(unmeasured, float64(unread))
	if of := p.Load.Imbalance(); of >= 0 {
		s.set(imbalance, of)
	}
	for i, sh := range t.Shards[:min(len(t.Shards), maxShards)] {
		shard := labelOf(sh.Name)
		s.figure(shardBytes, p.Load.Bytes[i], shard)
		if f := p.Load.Bytes[i]; f.Known && !f.At.IsZero() {
			s.set(shardAge, max(0, now.Sub(f.At).Seconds()), shard)
		}
		s.figure(shardDocuments, p.Load.Documents[i], shard)
		s.figure(shardChunks, p.Load.Chunks[i], shard)
		s.flag(shardDraining, sh.Draining, shard)
		if a := t.Answering.Shards[sh.Name]; a.State != topology.NotAsked {
			s.flag(shardAnswers, a.State == topology.Answers, shard)
		}
		if d := t.DiskOf(sh.Name); d.Known() {
			s.figure(diskUsed, d.Used, shard)
			s.figure(diskSize, d.Total, shard)
		}
	}
	for _, of := range p.Collections {
		s.collection(labelOf(string(of.NS)), of.Sharded, of.Zoned, of.Shards, t.Shards)
		if of.Imbalance >= 0 {
			s.set(unevenOf, of.Imbalance, labelOf(string(of.NS)))
		}
	}
	if p.OtherCount > 0 {
		s.collection(otherLabel, true, true, p.Others, t.Shards)
	}
	if a := t.Answering.Config; a.State != topology.NotAsked {
		s.flag(configAnswers, a.State == topology.Answers)
	}
	if t.Balancer.Known {
		s.flag(balancerEnabled, t.Balancer.Moves())
		s.set(balancerWindow, t.Balancer.OpenPerDay().Seconds())
	}
	if t.Balancer.StatusKnown {
		s.flag(balancerRound, t.Balancer.InRound)
	}
	if !t.Health[topology.PartMoves].At.IsZero() {
		s.set(movesInFlight, float64(len(t.Moves.List)))
	}
	if !t.Health[topology.PartZones].At.IsZero() {
		s.set(zoneRanges, float64(len(t.Zones)))
	}
}

// collection writes what each shard has of a collection, or of several.
func (s *series) collection(name string, sharded, zoned bool, on []answer.ShardFigures, shards []topology.Shard) {
	for i, f := range on[:min(len(on), maxShards)] {
		if !f.Has {
			continue
		}
		shard := labelOf(shards[i].Name)
		s.figure(bytesOn, f.Bytes, name, shard)
		s.figure(documentsOn, f.Documents, name, shard)
		s.figure(orphansOn, f.Orphans, name, shard)
		s.figure(storageOn, f.Storage, name, shard)
		s.figure(indexesOn, f.Indexes, name, shard)
		if sharded {
			s.set(chunksOn, float64(f.Chunks), name, shard)
			s.set(jumboOn, float64(f.Jumbo), name, shard)
		}
		if sharded && zoned {
			s.set(misplacedOn, float64(f.Misplaced), name, shard)
		}
	}
}
