package topology

// SizeOn is one collection on one shard, as far as it is known. A shard that a
// good read did not mention holds nothing of it; otherwise the figures say why
// they are missing.
func (t *Table) SizeOn(ns Namespace, shard string) Size {
	all, ok := t.Sizes[ns]
	if s, has := all.Shards[shard]; has {
		return s
	}
	f, onDisk := Figure{Reason: "notLoaded"}, true
	switch {
	case t.Health[PartSizes].Denied:
		f.Reason = "notPermitted"
	case ok && all.Reason != "":
		f.Reason = all.Reason
	case ok && !all.At.IsZero():
		f = Figure{Known: true, Exact: true, Method: "collStats", At: all.At}
		onDisk = all.onDisk()
	}
	out := Size{Bytes: f, Documents: f, Orphans: f, Storage: f, Indexes: f}
	if !onDisk {
		unknown := Figure{Reason: "notReported", At: all.At}
		out.Storage, out.Indexes = unknown, unknown
	}
	return out
}

// onDisk tells whether the read told bytes on disk and of indexes, which $shardedDataDistribution does not.
func (s Sizes) onDisk() bool {
	for _, one := range s.Shards {
		if one.Storage.Known {
			return true
		}
	}
	return len(s.Shards) == 0
}
