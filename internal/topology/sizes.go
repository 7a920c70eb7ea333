package topology

// SizeOn is one collection on one shard, as far as it is known. A shard that a
// good read did not mention holds nothing of it; otherwise the figures say why
// they are missing.
func (t *Table) SizeOn(ns Namespace, shard string) Size {
	all, ok := t.Sizes[ns]
	if s, has := all.Shards[shard]; has {
		return s
	}
	return t.absentSize(all, ok)
}

// PartsOf are the sizes of a collection on the shards that told them, and what SizeOn is for every other shard. The
// parts are part of the table: read only.
func (t *Table) PartsOf(ns Namespace) (parts map[string]Size, others Size) {
	all, ok := t.Sizes[ns]
	return all.Shards, t.absentSize(all, ok)
}

// SizesOf is SizeOn for many shards of one collection. The sizes are part of the table: read only.
func (t *Table) SizesOf(ns Namespace) func(shard string) *Size {
	all, ok := t.Sizes[ns]
	absent := t.absentSize(all, ok)
	return func(shard string) *Size {
		if _, has := all.Shards[shard]; !has { // most of them: no copy is made
			return &absent
		}
		s := all.Shards[shard]
		return &s
	}
}

// absentSize is the size of a collection on a shard that has not told any.
func (t *Table) absentSize(all Sizes, ok bool) Size {
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
