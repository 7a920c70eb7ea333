package simcluster

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/value"
)

// page is the allocation unit of the storage engine in bytes.
const page = 4096

// storageSize estimates a collection's size on disk: compressed to about a third, in
// whole pages, at least one.
func storageSize(coll *engine.Coll) int64 { return pages(coll.Bytes() / 3) }

// indexSize estimates the size of an index: about 20 bytes an entry after prefix
// compression.
func indexSize(coll *engine.Coll) int64 { return pages(int64(coll.Len()) * 20) }

func totalIndexSize(coll *engine.Coll) int64 {
	return indexSize(coll) * int64(len(coll.Indexes()))
}

func pages(n int64) int64 { return max(1, (n+page-1)/page) * page }

// storage has the sizes of a collection on one shard, divided by scale.
type storage struct {
	size, count, average, onDisk, indexes int64
	names                                 []string
	each                                  int64 // size of every index
}

func storageOf(coll *engine.Coll, scale int64) storage {
	if coll == nil {
		return storage{}
	}
	s := storage{
		size: coll.Bytes() / scale, count: int64(coll.Len()),
		onDisk: storageSize(coll) / scale, indexes: totalIndexSize(coll) / scale,
		each: indexSize(coll) / scale,
	}
	if s.count > 0 {
		s.average = coll.Bytes() / s.count
	}
	for _, spec := range coll.Indexes() {
		name, _ := value.Field(spec, "name").StringValueOK()
		s.names = append(s.names, name)
	}
	return s
}

func (s storage) indexSizes() bson.D {
	d := make(bson.D, 0, len(s.names))
	for _, name := range s.names {
		d = append(d, bson.E{Key: name, Value: number(s.each)})
	}
	return d
}

// fields are the storage statistics in the reply of one shard. orphans is negative on
// versions that do not report them.
func (s storage) fields(exists bool, scale, orphans int64) bson.D {
	d := bson.D{{Key: "size", Value: number(s.size)}, {Key: "count", Value: number(s.count)}}
	if s.count > 0 && exists {
		d = append(d, bson.E{Key: "avgObjSize", Value: number(s.average)})
	}
	if orphans >= 0 {
		d = append(d, bson.E{Key: "numOrphanDocs", Value: number(orphans)})
	}
	if !exists {
		return append(d,
			bson.E{Key: "storageSize", Value: int32(0)}, bson.E{Key: "totalSize", Value: int32(0)},
			bson.E{Key: "nindexes", Value: int32(0)}, bson.E{Key: "totalIndexSize", Value: int32(0)},
			bson.E{Key: "indexDetails", Value: bson.D{}}, bson.E{Key: "indexSizes", Value: bson.D{}},
			bson.E{Key: "scaleFactor", Value: number(scale)})
	}
	d = append(d,
		bson.E{Key: "storageSize", Value: number(s.onDisk)},
		bson.E{Key: "freeStorageSize", Value: int32(0)},
		bson.E{Key: "capped", Value: false},
		bson.E{Key: "nindexes", Value: int32(len(s.names))},
		bson.E{Key: "indexDetails", Value: bson.D{}},
		bson.E{Key: "indexBuilds", Value: bson.A{}},
		bson.E{Key: "totalIndexSize", Value: number(s.indexes)},
	)
	total, each := bson.E{Key: "totalSize", Value: number(s.onDisk + s.indexes)}, bson.E{Key: "indexSizes", Value: s.indexSizes()}
	if orphans >= 0 {
		total, each = each, total // the order of 8.0, assumed of 6.0 on
	}
	return append(d, total, each, bson.E{Key: "scaleFactor", Value: number(scale)})
}
